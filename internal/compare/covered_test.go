package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
)

// The figures that stand first are of all calls only if no other operation was called.
func TestAComparisonSaysWhichOperationsItIsOf(t *testing.T) {
	run := func(counted int, all int64) *Run {
		r := &Run{Parts: []Measured{{Calls: all, counted: counted}}}
		for range 3 {
			r.Parts = append(r.Parts, Measured{Operation: &measure.Operation{}, Calls: 100})
		}
		return r
	}
	whole, two, baseline := run(3, 300), run(2, 200), run(0, 300)
	for want, runs := range map[string][]*Run{
		"all calls":                {whole, baseline},
		"the 2 counted operations": {two, two},
		"the counted operations":   {whole, two},
	} {
		assert.Equal(t, want, Set{Runs: runs}.Covered())
	}
	assert.Equal(t, "the counted operations", Set{Runs: []*Run{run(0, 100)}}.Covered(), "a baseline does not say how many")
	assert.Equal(t, "the counted operations", (&Comparison{A: Set{Runs: []*Run{whole}}, B: Set{Runs: []*Run{two}}}).Covered())
}
