package kept

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A comparison that is unsure of a figure does not call its sides the same.
func TestTheSameInOneFigureIsNotTheSame(t *testing.T) {
	for text, want := range map[string]string{
		`{"verdict": "same", "parts": [{"figures": [{"figure": "throughput", "verdict": "same"}, {"figure": "p99", "verdict": "same"}]}]}`:   "same",
		`{"verdict": "same", "parts": [{"figures": [{"figure": "throughput", "verdict": "same"}, {"figure": "p99", "verdict": "unsure"}]}]}`: "unsure",
	} {
		var c comparison
		require.NoError(t, json.Unmarshal([]byte(text), &c))
		assert.Equal(t, want, c.answer())
	}
}
