package measure

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twoSegments is a run whose settings changed after two seconds.
type twoSegments struct{ running }

func (twoSegments) Control() Control {
	return Control{Segments: []SegmentInfo{{From: 0, To: 2 * time.Second}, {From: 2 * time.Second, To: 4 * time.Second}}, Spans: []Span{{To: int64(4 * time.Second), Begun: true}}}
}

// The times of all calls are those of the operations that count, in the whole run, its segments
// and its seconds, live and at the end; each call weighs the same.
func TestAllCallsThatCountAreOne(t *testing.T) {
	want := NewHistogram()
	var seconds []*hdrhistogram.Histogram
	cfg := Config{
		Tracks: []string{"t"}, Ops: []Operation{{"t", "often"}, {"t", "seldom"}, {"t", "part"}, {"t", "beside"}}, OpTrack: []int{0, 0, 0, 0},
		Parts: []bool{false, false, true, false}, Apart: []bool{false, false, false, true}, Classify: func(error) uint8 { return 1 }, Classes: []string{"", "other"},
		Source: twoSegments{}, Increment: func(*Increment) {}, Sink: func(s *Second) error {
			sum := NewHistogram()
			for _, in := range s.Intervals {
				if in.Op.Op == "often" || in.Op.Op == "seldom" {
					sum.Merge(in.Response)
				}
			}
			seconds = append(seconds, sum)
			return nil
		},
	}
	c := NewCollector(cfg)
	for i := range 3000 {
		at := int64(i) * int64(time.Millisecond)
		for op, took := range []int64{100_000, 90_000_000, 1, 900_000_000} {
			if op == 1 && i%10 != 0 {
				continue
			}
			took += int64(i)
			c.add(&Call{Op: uint16(op), Segment: uint16(i / 2000), Units: 1, Due: at, Start: at, End: at + took})
			if op < 2 {
				require.NoError(t, want.RecordValue(took))
			}
		}
		c.finish(at)
	}
	c.conclude(int64(3200 * time.Millisecond))
	r, s := c.last, c.Snapshot()
	require.Len(t, s.Together, 4)
	for i, sum := range seconds {
		row := s.Together[i]
		assert.Equal(t, []int64{Percentile(sum, 50), Percentile(sum, 99), Percentile(sum, 100), sum.TotalCount()}, []int64{row.ResponseP50, row.ResponseP99, row.ResponseMax, row.Count})
		assert.Equal(t, s.Together[i].point(time.Duration(i)*time.Second), s.Whole[i])
	}
	assert.Equal(t, Summarize(want), s.All)
	assert.Equal(t, Summarize(want), r.All)
	require.Len(t, r.Segments, 2)
	assert.EqualValues(t, 2200, r.Segments[0].All.Count)
	assert.EqualValues(t, 1100, r.Segments[1].All.Count)
	assert.Less(t, r.All.P50, int64(1_000_000), "a call that is seldom weighs little")
	assert.Greater(t, r.All.P99, int64(90_000_000))
}
