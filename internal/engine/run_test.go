package engine

import (
	"context"
	"errors"
	"fmt"
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
				{After: 3 * time.Second, Track: workload.AllTracks, Knob: knobs[1], Value: 400},
				{After: time.Second, Track: workload.AllTracks, Knob: knobs[0], Value: 9},
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
			r.Change("test", workload.AllTracks, threads(1+i%9))
		}
		result(t, r)
		assert.Len(t, seen, 5003)
		for seq, n := range seen {
			require.Equal(t, 1, n, "iteration %d", seq)
		}
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
