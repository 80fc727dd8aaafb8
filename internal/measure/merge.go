package measure

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Merge returns the sum of histograms made by NewHistogram, in one pass over their counts: the
// library takes a millisecond to merge two. It only reads them, and what it returns is new. Nil
// ones have no values; if all are nil, so is the sum.
func Merge(all ...*hdrhistogram.Histogram) *hdrhistogram.Histogram {
	all = slices.DeleteFunc(slices.Clone(all), func(h *hdrhistogram.Histogram) bool { return h == nil })
	if len(all) == 0 {
		return nil
	}
	sum := all[0].Export()
	for _, h := range all[1:] {
		if h.TotalCount() == 0 {
			continue
		}
		for i, n := range h.Export().Counts {
			sum.Counts[i] += n
		}
	}
	return hdrhistogram.Import(sum)
}
