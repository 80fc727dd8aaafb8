package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
)

// An operation that was never called took no 0 ns.
func TestWhatWasNeverCalledHasNoTimes(t *testing.T) {
	f := fixture(t)
	f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "profile", Op: "sweep"})
	f.Run.Segments = nil
	for _, id := range []string{"text", "markdown", "html"} {
		doc := printed(t, f, id)
		assert.Contains(t, doc, "No call was timed for: profile sweep.", id)
	}
	assert.Contains(t, squeezed(printed(t, f, "text")), "profile sweep 0 – – – – 0 0")
}
