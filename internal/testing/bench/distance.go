package bench

import (
	"math"
	"slices"
)

// Pauses returns the pauses between moments, which are in order, in ascending order.
func Pauses[T ~int64 | ~float64](at []T) []T {
	var out []T
	for i := range at[1:] {
		out = append(out, at[i+1]-at[i])
	}
	slices.Sort(out)
	return out
}

// Distance is that of two distributions after Kolmogorov and Smirnov: the largest difference
// between the shares of values of either, which are in ascending order, that are no larger than a value.
func Distance[T ~int64 | ~float64](a, b []T) float64 {
	i, j, most := 0, 0, 0.0
	for i < len(a) && j < len(b) {
		v := min(a[i], b[j])
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j] == v {
			j++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}
