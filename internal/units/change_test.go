package units

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A change is per cent as long as these say anything, and then a factor.
func TestChanges(t *testing.T) {
	for by, want := range map[float64]string{
		0.1254: "+12.5 %", -0.946: "−94.6 %", 0.994: "+99.4 %", 0.996: "×2", 1: "×2", 2: "×3", 2.71: "×3.7", 160.34: "×161", 1610: "×1.61k", -0.9997: "−99.97 %", -1: "−100.0 %", 0: "+0.0 %",
	} {
		assert.Equal(t, want, Change(by), "%g", by)
	}
	assert.Equal(t, "−2.5 … +2.8 %", Between(0.01, -0.025, 0.028))
	assert.Equal(t, "×0.8 … ×4.2", Between(1, -0.2, 3.2))
	for after, want := range map[float64]string{10: "±0 %", 5: "−50 %", 19.94: "+99 %", 19.96: "×2", 20: "×2", 120: "×12", 0.031: "−99.69 %", 0: "−100 %"} {
		assert.Equal(t, want, Percent(10, after))
	}
	assert.Equal(t, "×20 … ×340", Between(160, 19, 339))
	assert.Equal(t, "−20.0 … +320.0 %", Between(0.5, -0.2, 3.2))
	assert.Equal(t, "×2.01 … ×2.04", Between(1.02, 1.01, 1.04))
}
