package sweep

import "math"

// dependent is the share of a column that must be its own, rather than follow from those
// before it.
const dependent = 1e-8

// leastSquares returns the x for which columns·x is nearest to r, and the inverse of the
// square of the columns, by which the squared error of one value becomes those of x. It
// returns false if some columns follow from others. The columns are made orthogonal in
// place, by Gram and Schmidt's method as modified, and r is reduced to what is left of it.
func leastSquares(columns [][]float64, r []float64) (x []float64, inverse [][]float64, ok bool) {
	n := len(columns)
	x = make([]float64, n)
	triangle, inverted := square(n), square(n)
	for i, own := range columns {
		triangle[i][i] = math.Sqrt(dot(own, own))
		if !(triangle[i][i] > 0) {
			return nil, nil, false
		}
	}
	for i, own := range columns {
		whole := triangle[i][i]
		left := math.Sqrt(dot(own, own))
		if !(left > dependent*whole) {
			return nil, nil, false
		}
		triangle[i][i] = left
		for k := range own {
			own[k] /= left
		}
		for j := i + 1; j < n; j++ {
			triangle[i][j] = take(columns[j], own)
		}
		x[i] = take(r, own)
	}
	for i := n - 1; i >= 0; i-- {
		inverted[i][i] = 1 / triangle[i][i]
		x[i] /= triangle[i][i]
		for k := range i {
			x[k] -= triangle[k][i] * x[i]
		}
		for j := i + 1; j < n; j++ {
			for k := i + 1; k <= j; k++ {
				inverted[i][j] -= triangle[i][k] * inverted[k][j] / triangle[i][i]
			}
		}
	}
	inverse = square(n)
	for i := range n {
		for j := range n {
			inverse[i][j] = dot(inverted[i], inverted[j])
		}
	}
	return x, inverse, true
}

// take removes from v its part in the direction of unit, and returns how long that is.
func take(v, unit []float64) float64 {
	by := dot(v, unit)
	for k := range v {
		v[k] -= by * unit[k]
	}
	return by
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func square(n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
	}
	return out
}
