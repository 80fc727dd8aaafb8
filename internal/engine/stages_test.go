package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Stages are timed in the segment that they are recorded for, and are in no other figure; what is
// recorded in the warm-up is in none at all.
func TestStagesAreTimedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := func(ctx context.Context, it *workload.Iteration) error {
			for range 2 {
				it.Stage(1, it.Segment, it.Now()-int64(time.Second), it.Now())
			}
			it.Stage(0, 0, it.Now()-int64(time.Millisecond), it.Now())
			return takes(100*time.Millisecond)(ctx, it)
		}
		plan := onePhase(2*time.Second, pool("load", workload.Settings{Threads: 1}, call))
		plan.Stages = []string{"sent", "stored"}
		var rows int64
		r := start(t, plan, func(o *Options) {
			o.Warmup = time.Second
			o.Sink = func(s *measure.Second) error {
				for _, row := range s.Rows {
					if !s.Warmup {
						rows += row.Count
					}
				}
				return nil
			}
		})
		time.Sleep(2*time.Second + time.Millisecond)
		r.Change("test", 0, threads(2))
		res := result(t, r)
		require.Len(t, res.Ops, 1)
		calls := res.Ops[0].Calls
		assert.Equal(t, rows, calls)
		require.Len(t, res.Segments, 2)
		require.Len(t, res.Stages, 2)
		for i, s := range res.Segments {
			assert.InDelta(t, 2*s.Ops[0].Calls, res.Stages[i][1].Count, 2, "two of each call")
			assert.Equal(t, time.Second.Seconds(), float64(res.Stages[i][1].P50/1e6)/1e3)
		}
		assert.Equal(t, calls, res.Stages[0][0].Count, "all in the first")
		assert.Zero(t, res.Stages[1][0].Count)
		assert.Len(t, r.Snapshot().Ops, 1)
	})
}
