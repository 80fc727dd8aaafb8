package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// A store that stalls for one second under an open loop: what was due meanwhile
// waits, and the response time says so, while the service time shows the one
// call per worker that really took long.
//
// 1000 calls a second for ten seconds with one worker, 0.1 ms each; the call due
// at 5 s takes 1 s. The 1000 calls due in [5 s, 6 s) start when the stall is over:
// the one due at 5 s + i ms responds at 6 s + i·0.1 ms, that is after
// 1000 − 0.9·i ms. The backlog is gone after 1000/0.9 calls, so 11.1 % of all
// 10,000 responses are slow, spread evenly over (0, 1 s]: the 99th percentile is
// where 100 of them are slower, at 1000 − 0.9·100 = 910 ms.
func TestStallShowsInOpenLoopResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := func(_ context.Context, it *workload.Iteration) error {
			if it.Seq == 5000 {
				time.Sleep(time.Second)
				return nil
			}
			time.Sleep(100 * time.Microsecond)
			return nil
		}
		r := start(t, onePhase(10*time.Second-time.Microsecond, pool("p", workload.Settings{Threads: 1, Rate: 1000}, call)))
		op := result(t, r).Ops[0]
		assert.EqualValues(t, 10000, op.Count, "what is late is late, not lost")
		assert.Zero(t, op.Unstarted)
		assert.InEpsilon(t, 910e6, op.Response.P99, 0.005)
		assert.InEpsilon(t, 1e9, op.Response.Max, 0.005)
		assert.InEpsilon(t, 100e3, op.Service.P99, 0.005, "the service time stays flat")
		assert.InEpsilon(t, 1e9, op.Service.Max, 0.005)
		assert.InEpsilon(t, 910e6, op.Wait.P99, 0.005)
		assert.InEpsilon(t, 100e3, op.Response.P50, 0.005)
		assert.Zero(t, op.Lateness.Max, "the store made all of this wait: it is backlog")
	})
}

func TestStallHidesInClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := func(_ context.Context, it *workload.Iteration) error {
			if it.Seq == 500 {
				time.Sleep(time.Second)
				return nil
			}
			time.Sleep(time.Millisecond)
			return nil
		}
		r := start(t, onePhase(10*time.Second, pool("p", workload.Settings{Threads: 1}, call)))
		op := result(t, r).Ops[0]
		assert.InEpsilon(t, 1e6, op.Response.P99, 0.005)
		assert.Equal(t, op.Service, op.Response)
		assert.Zero(t, op.Wait.Max)
	})
}

func TestWhatNeverStartedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Due 100 a second, done 10 a second: after 2 s 20 have started of 200 due.
		plan := onePhase(5*time.Second-time.Microsecond, pool("p", workload.Settings{Threads: 1, Rate: 100}, takes(100*time.Millisecond)))
		r := start(t, plan)
		time.Sleep(2*time.Second - time.Millisecond)
		assert.InDelta(t, 180, r.Snapshot().Gauges[0].Backlog, 15)
		r.Change("test", workload.AllTracks, rate(5)) // drops the backlog; 5 a second for 3 s: all start
		res := result(t, r)
		assert.EqualValues(t, 180, res.Segments[0].Ops[0].Unstarted)
		assert.EqualValues(t, 0, res.Segments[1].Ops[0].Unstarted)
		assert.EqualValues(t, 180, res.Ops[0].Unstarted)
		assert.EqualValues(t, 20+16, res.Ops[0].Count)
	})
}

// A schedule that begins afresh drops what is due as a change of the rate does, and goes on with the work:
// neither what is left of it nor the segments change.
func TestAScheduleThatBeginsAfreshDropsWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool("p", workload.Settings{Threads: 1, Rate: 100}, takes(100*time.Millisecond))
		p.Iterations = 30
		r := start(t, onePhase(0, p))
		time.Sleep(2*time.Second - time.Millisecond) // 20 have started
		r.Afresh()
		time.Sleep(time.Second / 5)
		assert.Less(t, r.Snapshot().Gauges[0].Backlog, int64(30))
		res := result(t, r)
		assert.Len(t, res.Segments, 1)
		assert.Empty(t, res.Changes)
		assert.EqualValues(t, 30, res.Ops[0].Count)
		assert.EqualValues(t, 180, res.Ops[0].Unstarted)
		r.Afresh() // it is over
	})
}

// The same when the work runs out soon after: what the first schedule had missed
// stays missed, whether or not the run goes on for long.
func TestWhatNeverStartedIsCountedWhenTheWorkRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool("p", workload.Settings{Threads: 2, Rate: 100}, takes(200*time.Millisecond))
		p.Iterations = 25
		r := start(t, onePhase(0, p))
		time.Sleep(2*time.Second - time.Millisecond)
		r.Change("test", workload.AllTracks, rate(10)) // 20 have started; 5 are left
		time.Sleep(550 * time.Millisecond)
		r.Change("test", workload.AllTracks, rate(1000)) // none is left, one is under way: nothing is missed
		res := result(t, r)
		require.Len(t, res.Segments, 3)
		assert.EqualValues(t, 180, res.Segments[0].Ops[0].Unstarted)
		assert.EqualValues(t, 180, res.Ops[0].Unstarted)
		assert.EqualValues(t, 25, res.Ops[0].Count)
	})
}

func TestPauseStartsNoBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, onePhase(3*time.Second-2*time.Microsecond, pool("p", workload.Settings{Threads: 2, Rate: 100}, takes(time.Millisecond))))
		time.Sleep(time.Second - time.Microsecond)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = true; return s })
		time.Sleep(time.Second)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = false; return s })
		res := result(t, r)
		assert.EqualValues(t, 200, res.Ops[0].Count)
		assert.Zero(t, res.Ops[0].Unstarted)
		assert.Less(t, res.Ops[0].Response.Max, int64(2*time.Millisecond))
		assert.Len(t, res.Segments, 3)
		assert.EqualValues(t, 1, res.Segments[1].Settings["paused"])
	})
}
