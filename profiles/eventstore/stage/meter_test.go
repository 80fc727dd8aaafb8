package stage

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// What is due after the end of the load, because that is noticed late, was not offered.
func TestNothingIsOfferedAfterTheEnd(t *testing.T) {
	t.Parallel()
	m := New()
	m.Length = 4e9
	m.Enter(0, false, &workload.Settings{Batch: 400, Rate: 100_000, Threads: 2}, 2e9)
	m.BeginDrain(5e9)
	var f facts.Facts
	m.Report(&f, 6e9)
	assert.EqualValues(t, 200_000, f.Steps[0].Offered.Events)
	m.Length = 0
	m.Report(&f, 6e9)
	assert.EqualValues(t, 300_000, f.Steps[0].Offered.Events, "of a load without an end")
}
