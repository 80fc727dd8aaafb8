package workload_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// A warm-up has settled when what runs in it has: a load, where queries come only later.
func TestWhatTellsThatAWarmupHasSettled(t *testing.T) {
	t.Parallel()
	load := workload.Phase{Name: "load", Tracks: []workload.Track{{Name: "load", Ops: []string{"put"}, OpUnits: []string{"items"}}}}
	query := workload.Phase{Name: "query", After: []string{"load"}, Tracks: []workload.Track{{Name: "query", Ops: []string{"get", "scan"}}}}
	assert.Equal(t, []bool{true, false, false}, (&workload.Plan{Phases: []workload.Phase{load, query}}).Warming())
	query.After = nil
	assert.Equal(t, []bool{false, true, true}, (&workload.Plan{Phases: []workload.Phase{load, query}}).Warming())
}
