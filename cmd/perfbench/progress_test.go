package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// How far a run is depends on all phases that have a duration, and threads are those of
// the tracks that run, or ran last.
func TestProgressIsOfTheWholeRun(t *testing.T) {
	plan := &workload.Plan{Phases: []workload.Phase{
		{Name: "valid", Duration: 2 * time.Second},
		{Name: "mix", After: []string{"valid"}, Duration: 2 * time.Second},
	}}
	snap := &measure.Snapshot{
		Tracks: []string{"valid", "mix"}, Ops: []measure.Totals{{Operation: measure.Operation{Track: "valid"}}, {Operation: measure.Operation{Track: "mix"}}},
		Gauges: []measure.Gauge{{Threads: 4}, {Threads: 3, Running: true}}, Recent: [][]measure.Row{{{T: 1}}, {{T: 2}, {T: 3}}},
	}
	share, known := headless.Share(3*time.Second, plan.Length(), snap)
	assert.True(t, known)
	assert.InDelta(t, 0.75, share, 1e-9)
	assert.False(t, headless.Beyond(3*time.Second, plan.Length()))
	assert.Equal(t, []string{"3 threads"}, headless.State(snap))
	snap.Gauges[1].Running = false
	assert.Equal(t, []string{"3 threads"}, headless.State(snap), "the run has just ended")
}
