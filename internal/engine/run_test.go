package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

var (
	errTimeout = errors.New("timed out")
	errGone    = errors.New("connection refused")
)

func classify(err error) uint8 {
	switch {
	case errors.Is(err, errTimeout):
		return 1
	case errors.Is(err, errGone):
		return 2
	case IsPanic(err):
		return 3
	}
	return 4
}

var classes = []string{"ok", "timeout", "unreachable", "panic", "other"}

// knobs are those of a plain plan.
var knobs = []workload.Knob{workload.Threads(), workload.Rate("calls"), workload.Payload(), workload.Batch()}

// pool is a track whose iterations do one call each.
func pool(name string, s workload.Settings, call func(ctx context.Context, it *workload.Iteration) error) workload.Track {
	return workload.Track{Name: name, Ops: []string{"call"}, Start: s, NewTask: func(int) (workload.Task, error) {
		return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
			m := it.Begin(0)
			return it.End(m, 1, call(ctx, it))
		}), nil
	}}
}

// takes makes a call that takes d, or less when it is cancelled.
func takes(d time.Duration) func(context.Context, *workload.Iteration) error {
	return func(ctx context.Context, _ *workload.Iteration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func onePhase(d time.Duration, tracks ...workload.Track) *workload.Plan {
	return &workload.Plan{Unit: "calls", Knobs: knobs, Phases: []workload.Phase{{Name: "main", Duration: d, Tracks: tracks}}}
}

func start(t *testing.T, plan *workload.Plan, change ...func(*Options)) *Run {
	t.Helper()
	o := Options{Plan: plan, Classify: classify, Classes: classes, Timeout: 1, Unreachable: func(c uint8) bool { return c == 2 }}
	for _, f := range change {
		f(&o)
	}
	r, err := Start(t.Context(), o)
	require.NoError(t, err)
	return r
}

func threads(n int) func(workload.Settings) workload.Settings {
	return func(s workload.Settings) workload.Settings { s.Threads = n; return s }
}

func rate(v float64) func(workload.Settings) workload.Settings {
	return func(s workload.Settings) workload.Settings { s.Rate = v; return s }
}

func result(t *testing.T, r *Run) *measure.Result {
	t.Helper()
	res, err := r.Wait()
	require.NoError(t, err)
	return res
}

func TestThreadsFollowSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most, now atomic.Int64
		call := func(ctx context.Context, it *workload.Iteration) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return takes(10*time.Millisecond)(ctx, it)
		}
		r := start(t, onePhase(4*time.Second, pool("p", workload.Settings{Threads: 4}, call)))
		for i, n := range []int{8, 1, 3} {
			time.Sleep(time.Second)
			synctest.Wait()
			require.EqualValues(t, []int{4, 8, 1}[i], most.Swap(0))
			r.Change("test", All, threads(n))
			time.Sleep(20 * time.Millisecond) // workers asked to leave finish their call
			most.Store(0)
		}
		res := result(t, r)
		assert.InDelta(t, 100*(4+8+1+3), res.Ops[0].Count, 20)
		assert.Len(t, res.Segments, 4)
		assert.True(t, r.ByDuration())
	})
}

// A change that comes while the last calls of a phase are under way does not wake the
// phase up again.
func TestChangeAfterTheEndOfAPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, onePhase(time.Second, pool("p", workload.Settings{Threads: 2, Rate: 10}, takes(300*time.Millisecond))))
		time.Sleep(1100 * time.Millisecond)
		r.Change("test", All, rate(20))
		res := result(t, r)
		assert.LessOrEqual(t, res.Measured, 1300*time.Millisecond)
	})
}

func TestTwentyPressesEndTwentyThreadsHigher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onePhase(3*time.Second, pool("a", workload.Settings{Threads: 8}, takes(time.Millisecond)), pool("b", workload.Settings{Threads: 24}, takes(time.Millisecond)))
		r := start(t, plan)
		time.Sleep(time.Second)
		for range 20 {
			r.Change("workbench", All, func(s workload.Settings) workload.Settings { s.Threads++; return s })
			time.Sleep(30 * time.Millisecond)
		}
		assert.Equal(t, 52, r.Settings(All).Threads)
		assert.Equal(t, 13, r.Settings(0).Threads, "in proportion to what each track had")
		res := result(t, r)
		assert.Len(t, res.Changes, 20)
		assert.Len(t, res.Segments, 2, "changes less than 250 ms apart share a segment")
		for i, c := range res.Changes {
			assert.EqualValues(t, 32+i, c.From)
			assert.EqualValues(t, 33+i, c.To)
			assert.Equal(t, 1, c.Segment)
		}
		assert.EqualValues(t, 52, res.Segments[1].Settings["threads"])
	})
}

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
		r.Change("test", All, rate(5)) // drops the backlog; 5 a second for 3 s: all start
		res := result(t, r)
		assert.EqualValues(t, 180, res.Segments[0].Ops[0].Unstarted)
		assert.EqualValues(t, 0, res.Segments[1].Ops[0].Unstarted)
		assert.EqualValues(t, 180, res.Ops[0].Unstarted)
		assert.EqualValues(t, 20+16, res.Ops[0].Count)
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
		r.Change("test", All, rate(10)) // 20 have started; 5 are left
		time.Sleep(550 * time.Millisecond)
		r.Change("test", All, rate(1000)) // none is left, one is under way: nothing is missed
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
		r.Change("test", All, func(s workload.Settings) workload.Settings { s.Paused = true; return s })
		time.Sleep(time.Second)
		r.Change("test", All, func(s workload.Settings) workload.Settings { s.Paused = false; return s })
		res := result(t, r)
		assert.EqualValues(t, 200, res.Ops[0].Count)
		assert.Zero(t, res.Ops[0].Unstarted)
		assert.Less(t, res.Ops[0].Response.Max, int64(2*time.Millisecond))
		assert.Len(t, res.Segments, 3)
		assert.EqualValues(t, 1, res.Segments[1].Settings["paused"])
	})
}

func TestSegmentsAddUpToTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rows, seconds int64
		sink := func(s *measure.Second) error {
			for _, r := range s.Rows {
				rows += r.Count
			}
			seconds++
			return nil
		}
		var n atomic.Int64
		call := func(ctx context.Context, it *workload.Iteration) error {
			n.Add(1)
			_ = takes(time.Duration(1+it.Seq%7)*time.Millisecond)(ctx, it)
			if it.Seq%100 == 99 {
				return errTimeout
			}
			if it.Seq%100 == 49 {
				return errors.New("odd " + fmt.Sprint(it.Seq%30))
			}
			return nil
		}
		plan := onePhase(5*time.Second, pool("p", workload.Settings{Threads: 3}, call))
		r := start(t, plan, func(o *Options) {
			o.Sink = sink
			o.Timetable = []At{
				{After: 3 * time.Second, Track: All, Knob: knobs[1], Value: 400},
				{After: time.Second, Track: All, Knob: knobs[0], Value: 9},
				{After: 1100 * time.Millisecond, Track: 0, Knob: knobs[2], Value: 64},
			}
		})
		res := result(t, r)
		require.Len(t, res.Segments, 3)
		var count, calls, errs, unstarted int64
		for i, s := range res.Segments {
			count, calls, errs, unstarted = count+s.Ops[0].Count, calls+s.Ops[0].Calls, errs+s.Ops[0].Errors, unstarted+s.Ops[0].Unstarted
			if i > 0 {
				assert.Equal(t, res.Segments[i-1].To, s.From)
			}
		}
		whole := res.Ops[0]
		assert.Equal(t, []int64{whole.Count, whole.Calls, whole.Errors, whole.Unstarted}, []int64{count, calls, errs, unstarted})
		assert.Equal(t, n.Load(), whole.Count+whole.Errors, "no sample lost or counted twice")
		assert.Equal(t, whole.Count, rows)
		assert.Equal(t, whole.Calls, whole.Response.Count)
		assert.ElementsMatch(t, []string{"timeout", "other"}, []string{res.Errors[0].Class, res.Errors[1].Class})
		assert.LessOrEqual(t, len(res.Messages), 10)
		assert.EqualValues(t, 9, res.Segments[1].Settings["threads"])
		assert.EqualValues(t, 64, res.Segments[1].Settings["payload"], "within 250 ms of each other")
		assert.EqualValues(t, 400, res.Segments[2].Settings["rate"])
		assert.GreaterOrEqual(t, seconds, int64(5))
		assert.Equal(t, "timetable", res.Changes[0].By)
	})
}

func TestWarmUpCountsTowardsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var warm, counted int // one thread
		var first []int
		call := func(ctx context.Context, it *workload.Iteration) error {
			if it.Warmup {
				warm++
			} else {
				counted++
			}
			return takes(10*time.Millisecond)(ctx, it)
		}
		track := pool("p", workload.Settings{Threads: 1}, call)
		track.Iterations = 150
		r := start(t, onePhase(0, track), func(o *Options) {
			o.Warmup = 2 * time.Second
			o.Sink = func(s *measure.Second) error {
				first = append(first, s.T)
				assert.Equal(t, s.T < 0, s.Warmup)
				if s.Warmup {
					assert.Empty(t, s.Intervals)
				}
				return nil
			}
		})
		res := result(t, r)
		assert.Equal(t, -2, first[0])
		assert.EqualValues(t, 150, res.Ops[0].Count)
		assert.Equal(t, 150, counted)
		assert.InDelta(t, 200, warm, 2)
		assert.Equal(t, res.Ops[0].Calls, res.Ops[0].Response.Count)
		assert.InDelta(t, 100, res.Ops[0].Throughput(), 2)
		assert.False(t, r.ByDuration())
	})
}

func TestPhasesFollowTheirGraph(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		track := func(name string, n int64) workload.Track {
			tr := pool(name, workload.Settings{Threads: 1}, takes(10*time.Millisecond))
			tr.Iterations = n
			return tr
		}
		plan := &workload.Plan{Knobs: knobs, Phases: []workload.Phase{
			{Name: "load", Tracks: []workload.Track{track("a", 100), track("b", 50)}},
			{Name: "check", After: []string{"load"}, Tracks: []workload.Track{track("c", 100)}},
			{Name: "side", Tracks: []workload.Track{track("d", 150)}},
		}}
		r := start(t, plan)
		time.Sleep(1200 * time.Millisecond)
		assert.Equal(t, []string{"check", "side"}, r.Snapshot().Phases)
		res := result(t, r)
		assert.InDelta(t, 2, res.Measured.Seconds(), 0.02)
		assert.InDelta(t, 100, res.Ops[2].Throughput(), 2, "over the time that its own track ran")
		assert.InDelta(t, 1, res.Ops[2].Active.Seconds(), 0.02)
		for i, want := range []int64{100, 50, 100, 150} {
			assert.Equal(t, want, res.Ops[i].Count)
		}
		_, err := Start(t.Context(), Options{Plan: &workload.Plan{Phases: []workload.Phase{{Name: "x", After: []string{"x"}, Tracks: []workload.Track{track("a", 1)}}}}})
		assert.ErrorContains(t, err, "waits for itself")
	})
}

func TestIterationsAreSharedOutWholeAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[int64]int{}
		mu := make(chan struct{}, 1)
		call := func(ctx context.Context, it *workload.Iteration) error {
			mu <- struct{}{}
			seen[it.Seq]++
			<-mu
			return takes(time.Millisecond)(ctx, it)
		}
		track := pool("p", workload.Settings{Threads: 7}, call)
		track.Iterations = 5003
		r := start(t, onePhase(0, track))
		for i := range 40 {
			time.Sleep(10 * time.Millisecond)
			r.Change("test", All, threads(1+i%9))
		}
		result(t, r)
		assert.Len(t, seen, 5003)
		for seq, n := range seen {
			require.Equal(t, 1, n, "iteration %d", seq)
		}
	})
}

func TestPanicsAreContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := func(ctx context.Context, it *workload.Iteration) error {
			if it.Seq == 5 {
				panic("boom")
			}
			return takes(10*time.Millisecond)(ctx, it)
		}
		res := result(t, start(t, onePhase(time.Second, pool("p", workload.Settings{Threads: 2}, call))))
		require.Len(t, res.Errors, 1)
		assert.Equal(t, "panic", res.Errors[0].Class)
		assert.Contains(t, res.Messages[0].Text, "boom (at run_test.go:")
		assert.InDelta(t, 200, res.Ops[0].Count, 5)
	})
}

func TestUnreachableStoreIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		gone.Store(true)
		call := func(ctx context.Context, it *workload.Iteration) error {
			if gone.Load() {
				return errGone
			}
			return takes(10*time.Millisecond)(ctx, it)
		}
		r := start(t, onePhase(10*time.Second, pool("p", workload.Settings{Threads: 1}, call)))
		time.Sleep(5 * time.Second)
		gone.Store(false)
		op := result(t, r).Ops[0]
		assert.Less(t, op.Errors, int64(100))
		assert.Greater(t, op.Errors, int64(40))
		assert.InDelta(t, 500, op.Count, 20, "it takes up again within 100 ms")
		assert.Equal(t, op.Count, op.Calls, "failures that are not time-outs are counted, not timed")
	})
}

func TestStopLetsCallsFinishAndKillDoesNot(t *testing.T) {
	for _, kill := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, onePhase(0, pool("p", workload.Settings{Threads: 3}, takes(5*time.Second))))
			time.Sleep(time.Second)
			began := time.Now()
			if kill {
				r.Kill()
			} else {
				r.Stop(errors.New("enough"))
			}
			res, err := r.Wait()
			require.Error(t, err)
			if kill {
				assert.Zero(t, time.Since(began))
				assert.EqualValues(t, 3, res.Ops[0].Errors)
				return
			}
			assert.EqualError(t, err, "enough")
			assert.Equal(t, 4*time.Second, time.Since(began).Round(time.Millisecond))
			assert.EqualValues(t, 3, res.Ops[0].Count)
		})
	}
}

func TestHangingCallsAreCancelledAfterGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, onePhase(time.Second, pool("p", workload.Settings{Threads: 3}, takes(time.Hour))), func(o *Options) { o.Grace = 2 * time.Second })
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 3, r.Snapshot().Gauges[0].InFlight)
		since, what, ok := r.Waiting()
		assert.True(t, ok, "the time is up and calls are under way")
		assert.Equal(t, time.Second, since)
		assert.Equal(t, []string{"3 under way in p (call)"}, what)
		assert.Empty(t, r.Abandoned())
		res := result(t, r)
		assert.Equal(t, []string{"3 under way in p (call)"}, r.Abandoned())
		_, _, ok = r.Waiting()
		assert.False(t, ok)
		assert.InDelta(t, 3, res.Measured.Seconds(), 0.01)
		assert.EqualValues(t, 3, res.Ops[0].Errors)
	})
}

func TestNothingIsAbandonedThatEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, onePhase(time.Second, pool("p", workload.Settings{Threads: 2}, takes(300*time.Millisecond))))
		time.Sleep(500 * time.Millisecond)
		_, _, ok := r.Waiting()
		assert.False(t, ok, "it is at work")
		result(t, r)
		<-r.GivenUp()
		assert.Empty(t, r.Abandoned())
	})
}

func TestSinkErrorEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left")
		r := start(t, onePhase(time.Hour, pool("p", workload.Settings{Threads: 1}, takes(time.Millisecond))), func(o *Options) {
			o.Sink = func(s *measure.Second) error {
				if s.T == 2 {
					return full
				}
				return nil
			}
		})
		res, err := r.Wait()
		assert.ErrorIs(t, err, full)
		assert.InDelta(t, 3, res.Measured.Seconds(), 0.1)
	})
}

func TestFatalErrorEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("script is gone")
		task := workload.TaskFunc(func(context.Context, *workload.Iteration) error { return workload.Fatal(bad) })
		plan := onePhase(time.Hour, workload.Track{Name: "p", Ops: []string{"x"}, Start: workload.Settings{Threads: 2}, NewTask: func(int) (workload.Task, error) { return task, nil }})
		_, err := start(t, plan).Wait()
		assert.ErrorIs(t, err, bad)
		plan.Phases[0].Tracks[0].NewTask = func(int) (workload.Task, error) { return nil, bad }
		_, err = start(t, plan).Wait()
		assert.ErrorIs(t, err, bad)
	})
}

func TestContextEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("first interrupt")
		ctx, cancel := context.WithCancelCause(t.Context())
		r, err := Start(ctx, Options{Plan: onePhase(0, pool("p", workload.Settings{Threads: 1}, takes(time.Millisecond))), Classify: classify, Classes: classes})
		require.NoError(t, err)
		time.Sleep(time.Second)
		cancel(why)
		res, err := r.Wait()
		assert.ErrorIs(t, err, why)
		assert.InDelta(t, 1000, res.Ops[0].Count, 2)
	})
}

func TestSettingsReachSleepersWithin100ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var old atomic.Int64 // iterations with the old settings after the change
		var changed atomic.Bool
		call := func(_ context.Context, it *workload.Iteration) error {
			if it.Settings.Payload == 0 && changed.Load() {
				old.Add(1)
			}
			return nil
		}
		r := start(t, onePhase(10*time.Second, pool("p", workload.Settings{Threads: 4, Rate: 1}, call)))
		time.Sleep(5500 * time.Millisecond)
		changed.Store(true)
		r.Change("test", All, func(s workload.Settings) workload.Settings { s.Payload = 10; s.Rate = 1000; return s })
		res := result(t, r)
		assert.Zero(t, old.Load())
		assert.InDelta(t, 6+4500, res.Ops[0].Count, 3, "a change of rate reaches workers that wait for their due time")
	})
}

func TestSettingsAreKeptInRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, onePhase(time.Second, pool("p", workload.Settings{Threads: 4}, takes(time.Millisecond))))
		r.Change("test", All, threads(-5))
		assert.Equal(t, 1, r.Settings(All).Threads)
		r.Change("test", All, threads(1<<30))
		assert.Equal(t, workload.MaxThreads, r.Settings(All).Threads)
		r.Change("test", All, threads(2))
		r.Change("test", 0, rate(math.Inf(1)))
		assert.Equal(t, float64(workload.MaxRate), r.Settings(0).Rate)
		r.Change("test", 0, rate(0))
		result(t, r)
	})
}

// A knob that turns nothing on a track leaves it alone, whoever turns it, and is no
// part of what is told of the track.
func TestWhatAKnobTurnsNothingOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := pool("read", workload.Settings{Threads: 1}, takes(time.Millisecond))
		read.Idle = []string{"payload"}
		r := start(t, onePhase(time.Second, read, pool("write", workload.Settings{Threads: 1, Payload: 10}, takes(time.Millisecond))))
		size := func(n int) func(workload.Settings) workload.Settings {
			return func(s workload.Settings) workload.Settings { s.Payload = n; return s }
		}
		assert.Equal(t, 10, r.Settings(All).Payload, "of the first track that has one")
		r.Change("test", All, size(20))
		assert.Equal(t, []int{0, 20}, []int{r.Settings(0).Payload, r.Settings(1).Payload})
		r.Change("test", 0, size(30))
		assert.Zero(t, r.Settings(0).Payload)
		res := result(t, r)
		require.Len(t, res.Changes, 1)
		assert.Equal(t, "payload", res.Changes[0].Name)
		got := res.Segments[len(res.Segments)-1].Settings
		assert.InDelta(t, 20, got["payload"], 0)
		assert.InDelta(t, 20, got["write.payload"], 0)
		assert.NotContains(t, got, "read.payload")
	})
}
