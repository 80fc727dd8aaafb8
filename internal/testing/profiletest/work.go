package profiletest

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// Begin starts the phases of a bound plan, with the engine but without everything that
// a session does before and after. The engine ends with ctx.
func Begin(ctx context.Context, tb testing.TB, p *workload.Plan) *engine.Run {
	tb.Helper()
	r, err := engine.Start(ctx, engine.Options{
		Plan: p, Classify: classify, Classes: store.ClassNames,
		Unreachable: func(c uint8) bool { return store.Class(c) == store.Unreachable },
	})
	require.NoError(tb, err)
	return r
}

// classify recognizes network errors, after which a closed loop pauses.
func classify(err error) uint8 {
	if _, ok := errors.AsType[net.Error](err); ok {
		return uint8(store.Unreachable)
	}
	return uint8(store.Other)
}

// Work carries out the phases of a bound plan to their end. The operations of the
// result are those of the plan, track by track.
func Work(tb testing.TB, p *workload.Plan) *measure.Result {
	tb.Helper()
	return WorkUntil(tb, p, nil)
}

// Rate carries out the first phase of a bound plan for a turn, and returns the units that its
// operations did a second, those that count. An error of any fails the test.
func Rate(tb testing.TB, p *workload.Plan, turn time.Duration) float64 {
	tb.Helper()
	one := *p
	one.Phases = slices.Clone(p.Phases)
	one.Phases[0].Duration = turn
	rate, counted := 0.0, one.Counted()
	for i, o := range Work(tb, &one).Ops {
		require.Zero(tb, o.Errors)
		if counted[i] {
			rate += o.Throughput()
		}
	}
	return rate
}

// WorkUntil is Work that ends as soon as enough returns true; a nil enough never does.
// It is called on the caller's goroutine.
func WorkUntil(tb testing.TB, p *workload.Plan, enough func() bool) *measure.Result {
	tb.Helper()
	r := Begin(tb.Context(), tb, p)
	for ended := enough == nil; !ended; {
		select {
		case <-r.Done():
			ended = true
		case <-time.After(time.Millisecond):
			if ended = enough(); ended {
				r.Stop(nil)
			}
		}
	}
	res, err := r.Wait()
	require.NoError(tb, err)
	return res
}
