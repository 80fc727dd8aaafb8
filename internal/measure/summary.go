package measure

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Highest is the largest value, in nanoseconds, that our histograms hold: one
// hour. Larger values are clipped to it and counted separately.
const Highest = int64(3_600_000_000_000)

// NewHistogram returns an empty histogram of nanoseconds with the range and
// precision that all our histograms have: 0 to one hour, three significant
// digits.
func NewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, Highest, 3) }

// percentiles are those in a Summary, in the order of its fields.
var percentiles = []float64{50, 90, 95, 99, 99.9, 99.99}

// summarized are they between the smallest value and the largest: one look at the counts
// finds them all.
var summarized = slices.Concat([]float64{0}, percentiles, []float64{100})

// Summarize summarizes a histogram of the library. Percentiles are computed here, by At and
// by Percentile, and in hist.summary for the figures of a run, with the same
// numbers, so that all documents and screens agree with each other and with other readers of
// the histogram log: a percentile is the highest value equivalent to the one at that rank.
// For a nil or empty histogram it returns zeros. It only reads h.
func Summarize(h *hdrhistogram.Histogram) Summary {
	if h == nil || h.TotalCount() == 0 {
		return Summary{}
	}
	p := h.ValueAtPercentilesSlice(summarized)
	return Summary{
		Count: h.TotalCount(), Mean: h.Mean(), Min: p[0], Max: p[7],
		P50: p[1], P90: p[2], P95: p[3], P99: p[4], P999: p[5], P9999: p[6],
	}
}

// At returns the values of a histogram at percentiles given in rising order, as Summarize
// computes them; 100 is the largest value. It only reads h, once.
func At(h *hdrhistogram.Histogram, percentiles ...float64) []int64 {
	return h.ValueAtPercentilesSlice(percentiles)
}

// Percentile returns the value of a histogram at one percentile, as Summarize computes it; 0 if
// it is empty. It only reads h.
func Percentile(h *hdrhistogram.Histogram, p float64) int64 { return h.ValueAtPercentile(p) }

// Above counts the values of a histogram that are above a limit in nanoseconds,
// as far as its precision can tell. A nil histogram has none.
func Above(h *hdrhistogram.Histogram, limit int64) int64 {
	if h == nil || limit >= Highest {
		return 0
	}
	n := int64(0)
	for _, c := range h.Export().Counts[indexOf(max(limit, 0))+1:] {
		n += c
	}
	return n
}
