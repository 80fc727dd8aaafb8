package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// What is said to be found in eight and in nine of ten comparisons is found as often.
func TestRunsShowWhatTheyAreSaidToShow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(32, 1))
	const trials, scatter = 4000, 0.03
	for _, runs := range []int{3, 5, 10, 30} {
		known := Finding{Figure: Throughput, change: stat.Estimate{SE: scatter * math.Sqrt(2/float64(runs)), DF: float64(2*runs - 2)}}
		for _, power := range []float64{usually, nearlyAlways} {
			by, found := math.Log1p(known.shows(certainty, power)), 0
			for range trials {
				a, b := make([]float64, runs), make([]float64, runs)
				for i := range runs {
					a[i], b[i] = scatter*rnd.NormFloat64(), by+scatter*rnd.NormFloat64()
				}
				if lo, _ := stat.Between(a, b).Interval(certainty); lo > 0 {
					found++
				}
			}
			assert.InDelta(t, power, float64(found)/trials, 0.05, "%d runs a side", runs)
		}
		n := needed(known.change, certainty, math.Log1p(0.05), float64(runs), false)
		assert.InDelta(t, 7, n, max(float64(runs-7), 1), "3 %% from run to run, from %d runs a side", runs)
	}
}

// Whoever is unsure says what would tell; whoever is not says nothing.
func TestUnsureSaysWhatWouldTell(t *testing.T) {
	side := func(name int64, values ...float64) Set {
		s := Set{Name: "side"}
		for i, v := range values {
			s.Runs = append(s.Runs, short(30, 10*name+int64(i), map[Figure]Estimate{Throughput: {Value: v, SE: math.NaN()}}))
		}
		return s
	}
	f := Sets(side(1, 100, 106, 95), side(2, 98, 104, 99), Options{}).Parts[0].Findings[0]
	require.Equal(t, Unsure, f.Verdict)
	assert.Equal(t, "these runs show a change of 15 % in 8 of 10 comparisons, and of 17 % in 9; 5 % would take 12 more runs a side", f.PowerText())
	f = Sets(side(1, 100), side(2, 98), Options{}).Parts[0].Findings[0]
	require.Equal(t, Unsure, f.Verdict)
	assert.Equal(t, "these runs could hardly have shown any change", f.PowerText())
	f = Sets(side(1, 100, 100.1, 99.9), side(2, 200, 200.1, 199.9), Options{}).Parts[0].Findings[0]
	require.Equal(t, Better, f.Verdict)
	assert.Empty(t, f.PowerText())
}
