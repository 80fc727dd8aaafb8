package archive

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Sides that differ in the payload of each track are named by sizes, as the table has them.
func TestSidesAreNamedBySizes(t *testing.T) {
	m := &comparedRuns{
		Comparison: &compare.Comparison{Differences: []compare.Difference{{Name: "x.payload", A: "1 KiB", B: "32 KiB"}, {Name: "y.payload", A: "1 KiB", B: "32 KiB"}}},
		a:          &rundir.Run{Settings: map[string]float64{"payload": 1024}},
		b:          &rundir.Run{Settings: map[string]float64{"payload": 32768}},
	}
	name, a, b := m.apart()
	assert.Equal(t, []string{"payload", "1 KiB", "32 KiB"}, []string{name, a, b})
}
