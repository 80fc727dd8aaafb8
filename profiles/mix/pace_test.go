package mix

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// What clients do without a store says nothing about perfbench's own speed when they pause.
func TestWithPausesThereIsNoCeiling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		paces bool
	}{
		"without pauses":      {"data: {a: {records: 10}}\noperations: {one: {get: a}}\n", false},
		"between sessions":    {"data: {a: {records: 10}}\noperations: {one: {get: a}}\nsession: {operations: 5, pause: 1ms}\n", true},
		"within an operation": {"data: {a: {records: 10}}\noperations: {one: [{get: a}, {think: 1ms}]}\n", true},
	} {
		vs := workload.Values{}
		vs.Set(workload.Value{Name: "workload", Text: c.text, Origin: workload.OriginFile})
		p, err := Design(workload.Inputs{Values: vs, Driver: "redis", Namespace: "perfbench", Seed: 1})
		require.NoError(t, err, name)
		assert.Equal(t, c.paces, p.Phases[0].NoCeiling, name)
		assert.Equal(t, c.paces, p.Phases[0].Tracks[0].Pauses, name)
	}
}
