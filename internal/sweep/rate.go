package sweep

import (
	"slices"
	"strings"
)

// keptUp is the share of its rate from which on a point has met it.
const keptUp = 0.98

// OverRate returns the axis of target rates; -1 if there is none that is numeric.
func (r *Result) OverRate() int {
	return slices.IndexFunc(r.Axes, func(a Axis) bool {
		return (a.Name == "rate" || strings.HasSuffix(a.Name, ".rate")) && a.Numbers() != nil
	})
}

// RateKnee returns the highest rate, on an axis of rates and for one of Others, up to which
// every rate that was tried was met; 0 if the lowest was not.
func (r *Result) RateKnee(over int, at string) float64 {
	knee := 0.0
	for _, p := range r.byRate(over, at) {
		rate := r.N(p, over)
		if p.Done == nil || *p.Done < keptUp*rate {
			break
		}
		knee = rate
	}
	return knee
}

// byRate returns the points of one of Others, with the lowest rate first.
func (r *Result) byRate(over int, at string) []Point {
	list := slices.DeleteFunc(slices.Clone(r.Points), func(p Point) bool { return !r.Of(p, over, at) })
	slices.SortFunc(list, func(a, b Point) int {
		if r.N(a, over) < r.N(b, over) {
			return -1
		}
		return 1
	})
	return list
}

// Latencies returns, for one of Others and with the lowest rate first, p50 and p99 of the
// median run at each rate, and the lowest and the highest p99 of any run.
func (r *Result) Latencies(over int, at string) (low, p50, p99, high []int64) {
	for _, p := range r.byRate(over, at) {
		least, most := p.P99, p.P99
		for _, d := range r.Runs {
			if slices.Equal(r.Points[d.Point].Values, p.Values) {
				least, most = min(least, d.P99), max(most, d.P99)
			}
		}
		low, p50, p99, high = append(low, least), append(p50, p.P50), append(p99, p.P99), append(high, most)
	}
	return low, p50, p99, high
}
