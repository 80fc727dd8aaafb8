package measure

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scripted is a run of two tracks with a warm-up and a live change every 3 seconds.
type scripted struct {
	began  time.Time // when measurement begins
	length time.Duration
}

const (
	warmUp = 3 * time.Second
	every  = 3 * time.Second
)

func (s scripted) Now() int64 { return int64(time.Since(s.began)) }

func (s scripted) Gauges(dst []Gauge) {
	for i := range dst {
		dst[i] = Gauge{Threads: 3, Segment: s.segment(s.Now()), Running: time.Since(s.began) < s.length}
	}
}

func (scripted) segment(now int64) int { return max(int(now/int64(every)), 0) }

func (s scripted) Control() Control {
	now := min(s.Now(), int64(s.length))
	c := Control{Spans: []Span{{0, now, true}, {0, now, true}}, Ran: []Phase{{Name: "p", Tracks: []string{"a", "b"}, To: time.Duration(now)}}}
	for i := range s.segment(now-1) + 1 {
		from := time.Duration(i) * every
		c.Segments = append(c.Segments, SegmentInfo{From: from, To: min(from+every, time.Duration(now)), Unstarted: []int64{int64(i), 0}})
	}
	return c
}

// work runs one worker until the run is over, and lists what it did: of each operation
// a part in open loop, with failures and time-outs.
func (s scripted) work(c *Collector, seed uint64, track int, ops []uint16) (did []Call) {
	r := rand.New(rand.NewPCG(seed, 1))
	shard := c.Shard(track)
	defer shard.Close()
	for s.Now() < int64(s.length) {
		v := Call{Op: ops[r.IntN(len(ops))], Units: int32(1 + r.IntN(5)), Start: s.Now()}
		v.Due, v.Warm, v.Segment = v.Start, v.Start < 0, uint16(s.segment(v.Start))
		if r.IntN(3) == 0 {
			v.Due -= r.Int64N(int64(time.Second))
			v.Late = r.Int64N(v.Start - v.Due + 1)
		}
		shard.Started(v.Due, v.Start)
		time.Sleep(time.Duration(1 + r.Int64N(int64(time.Duration(1)<<(20+r.IntN(10))))))
		v.End = s.Now()
		v.Class = uint8(max(r.IntN(12)-9, 0)) // 0, rarely 1 or 2
		shard.Add(v)
		shard.Ended()
		did = append(did, v)
	}
	return did
}

// counted is what a list of samples comes to, worked out the slow way.
type counted struct {
	Totals
	times [4]*hdrhistogram.Histogram
}

func countUp(t *testing.T, op Operation, all []Call, in func(s *Call) bool) counted {
	c := counted{Totals: Totals{Operation: op}}
	for i := range c.times {
		c.times[i] = NewHistogram()
	}
	for i := range all {
		s := &all[i]
		if s.Warm || !in(s) {
			continue
		}
		if s.Class == 0 {
			c.Count += int64(s.Units)
		} else {
			c.Errors++
		}
		if s.Class == 2 { // failed, and at no time-out
			continue
		}
		c.Calls++
		for i, v := range []int64{s.End - s.Due, s.End - s.Start, s.Start - s.Due, s.Late} {
			require.NoError(t, c.times[i].RecordValue(v))
		}
	}
	c.Response, c.Service, c.Wait, c.Lateness = Summarize(c.times[0]), Summarize(c.times[1]), Summarize(c.times[2]), Summarize(c.times[3])
	c.Slowest = SlowestOf(c.times[0])
	return c
}

// journal keeps the rows of each second, and adds up the histograms.
type journal struct {
	rows  [][]Row
	times map[Operation]*[4]*hdrhistogram.Histogram
}

func (j *journal) take(s *Second) error {
	j.rows = append(j.rows, slices.Clone(s.Rows))
	for _, iv := range s.Intervals {
		sum := j.times[iv.Op]
		if sum == nil {
			sum = &[4]*hdrhistogram.Histogram{NewHistogram(), NewHistogram(), NewHistogram(), NewHistogram()}
			j.times[iv.Op] = sum
		}
		for i, h := range []*hdrhistogram.Histogram{iv.Response, iv.Service, iv.Wait, iv.Lateness} {
			sum[i].Merge(h)
		}
	}
	return nil
}

// Whatever workers do for twelve seconds: the whole, each segment, the seconds and the
// histograms of the seconds are what the samples come to, and no snapshot ever changes.
func TestARunComesToWhatItsSamplesComeTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := scripted{time.Now().Add(warmUp), 12*time.Second + 400*time.Millisecond}
		ops := []Operation{{"a", "get"}, {"b", "get"}, {"a", "put"}}
		seconds := journal{times: map[Operation]*[4]*hdrhistogram.Histogram{}}
		c := NewCollector(Config{
			Tracks: []string{"a", "b"}, Ops: ops, OpTrack: []int{0, 1, 0}, Classes: []string{"", "timeout", "refused"},
			Timeout: 1, Classify: func(error) uint8 { return 2 }, Start: -int64(warmUp), Source: source,
			Sink: seconds.take,
		})
		go c.Run()
		var workers, reader sync.WaitGroup
		over := make(chan struct{})
		var seen []*Snapshot
		var told []string
		reader.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(1700 * time.Millisecond):
					s := c.Snapshot()
					seen, told = append(seen, s), append(told, fmt.Sprintf("%+v", *s))
				}
			}
		})
		did := make([][]Call, 6)
		for i := range did {
			track := i % 2
			workers.Go(func() { did[i] = source.work(c, uint64(i), track, [][]uint16{{0, 2}, {1}}[track]) })
		}
		workers.Wait()
		close(over)
		reader.Wait()
		got := c.Close()
		var all []Call
		for _, d := range did {
			all = append(all, d...)
		}

		require.Len(t, got.Segments, 5)
		for op, name := range ops {
			of := func(s *Call) bool { return int(s.Op) == op }
			want := countUp(t, name, all, of)
			want.Active, want.Unstarted = source.length, got.Ops[op].Unstarted
			require.Equal(t, want.Totals, got.Ops[op], "%v", name)
			for i, h := range want.times {
				assert.True(t, h.Equals(seconds.times[name][i]), "%v: the seconds' histograms %d are those of the whole", name, i)
			}
			for i, seg := range got.Segments {
				want := countUp(t, name, all, func(s *Call) bool { return of(s) && int(s.Segment) == i })
				want.Active, want.Unstarted = seg.To-seg.From, seg.Ops[op].Unstarted
				require.Equal(t, want.Totals, seg.Ops[op], "%v in segment %d", name, i)
			}
			requireSeries(t, c.Snapshot(), seconds.rows, op, all)
		}
		for i, seg := range got.Segments { // of the first track, whose operations are the first and the third
			never := seg.Ops[0].Unstarted + seg.Ops[2].Unstarted
			assert.EqualValues(t, i, never)
			share := float64(seg.Ops[0].Count) / float64(seg.Ops[0].Count+seg.Ops[2].Count)
			assert.InDelta(t, share*float64(never), seg.Ops[0].Unstarted, 0.5)
			assert.Zero(t, seg.Ops[1].Unstarted)
		}
		assert.EqualValues(t, 10, got.Ops[0].Unstarted+got.Ops[2].Unstarted)
		assert.Equal(t, got.Ops[0].Count+got.Ops[1].Count+got.Ops[2].Count, c.Snapshot().Done)
		require.NotEmpty(t, seen)
		for i, s := range seen {
			assert.Equal(t, told[i], fmt.Sprintf("%+v", *s), "snapshot %d has changed since", s.Number)
		}
	})
}

// requireSeries compares the rows of one operation, and its timeline, with the samples.
func requireSeries(t *testing.T, s *Snapshot, rows [][]Row, op int, all []Call) {
	t.Helper()
	counts, errs, slowest := map[int]int64{}, map[int]int64{}, map[int]int64{}
	for _, v := range all {
		second := floorSecond(v.End)
		switch {
		case int(v.Op) != op || v.Warm && v.End >= 0:
		case v.Class == 0:
			counts[second] += int64(v.Units)
			slowest[second] = max(slowest[second], v.End-min(v.Due, v.Start))
		default:
			errs[second]++
		}
	}
	var sum, failed int64
	for i, list := range rows {
		for _, r := range list {
			if r.Op == op {
				require.Equal(t, i-int(warmUp/time.Second), r.T)
				require.Equal(t, [2]int64{counts[r.T], errs[r.T]}, [2]int64{r.Count, r.Errors}, "second %d", r.T)
				sum, failed = sum+r.Count, failed+r.Errors
			}
		}
	}
	require.Equal(t, time.Second, s.Bucket)
	last := int(s.Timeline[op][len(s.Timeline[op])-1].At / time.Second)
	for at, n := range counts { // what is left over of the last second is in the one before
		if at > last {
			counts[last], slowest[last] = counts[last]+n, max(slowest[last], slowest[at])
		}
	}
	for _, p := range s.Timeline[op] {
		at := floorSecond(int64(p.At))
		require.Equal(t, counts[at], p.Count, "second %d", at)
		require.Equal(t, at < 0, p.Warmup)
		if p.Errors == 0 {
			require.InEpsilon(t, slowest[at]+1, p.ResponseMax+1, 1e-3, "second %d", at)
		}
		sum, failed = sum-p.Count, failed-p.Errors
	}
	require.Zero(t, sum, "the timeline adds up to the seconds")
	require.Zero(t, failed)
}
