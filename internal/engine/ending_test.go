package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

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
		assert.Contains(t, res.Messages[0].Text, "boom (at ending_test.go:")
		assert.InDelta(t, 200, res.Ops[0].Count, 5)
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
				assert.Zero(t, res.Ops[0].Errors, "it is not the store that cut them off")
				assert.Empty(t, res.Errors)
				assert.Equal(t, []string{"3 under way in p (call)"}, r.Abandoned())
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
