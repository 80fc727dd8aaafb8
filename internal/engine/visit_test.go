package engine

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// visited carries out a plan whose calls take 20 ms, in sessions.
func visited(t *testing.T, d time.Duration, s workload.Settings, how workload.Sessions, change ...func(*Options)) (*measure.Result, *Run) {
	t.Helper()
	track := pool("p", s, func(ctx context.Context, it *workload.Iteration) error { return takes(20*time.Millisecond)(ctx, it) })
	assert.Empty(t, track.Visit(how))
	r := start(t, onePhase(d, track), change...)
	return result(t, r), r
}

// At a rate, users come independently of the answers, and each waits for one answer before the
// next call. By Little's law there are as many of them at a time as come in a second, times how
// long they stay.
func TestUsersComeAtARateAndWaitForTheirAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := workload.Settings{Threads: 400, Rate: 100, Think: 200}
		res, _ := visited(t, 200*time.Second, s, workload.Sessions{Mean: 5}, func(o *Options) {
			o.Warmup, o.Arrivals, o.Seed = 20*time.Second, workload.Arrivals{Poisson: true}, 3
		})
		require.Len(t, res.Sessions, 1)
		u := res.Sessions[0]
		assert.InEpsilon(t, 20*200, u.Ended, 0.05, "100 calls a second are 20 sessions of five")
		assert.Equal(t, 5.0, u.Steps)
		assert.InEpsilon(t, 5*0.020+4*0.200, u.Lasted.Seconds(), 0.05, "five calls, and four times to think")
		assert.InEpsilon(t, 20*u.Lasted.Seconds(), u.InProgress, 0.1, "Little's law")
		assert.InDelta(t, u.InProgress, u.Begun-u.Ended, 40, "those in progress at the end")
		assert.InEpsilon(t, 100*200, res.Ops[0].Count, 0.05)
		assert.InEpsilon(t, 20e6, res.Ops[0].Response.P99, 0.01, "nobody waits: there is a thread for each user")
		assert.Zero(t, res.Ops[0].Unstarted)
		require.Len(t, res.Segments[0].Arrivals, 1)
		assert.InDelta(t, 1, res.Segments[0].Arrivals[0].Asked, 0.3, "sessions come independently")
		a := res.Segments[0].Accounts[0]
		assert.InEpsilon(t, a.Worked.Seconds(), (a.Calls + a.Pauses).Seconds(), 0.01)
	})
}

// A slow store delays the calls of the users that are there, and not those who come: each of
// them begins a session with a call that waits for a thread.
func TestUsersWhoFindNoThreadWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		res, _ := visited(t, 10*time.Second-time.Microsecond, workload.Settings{Threads: 1, Rate: 100}, workload.Sessions{Mean: 10})
		// One thread makes 50 calls a second, five sessions, and ten sessions come.
		assert.InDelta(t, 500, res.Ops[0].Count, 1)
		assert.InDelta(t, 500, res.Ops[0].Unstarted, 10, "calls of the sessions that nobody began")
		assert.InDelta(t, 50, res.Sessions[0].Ended, 1)
		assert.InEpsilon(t, 4.9e9, res.Ops[0].Response.Max, 0.05, "the last session to begin had come five seconds ago")
		assert.InDelta(t, 20e6, res.Ops[0].Response.P50, 1e6, "calls within a session are due when they start")
	})
}

// In closed loop, threads are rate × (response + think) whatever the length of sessions.
func TestInClosedLoopThreadsThink(t *testing.T) {
	for _, mean := range []float64{0, 1, 7} {
		synctest.Test(t, func(t *testing.T) {
			res, r := visited(t, 100*time.Second, workload.Settings{Threads: 50, Think: 480}, workload.Sessions{Mean: mean})
			assert.InEpsilon(t, 50, res.Ops[0].Throughput()*(0.020+0.480), 0.04)
			assert.Equal(t, mean > 0, len(res.Sessions) > 0)
			if mean > 0 {
				assert.InEpsilon(t, float64(res.Ops[0].Count)/mean, res.Sessions[0].Ended, 0.02)
			}
			a := res.Segments[0].Accounts[0]
			assert.InEpsilon(t, a.Worked.Seconds(), (a.Calls + a.Pauses).Seconds(), 0.01)
			assert.Zero(t, r.tracks[0].visits.open.Load(), "nobody stays")
		})
	}
}

// The think time can be turned, for those who think just then too; a pause stops everybody.
func TestThinkTimeIsTurned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		track := pool("p", workload.Settings{Threads: 10, Think: 3_600_000}, takes(time.Millisecond))
		track.Visit(workload.Sessions{Mean: 4})
		plan := onePhase(30*time.Second, track)
		plan.Knobs = append(slices.Clone(knobs), workload.Think())
		r := start(t, plan)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Less(t, r.Snapshot().Ops[0].Count, int64(20))
		think := func(ms float64) func(workload.Settings) workload.Settings {
			return func(s workload.Settings) workload.Settings { return workload.Think().Set(s, ms) }
		}
		r.Change("test", workload.AllTracks, think(0))
		time.Sleep(5 * time.Second)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = true; return s })
		time.Sleep(5 * time.Second)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = false; return think(1000)(s) })
		res := result(t, r)
		assert.InEpsilon(t, 50_000, res.Segments[1].Ops[0].Count, 0.01, "nobody thinks")
		assert.LessOrEqual(t, res.Segments[2].Ops[0].Count, int64(10), "paused")
		assert.InDelta(t, 100, res.Segments[3].Ops[0].Count, 50)
	})
}

// A session tells its steps, may have its own length and pause, and does not outlive its thread.
func TestSessionsTellTheirSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var steps []int64
		track := pool("p", workload.Settings{Threads: 1}, func(ctx context.Context, it *workload.Iteration) error {
			mu.Lock()
			steps = append(steps, it.Step)
			mu.Unlock()
			_ = takes(time.Millisecond)(ctx, it)
			if it.Seq == 1 {
				return errTimeout
			}
			return nil
		})
		length := int64(0)
		track.Visit(workload.Sessions{Mean: 2, Draw: func() (func(uint64) int64, func(uint64) int64) {
			return func(uint64) int64 { length++; return length }, func(uint64) int64 { return int64(time.Second) }
		}})
		r := start(t, onePhase(3100*time.Millisecond, track))
		res := result(t, r)
		assert.Equal(t, []int64{0, 0, 1, 0, 1, 2, 0, 1, 2, 3}, steps[:10], "a failed call is one of the session's")
		assert.EqualValues(t, 4, res.Sessions[0].Ended)
		assert.Equal(t, 2.5, res.Sessions[0].Steps)
	})
}
