package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// A warm-up of a minute at most ends with its fifth second. After that all is as in a run
// that was to warm up for five seconds: numbers of seconds, due times, the timetable, the
// end. Calls that are under way meanwhile are as long as ever.
func TestWarmupEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r atomic.Pointer[Run]
		var numbers []int
		var skipped time.Duration
		slowest, most := int64(0), int64(0)
		sink := func(s *measure.Second) error {
			numbers = append(numbers, s.T)
			for _, row := range s.Rows {
				slowest = max(slowest, row.ResponseMax)
				if row.Op == 0 {
					most = max(most, row.Count)
				}
			}
			switch s.T {
			case -60:
				r.Load().Mark("early")
				r.Load().Change("test", 1, threads(2))
			case -57:
				skipped = r.Load().EndWarmup()
			case 0:
				assert.Zero(t, r.Load().EndWarmup(), "it is over")
			}
			return nil
		}
		plan := onePhase(5*time.Second,
			pool("paced", workload.Settings{Threads: 8, Rate: 100}, takes(20*time.Millisecond)),
			pool("closed", workload.Settings{Threads: 1}, takes(300*time.Millisecond)))
		began := time.Now()
		r.Store(start(t, plan, func(o *Options) {
			o.Warmup, o.Sink = time.Minute, sink
			o.Timetable = []At{{After: 2 * time.Second, Track: 1, Knob: workload.Threads(), Value: 3}}
		}))
		res := result(t, r.Load())
		assert.Equal(t, 55*time.Second, skipped)
		assert.InDelta(t, 10, time.Since(began).Seconds(), 0.4, "5 s, 5 s, and the last calls")
		assert.True(t, r.Load().ByDuration())
		assert.Zero(t, r.Load().Suspended())
		assert.Equal(t, []int{-60, -59, -58, -57, -1, 0, 1, 2, 3, 4}, numbers[:10])
		assert.InDelta(t, 300e6, slowest, 10e6, "no call seems to have taken the time that was skipped")
		assert.InDelta(t, 100, most, 2, "what was due in it is not made up for")
		assert.InDelta(t, 500, res.Ops[0].Count, 1)
		assert.Zero(t, res.Ops[0].Unstarted)
		assert.InDelta(t, 20e6, res.Ops[0].Response.Max, 1e5)
		require.Len(t, res.Segments, 2)
		assert.Equal(t, 2*time.Second, res.Segments[1].From)
		require.Len(t, res.Changes, 2)
		assert.InDelta(t, -4, res.Changes[0].At.Seconds(), 0.1)
		assert.InDelta(t, -4, res.Marks[0].At.Seconds(), 0.1)

		snap := r.Load().Snapshot()
		assert.Equal(t, -5*time.Second, snap.Began)
		require.Equal(t, time.Second, snap.Bucket)
		for i, p := range snap.Timeline[0][:10] {
			assert.Equal(t, time.Duration(i-5)*time.Second, p.At)
			assert.Equal(t, i < 5, p.Warmup)
		}
		for i, r := range snap.Recent[0][:10] {
			assert.Equal(t, i-5, r.T)
		}
	})
}
