package sweep

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
)

// keptUp is the share of what was due from which on a point has met it.
const keptUp = 0.98

// OverRate returns the axis of target rates; -1 if there is none that is numeric.
func (r *Result) OverRate() int {
	return slices.IndexFunc(r.Axes, func(a Axis) bool {
		return (a.Name == "rate" || strings.HasSuffix(a.Name, ".rate")) && a.Numbers() != nil
	})
}

// RateKnee returns the highest rate, on an axis of rates and for one of Others, up to which
// every rate that was tried was met, by most of its runs; 0 if the lowest was not. missed is
// the lowest that was not met, 0 if there is none.
func (r *Result) RateKnee(over int, at string) (knee, missed float64) {
	for _, p := range r.byRate(over, at) {
		rate := r.N(p, over)
		switch met, of := r.met(p, rate); {
		case of == 0: // its runs are to come
		case 2*met <= of:
			return knee, rate
		default:
			knee = rate
		}
	}
	return knee, 0
}

// met returns how many of a point's runs did what was due at a rate.
func (r *Result) met(p Point, rate float64) (met, of int) {
	for _, d := range r.Runs {
		if !slices.Equal(r.Points[d.Point].Values, p.Values) {
			continue
		}
		of++
		due := rate
		if d.Due != nil {
			due = min(due, *d.Due)
		}
		if d.Done != nil && *d.Done >= keptUp*due {
			met++
		}
	}
	return met, of
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

// Spread is a percentile at each rate, with the lowest first: the mean of the runs, and the
// lowest and the highest of any run; measure.Hidden if too few calls support it.
type Spread struct{ Low, Middle, High []int64 }

// Add adds a rate: the percentile that stands for it, and those of its runs.
func (s *Spread) Add(middle int64, runs []int64) {
	runs = slices.DeleteFunc(runs, func(v int64) bool { return v == measure.Hidden })
	low, high := int64(measure.Hidden), int64(measure.Hidden)
	if len(runs) > 0 {
		low, high = slices.Min(runs), slices.Max(runs)
	}
	s.Low, s.Middle, s.High = append(s.Low, low), append(s.Middle, middle), append(s.High, high)
}

// Latencies returns, for one of Others, p50 and p99 of the response time at each rate.
func (r *Result) Latencies(over int, at string) (p50, p99 Spread) {
	for _, p := range r.byRate(over, at) {
		var all50, all99 []int64
		for _, d := range r.Runs {
			if slices.Equal(r.Points[d.Point].Values, p.Values) {
				all50, all99 = append(all50, d.P50), append(all99, d.P99)
			}
		}
		p50.Add(p.P50, all50)
		p99.Add(p.P99, all99)
	}
	return p50, p99
}
