package sweep

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drawn are so many runs at each number of threads of a store whose throughput is given,
// each off by chance by so large a share.
func drawn(rnd *rand.Rand, runs int, noise float64, throughput func(n float64) float64) levels {
	var out []Sample
	for n := 1.0; n <= 32; n *= 2 {
		for range runs {
			out = append(out, Sample{N: n, X: throughput(n) * (1 + noise*rnd.NormFloat64())})
		}
	}
	return levelsOf(out)
}

// The knee that there is lies in the interval at least as often as that says. The numbers
// are the same each time.
func TestTheIntervalOfTheKneeHoldsAsOftenAsItSays(t *testing.T) {
	for _, c := range []struct {
		name       string
		noise      float64
		throughput func(n float64) float64
		knee       float64
	}{
		{"four servers, little noise", 0.02, func(n float64) float64 { return min(n, 4) * 500 }, 4},
		{"four servers, much noise", 0.10, func(n float64) float64 { return min(n, 4) * 500 }, 4},
		{"close to the next", 0.05, func(n float64) float64 { return 1000 * n / (1 + 0.1*(n-1)) }, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.InDelta(t, c.knee, drawn(rand.New(rand.NewPCG(0, 0)), 1, 0, c.throughput).knee(), 0)
			const sweeps = 200
			rnd := rand.New(rand.NewPCG(9, 9))
			held := 0
			for range sweeps {
				low, high := drawn(rnd, 3, c.noise, c.throughput).interval()
				if low != nil && *low <= c.knee && (high == nil || *high >= c.knee) {
					held++
				}
			}
			assert.GreaterOrEqual(t, held, sweeps*93/100, "95 of 100, but for what chance does to a count")
		})
	}
}

func TestAKneeWithoutAnInterval(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	low, high := drawn(rnd, 1, 0.01, func(n float64) float64 { return min(n, 4) }).interval()
	assert.Nil(t, low, "one run at each number of threads tells nothing of chance")
	assert.Nil(t, high)
	low, high = drawn(rnd, 3, 0.01, func(n float64) float64 { return n }).interval()
	assert.Nil(t, low, "there is none")
	assert.Nil(t, high)
	low, high = drawn(rnd, 3, 0.01, func(n float64) float64 { return min(n, 4) }).interval()
	require.NotNil(t, low)
	require.NotNil(t, high)
	assert.Equal(t, []float64{4, 4}, []float64{*low, *high})
	low, high = drawn(rnd, 3, 0.2, func(n float64) float64 { return min(n, 20) }).interval()
	require.NotNil(t, low)
	assert.Nil(t, high, "there may be none within what was tried")
}
