package settle

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Auto is the length of a warm-up that ends itself.
const Auto = "auto"

// The bounds of a warm-up that ends itself.
const (
	shortestBound = 15 * time.Second
	longestBound  = 2 * time.Minute
)

// LongestWarmup is how long a warm-up that ends itself may take in whole seconds, before a
// run of that duration; 0: of an unknown one. It is the duration, within 15 s and 2 min.
func LongestWarmup(duration time.Duration) time.Duration {
	if duration == 0 {
		return longestBound
	}
	return min(max(duration.Truncate(time.Second), shortestBound), longestBound)
}

// When a warm-up is over:
//
// The rule MSER finds, in a series of seconds, the point from which on the mean is known
// best: each second left out takes scatter away while the way there lasts, and only
// evidence after it. That point may be as far back as is asked of Add. What came after it
// must be level, for MSER cannot tell a trend that has not ended.
const (
	// leastLevel is how many seconds throughput and p99 must have been level, levelShare
	// as a part of the time before.
	leastLevel = 5
	levelShare = 0.5
	// sameMean is how far the means of both halves of those may differ, as logarithms,
	// where their scatter does not explain more.
	sameMean = 0.03
)

// Warm watches the warm-up of a run until it has settled. One goroutine uses it.
type Warm struct{ rates, tails []float64 }

// Add takes a whole second: units a second and the 99th percentile of the response time.
// It says whether both have settled.
func (w *Warm) Add(perSecond float64, p99 time.Duration) bool {
	w.rates = append(w.rates, math.Log(math.Max(perSecond, 1e-3)))
	w.tails = append(w.tails, math.Log(math.Max(float64(p99), 1)))
	if len(w.rates) < leastLevel {
		return false
	}
	from := max(truncation(w.rates), truncation(w.tails))
	if left := len(w.rates) - from; float64(left) < levelShare*float64(from) {
		return false
	}
	return level(w.rates[from:]) && level(w.tails[from:])
}

// truncation is how many values MSER leaves out at the beginning: as many as make the
// squared standard error of the mean of the rest the least. leastLevel are left.
func truncation(v []float64) int {
	best, at := math.Inf(1), 0
	var n, mean, squares float64 // of the rest, grown from the end (Welford)
	for i := len(v) - 1; i >= 0; i-- {
		n++
		off := v[i] - mean
		mean += off / n
		squares += off * (v[i] - mean)
		if n < leastLevel {
			continue
		}
		if mser := squares / (n * n); mser <= best {
			best, at = mser, i
		}
	}
	return at
}

// level says whether both halves of a series have the same mean, as far as their scatter
// lets it be told.
func level(v []float64) bool {
	d := stat.Between(v[:len(v)/2], v[len(v)/2:])
	return math.Abs(d.Value) <= math.Max(sameMean, 2*d.SE)
}
