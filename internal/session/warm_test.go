package session_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// warmedUp carries out a run of three seconds that warms up by itself, in which a call
// takes as long as said at a second since its beginning.
func warmedUp(t *testing.T, takes func(second int) time.Duration) *rundir.Folder {
	t.Helper()
	var began atomic.Int64
	e := env(t)
	e.Profiles = []workload.Profile{boundBy(tiny, func(ctx context.Context, b *workload.Bound, own workload.Connector) error {
		if err := own(ctx, b); err != nil {
			return err
		}
		for _, tr := range b.Tracks() {
			tr.NewTask = func(int) (workload.Task, error) {
				began.CompareAndSwap(0, time.Now().UnixNano())
				return workload.TaskFunc(func(_ context.Context, it *workload.Iteration) error {
					m := it.Begin(0)
					time.Sleep(takes(int(time.Since(time.Unix(0, began.Load())) / time.Second)))
					return it.End(m, 1, nil)
				}), nil
			}
		}
		b.Parts = nil // there is nothing to verify
		return nil
	}, "memory")}
	r := asked(t, "warmup", "auto", "duration", "3s", "count", "100000000", "threads", "2")
	f, err := rundir.Load(carryOut(t, prepare(t, e, r)).Dir)
	require.NoError(t, err)
	return f
}

// bubble is a test on the fake clock. What the runtime keeps to listen for signals must not
// be made in it.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	_, deaf := self.Resumed()
	deaf()
	synctest.Test(t, f)
}

func TestWarmupEndsWhenTheRunHasSettled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := warmedUp(t, func(second int) time.Duration { return time.Duration(5+max(7-second, 0)*3) * time.Millisecond })
		assert.Greater(t, f.Run.WarmupS, 7.0)
		assert.Less(t, f.Run.WarmupS, 15.0)
		assert.InDelta(t, f.Run.WarmupS, f.Run.Measured.Sub(f.Run.Started).Seconds(), 0.1)
		assert.Equal(t, "duration", f.Run.EndedBy)
		assert.InDelta(t, 3, f.Run.MeasuredS, 0.1)
		assert.InDelta(t, 600, f.Run.Operations[0].Count, 3)
		assert.NotContains(t, f.Run.Verdict.Causes, "warmup")
		assert.EqualValues(t, -f.Run.WarmupS, f.Series[0].T, "the series begins where the warm-up does")
		for i, row := range f.Series {
			assert.Equal(t, f.Series[0].T+i/2, row.T)
			assert.Equal(t, row.T < 0, row.Warmup)
		}
		for _, s := range f.Samples {
			assert.GreaterOrEqual(t, s.T, f.Series[0].T)
		}
	})
}

func TestARunInterruptedInItsWarmupHasMeasuredNothing(t *testing.T) {
	for _, warmup := range []string{"20s", "auto"} {
		bubble(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			r := asked(t, "warmup", warmup, "duration", "60s", "count", "100000000", "rate", "100")
			l, err := prepare(t, env(t), r).Start(ctx, nil)
			require.NoError(t, err)
			time.Sleep(1900 * time.Millisecond) // of the bubble's clock
			cancel(session.ErrInterrupted)
			o := l.Conclude(t.Context())
			assert.Zero(t, o.Run.MeasuredS)
			assert.InDelta(t, 1.9, o.Run.WarmupS, 0.3, "what there was of it, and what ended it")
			assert.Equal(t, verdict.Invalid, o.Run.Verdict.State)
			assert.Equal(t, []string{"unmeasured"}, o.Run.Verdict.Causes)
			assert.Contains(t, o.Run.Verdict.Reasons[0], "in its warm-up")
			assert.Equal(t, fault.CodeInterrupted, o.Code())
			f, err := rundir.Load(o.Dir)
			require.NoError(t, err)
			assert.Equal(t, o.Run.WarmupS, f.Run.WarmupS)
			assert.Equal(t, o.Run.Verdict, f.Run.Verdict)
		})
	}
}

func TestWarmupThatNeverSettlesIsToldOf(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := warmedUp(t, func(second int) time.Duration { return time.Duration(1+second*second) * time.Millisecond })
		assert.EqualValues(t, 15, f.Run.WarmupS)
		assert.Contains(t, f.Run.Verdict.Causes, "warmup")
		assert.Equal(t, -15, f.Series[0].T)
	})
}
