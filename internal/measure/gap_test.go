package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

type still struct{}

func (still) Now() int64       { return int64(500 * time.Millisecond) }
func (still) Gauges([]Gauge)   {}
func (still) Control() Control { return Control{} }

// What was under way while the process was stopped is counted, and its time is not.
func TestOperationsAcrossAGapAreCountedAndNotTimed(t *testing.T) {
	gaps := []*Gap{{At: 100, For: time.Hour}, {At: 300, For: time.Hour}}
	c := NewCollector(Config{
		Tracks: []string{"t"}, Ops: []Operation{{Track: "t", Op: "o"}}, OpTrack: []int{0},
		Timeout: 1, Classes: []string{"", "timeout"}, Classify: func(error) uint8 { return 1 },
		Source: still{}, Gaps: func() []*Gap { return gaps },
	})
	s := c.Shard(0)
	for _, v := range []Call{
		{Due: 10, Start: 10, End: 90}, {Due: 90, Start: 100, End: 200}, {Due: 150, Start: 200, End: 299}, {Due: 300, Start: 300, End: 400}, // beside
		{Due: 10, Start: 99, End: 100}, {Due: 10, Start: 99, End: 400}, {Due: 299, Start: 299, End: 400}, // across
		{Due: 299, Start: 299, End: 400, Class: 1},
	} {
		v.Units = 1
		s.Add(v)
	}
	s.Close()
	go c.Run()
	op := c.Close().Ops[0]
	assert.EqualValues(t, 7, op.Count)
	assert.EqualValues(t, 1, op.Errors)
	assert.EqualValues(t, 4, op.Calls)
	assert.EqualValues(t, 1, gaps[0].Untimed.Load())
	assert.EqualValues(t, 3, gaps[1].Untimed.Load())
}
