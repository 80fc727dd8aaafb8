package plot

import (
	"math"
	"slices"
)

// Some reports whether any of the values is known.
func Some(values []float64) bool {
	return slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) })
}

// Thin reduces values to at most n, each the mean or the maximum of an equal number,
// ignoring NaN.
func Thin(values []float64, n int, mean bool) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		_, middle, top := Digest(values[i*len(values)/n : (i+1)*len(values)/n])
		if out[i] = top; mean {
			out[i] = middle
		}
	}
	return out
}

// Digest returns the lowest value, the mean and the highest; NaN if there are no
// values.
func Digest(values []float64) (low, mean, top float64) {
	n, sum := 0, 0.0
	low, top = math.NaN(), math.NaN()
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		n, sum = n+1, sum+v
		if !(v >= low) {
			low = v
		}
		if !(v <= top) {
			top = v
		}
	}
	return low, sum / float64(n), top
}
