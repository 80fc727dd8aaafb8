package condition

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Auto is the length of a warm-up that ends itself.
const Auto = "auto"

// Limits of a warm-up that ends itself.
const (
	shortestBound = 15 * time.Second
	longestBound  = 2 * time.Minute
)

// LongestWarmup returns how long a warm-up that ends itself may take, in whole seconds,
// before a run of the given duration; 0: unknown. It is the duration itself, limited to
// between 15 s and 2 min.
func LongestWarmup(duration time.Duration) time.Duration {
	if duration == 0 {
		return longestBound
	}
	return min(max(duration.Truncate(time.Second), shortestBound), longestBound)
}

// When a warm-up is over:
//
// The MSER rule finds, in a series of seconds, the point from which the mean is known
// best: up to there, leaving out a second reduces the scatter, and after it only
// discards evidence. That point may lie before the current second by as much as Add
// requires. What comes after it must be level, because MSER cannot recognize a trend
// that has not ended.
const (
	// leastLevel is how many seconds throughput and p99 must have been level;
	// levelShare is the same as a fraction of the time before.
	leastLevel = 5
	levelShare = 0.5
	// sameMean is how far the means of the two halves may differ, as logarithms, beyond
	// what their scatter explains.
	sameMean = 0.03
)

// Warmup watches the warm-up of a run until it has settled. It is used by one goroutine.
type Warmup struct{ rates, tails []float64 }

// Add takes a whole second: units per second and the 99th percentile of the response
// time. It reports whether both have settled. While nothing is done they have not, however
// level that may be.
func (w *Warmup) Add(perSecond float64, p99 time.Duration) bool {
	if perSecond <= 0 && len(w.rates) == 0 {
		return false
	}
	w.rates = append(w.rates, math.Log(math.Max(perSecond, 1e-3)))
	w.tails = append(w.tails, math.Log(math.Max(float64(p99), 1)))
	if len(w.rates) < leastLevel || perSecond <= 0 {
		return false
	}
	from := max(truncation(w.rates), truncation(w.tails))
	if left := len(w.rates) - from; float64(left) < levelShare*float64(from) {
		return false
	}
	return level(w.rates[from:]) && level(w.tails[from:])
}

// truncation returns how many values MSER leaves out at the beginning: as many as
// minimize the squared standard error of the mean of the rest. At least leastLevel
// values are left.
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

// level reports whether both halves of a series have the same mean, as far as their
// scatter can tell.
func level(v []float64) bool {
	d := stat.Between(v[:len(v)/2], v[len(v)/2:])
	return math.Abs(d.Value) <= math.Max(sameMean, 2*d.SE)
}
