package mix

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/own"
)

// The picture of a distribution is that of its calls, and follows the exponent.
func TestSpreads(t *testing.T) {
	w, err := own.Read("test", `
data: {product: {records: 10_000}, user: {records: 500}}
operations:
  look:   {get: product, keys: zipf 0.99}
  change: {put: product, keys: zipf 0.99}
  people: [{get: user, keys: hot 20% 80%}, {put: user, keys: same}, {insert: order}]`)
	require.NoError(t, err)
	all := spreads(w)
	require.Len(t, all, 2, "each once")
	var set workload.Settings
	knobs := w.Knobs(&set)
	first := func(i int) (string, float64) {
		text, shares := all[i].Of(set, 10)
		sum := 0.0
		for _, v := range shares {
			sum += v
		}
		assert.InDelta(t, 1, sum, 1e-9)
		return all[i].Name + " " + text, shares[0]
	}
	name, hottest := first(0)
	assert.Equal(t, "product zipf 0.99", name)
	assert.InDelta(t, 0.76, hottest, 0.02, "of a thousand of ten thousand records")
	name, hottest = first(1)
	assert.Equal(t, "user hot 20% 80%", name)
	assert.InDelta(t, 0.4, hottest, 0.02)
	set = knobs[0].Set(set, 0.01)
	name, hottest = first(0)
	assert.Equal(t, "product zipf 0.01", name)
	assert.InDelta(t, 0.1, hottest, 0.02)
}
