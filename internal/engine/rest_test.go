package engine

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// What is left of a second after the end of a phase or of the run is no rate: at
// 500/s a rest of 1 ms with one late call in it would be 1,000/s, and ten of them
// 10,000/s.
func TestARestOfASecondHasNoRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := func(_ context.Context, _ *workload.Iteration) error { return nil }
		plan := &workload.Plan{Unit: "calls", Knobs: knobs, Phases: []workload.Phase{
			{Name: "load", Duration: 1001 * time.Millisecond, Tracks: []workload.Track{pool("load", workload.Settings{Threads: 4, Rate: 500}, calls)}},
			{Name: "read", After: []string{"load"}, Duration: 1100 * time.Millisecond, Tracks: []workload.Track{pool("read", workload.Settings{Threads: 4, Rate: 500}, calls)}},
		}}
		rates := map[string][]float64{}
		r := start(t, plan, func(o *Options) {
			o.Sink = func(s *measure.Second) error {
				for _, row := range s.Rows {
					name := []string{"load", "read"}[row.Op]
					rates[name] = append(rates[name], row.PerSecond())
				}
				return nil
			}
		})
		res := result(t, r)
		require.Len(t, rates["load"], 2)
		assert.InDelta(t, 500, rates["load"][0], 5)
		assert.True(t, math.IsNaN(rates["load"][1]), "1 ms of load are no second of it: %v", rates["load"][1])
		require.Len(t, rates["read"], 2)
		assert.InDelta(t, 500, rates["read"][0], 5, "999 ms of reading are")
		assert.True(t, math.IsNaN(rates["read"][1]), "101 ms are not: %v", rates["read"][1])
		require.Len(t, res.Phases, 2)
		assert.Equal(t, measure.Phase{Name: "load", Tracks: []string{"load"}, To: 1001 * time.Millisecond}, res.Phases[0])
		assert.Equal(t, measure.Phase{Name: "read", Tracks: []string{"read"}, From: 1001 * time.Millisecond, To: 2101 * time.Millisecond}, res.Phases[1])
		for _, p := range r.Snapshot().Timeline {
			for _, point := range p {
				if v := measure.Rate(point.Count, point.Seconds); !math.IsNaN(v) {
					assert.InDelta(t, 500, v, 5)
				}
			}
		}
	})
}

// A run that is over has no last row of the moment in which its workers went home.
func TestAMomentWithoutACallIsNoRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := func(_ context.Context, _ *workload.Iteration) error { return nil }
		plan := &workload.Plan{Unit: "calls", Knobs: knobs, Phases: []workload.Phase{
			{Name: "load", Duration: 1004 * time.Millisecond, Tracks: []workload.Track{pool("load", workload.Settings{Threads: 1, Rate: 1.5}, calls)}},
		}}
		var seconds []int
		r := start(t, plan, func(o *Options) {
			o.Sink = func(s *measure.Second) error {
				for _, row := range s.Rows {
					seconds = append(seconds, row.T)
				}
				return nil
			}
		})
		result(t, r)
		assert.Equal(t, []int{0}, seconds)
	})
}

// A track that ends behind its schedule ends with what it was behind, and not with the nothing that waits
// once it is given up: no series shows a recovery that was none.
func TestATrackThatEndsBehindEndsWithItsBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phase := func(name string, lasts time.Duration, of workload.Track) workload.Phase {
			return workload.Phase{Name: name, Duration: lasts, Tracks: []workload.Track{of}}
		}
		slow := pool("slow", workload.Settings{Threads: 1, Rate: 100}, takes(100*time.Millisecond)) // 90 a second are left
		plan := &workload.Plan{Unit: "calls", Knobs: knobs, Phases: []workload.Phase{
			phase("slow", 2500*time.Millisecond, slow),
			phase("fine", 5*time.Second, pool("fine", workload.Settings{Threads: 2, Rate: 100}, takes(time.Millisecond))),
		}}
		left := map[int][]int64{}
		res := result(t, start(t, plan, func(o *Options) {
			o.Sink = func(s *measure.Second) error {
				for _, row := range s.Rows {
					left[row.Op] = append(left[row.Op], row.Backlog+row.GivenUp)
				}
				return nil
			}
		}))
		require.Len(t, left[0], 3)
		assert.InDeltaSlice(t, []float64{90, 180, 225}, []int64{left[0][0], left[0][1], left[0][2]}, 3)
		assert.Equal(t, res.Ops[0].Unstarted, left[0][2])
		require.GreaterOrEqual(t, len(left[1]), 5)
		for _, n := range left[1] {
			assert.LessOrEqual(t, n, int64(1))
		}
	})
}
