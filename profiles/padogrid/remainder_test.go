package padogrid_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

func nothing(*none) []*atomic.Int64 { return nil }

// What a process that was lost had given out and not settled is done again, and so is what it
// had done and not measured; the rest of its shares follows. Nothing is left out, and the
// count of all is that which was asked for: also where the one that goes on is lost itself.
func TestTheRestOfAPart(t *testing.T) {
	job := padogrid.Job{Shares: []int64{50, 50, 50, 50}, Runs: 2}
	part := job
	part.From, part.To = 2, 4
	whole := padogrid.NewWork[none](job, nil, nothing)
	done := map[[3]int64]bool{} // by share, run and unit
	measured := int64(0)
	// work does n pieces, of which it measures all but the last few and leaves one under way.
	work := func(w *padogrid.Work[none], pieces, unmeasured int) {
		loops := []*padogrid.Loop[none]{w.Loop(2), w.Loop(3)}
		for k, idle := 0, 0; idle < 2; k++ {
			it := iteration(workload.Settings{Threads: 2})
			p, ok := loops[k%2].Next(it, 3)
			if !ok {
				idle++
				continue
			}
			if idle = 0; k == pieces {
				break
			}
			loops[k%2].Leave(t.Context(), it, p, nil)
			if k < pieces-unmeasured {
				measured += p.N
			}
			for u := range p.N {
				done[[3]int64{int64(p.Share), p.Run, p.Off + u}] = true
			}
		}
		require.True(t, whole.Merge(workload.Process{}, w.Delta()))
	}
	first := padogrid.NewWork[none](part, nil, nothing)
	work(first, 31, 4)
	second := padogrid.NewWork[none](part, nil, nothing)
	rest := whole.Left(workload.Process{Part: 1, Of: 2}, []workload.Did{{Units: measured}})
	require.True(t, second.Inherit(rest, 1))
	assert.EqualValues(t, measured, whole.Record(func(*none) {}).Done, "what was not measured does not count")
	work(second, 5, 1)
	third := padogrid.NewWork[none](part, nil, nothing)
	require.True(t, third.Inherit(whole.Left(workload.Process{Part: 1, Of: 2}, []workload.Did{{Units: measured}}), 2))
	work(third, 1000, 0)
	assert.True(t, third.Over())
	assert.EqualValues(t, 200, measured)
	assert.Len(t, done, 200)
	assert.EqualValues(t, 200, whole.Record(func(*none) {}).Done)
	assert.False(t, padogrid.NewWork[none](job, nil, nothing).Inherit(rest, 1), "it is of another part")
}

// Counts below nothing are of no process.
func TestNegativeCountsAreNotTakenIn(t *testing.T) {
	for name, bad := range map[string]padogrid.Delta{
		"done":    {Tallies: []padogrid.TallyDelta{{Done: -1}}},
		"failed":  {Tallies: []padogrid.TallyDelta{{Failed: -1}}},
		"own":     {Tallies: []padogrid.TallyDelta{{Own: []int64{-1}}}},
		"cursors": {Cursors: []int64{-1}, Warm: []int64{0}},
		"warm":    {Cursors: []int64{0}, Warm: []int64{-1}},
	} {
		w := padogrid.NewWork[none](padogrid.Job{Shares: []int64{4}, To: 1}, nil, nothing)
		assert.False(t, w.Merge(workload.Process{}, bad), name)
	}
}
