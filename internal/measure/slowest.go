package measure

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Slowest is the response time of a request that makes several calls at once and waits for
// all of them, computed as if the calls were independent of each other. Times are
// nanoseconds, or Hidden where too few calls were timed to tell. If none was, all is 0.
type Slowest struct {
	Calls    int
	P50, P99 int64
}

// parallel is for how many calls at once the slowest is computed.
var parallel = [...]int{5, 20, 100}

// SlowestOf computes the slowest of several calls from the response times of one. It only
// reads h.
func SlowestOf(h *hdrhistogram.Histogram) [len(parallel)]Slowest {
	if h == nil {
		return slowest(0, nil)
	}
	return slowest(h.TotalCount(), h.ValueAtPercentile)
}

// slowest computes the slowest of several calls from the percentiles of n.
func slowest(n int64, at func(percentile float64) int64) (out [len(parallel)]Slowest) {
	of := func(percentile float64, calls int) int64 {
		p := ofOne(percentile, calls)
		if !Enough(p, n) {
			return Hidden
		}
		return at(p)
	}
	if n == 0 {
		return out
	}
	for i, calls := range parallel {
		out[i] = Slowest{Calls: calls, P50: of(50, calls), P99: of(99, calls)}
	}
	return out
}

// NeedsOfSlowest returns how many calls are needed to show a percentile of the slowest of
// several.
func NeedsOfSlowest(percentile float64, calls int) int64 { return Needs(ofOne(percentile, calls)) }

// ofOne returns the percentile of one call that is this percentile of the slowest of several:
// all of them are below it with the probability of one, to the power of their number.
func ofOne(percentile float64, calls int) float64 {
	return 100 * math.Pow(percentile/100, 1/float64(calls))
}
