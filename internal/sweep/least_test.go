package sweep

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Wampler1 of the NIST's reference datasets for linear regression: the values of a
// polynomial whose coefficients are all 1.
func TestLeastSquaresOfAPolynomial(t *testing.T) {
	const scale = 20.0
	columns, y := make([][]float64, 6), make([]float64, 21)
	for x := range 21 {
		for power := range columns {
			v := math.Pow(float64(x), float64(power))
			y[x] += v
			columns[power] = append(columns[power], v/math.Pow(scale, float64(power)))
		}
	}
	x, _, ok := leastSquares(columns, y)
	require.True(t, ok)
	for power, v := range x {
		assert.InEpsilon(t, 1, v/math.Pow(scale, float64(power)), 1e-9, "%d", power)
	}
	for _, rest := range y {
		assert.InDelta(t, 0, rest, 1e-7, "of up to 3 million")
	}
}

func TestErrorsOfAStraightLine(t *testing.T) {
	x, inverse, ok := leastSquares([][]float64{{1, 1, 1}, {1, 2, 3}}, []float64{5, 8, 8})
	require.True(t, ok)
	assert.InDeltaSlice(t, []float64{4, 1.5}, x, 1e-12)
	assert.InDeltaSlice(t, []float64{14. / 6, -1}, inverse[0], 1e-12)
	assert.InDeltaSlice(t, []float64{-1, 0.5}, inverse[1], 1e-12)
}

func TestColumnsThatFollowFromOthersAreNotFitted(t *testing.T) {
	for _, columns := range [][][]float64{{{1, 2, 3}, {2, 4, 6}}, {{1, 2, 3}, {0, 0, 0}}, {{1, 2, 3}, {3, 2, 1}, {4, 4, 4}}, {{math.NaN(), 1, 1}}} {
		_, _, ok := leastSquares(columns, []float64{1, 2, 4})
		assert.False(t, ok, columns)
	}
}
