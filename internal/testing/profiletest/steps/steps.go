// Package steps has a test do the iterations of a task one by one. It links no store, unlike
// the package above it.
package steps

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Worker is a worker whose iterations the test does one by one, in closed loop.
type Worker struct {
	workload.Iteration
	// Samples are those of the iterations, unless Forget is set.
	Samples []measure.Call
	Forget  bool

	task workload.Task
}

// Of returns worker id of a track of a bound plan, with the track's initial settings.
func Of(tb testing.TB, tr *workload.Track, id int) *Worker {
	tb.Helper()
	task, err := tr.NewTask(id)
	require.NoError(tb, err)
	s, set, epoch := &Worker{task: task}, tr.Start, time.Now()
	s.Worker, s.Settings = id, &set
	s.Bind(func() int64 { return int64(time.Since(epoch)) }, (*steps)(s), 0)
	return s
}

// Do does the next iteration.
func (s *Worker) Do(ctx context.Context) error { return s.DoDue(ctx, math.MaxInt64) }

// DoDue does the next iteration as if it were due at a time of the worker's clock.
func (s *Worker) DoDue(ctx context.Context, due int64) error {
	s.Reset(due)
	return s.task.Do(ctx, &s.Iteration)
}

// steps records the samples of a Worker.
type steps Worker

func (s *steps) Add(v measure.Call) {
	if !s.Forget {
		s.Samples = append(s.Samples, v)
	}
}

func (s *steps) Started(_, _ int64)         {}
func (s *steps) Again(int64)                {}
func (s *steps) Ended()                     {}
func (s *steps) Failed(uint16, error) uint8 { return 1 }
