package units

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A change is per cent as long as these say anything, and then a factor.
func TestChanges(t *testing.T) {
	for by, want := range map[float64]string{
		0.1254: "+12.5 %", -0.946: "-94.6 %", 1.99: "+199.0 %", 2: "×3", 2.71: "×3.7", 160.34: "×161", 1610: "×1.61k", -0.9997: "-99.97 %", -1: "-100.0 %", 0: "+0.0 %",
	} {
		assert.Equal(t, want, Change(by), "%g", by)
	}
	assert.Equal(t, "-2.5 … +2.8 %", Between(-0.025, 0.028))
	assert.Equal(t, "×0.8 … ×4.2", Between(-0.2, 3.2))
	assert.Equal(t, "×20 … ×340", Between(19, 339))
}
