package measure

import "github.com/HdrHistogram/hdrhistogram-go"

// Sum is a running sum of histograms made by NewHistogram. Adding one is one pass over its counts: the
// library takes a millisecond to merge two. The zero Sum has none.
type Sum struct{ sum *hdrhistogram.Snapshot }

// Add adds a histogram, which it only reads. A nil one has no values.
func (s *Sum) Add(h *hdrhistogram.Histogram) {
	switch {
	case h == nil:
	case s.sum == nil:
		s.sum = h.Export()
	case h.TotalCount() > 0:
		for i, n := range h.Export().Counts {
			s.sum.Counts[i] += n
		}
	}
}

// Histogram returns the sum as it is now, which is new; nil if nothing was added.
func (s *Sum) Histogram() *hdrhistogram.Histogram {
	if s.sum == nil {
		return nil
	}
	return hdrhistogram.Import(s.sum)
}

// Merge returns the sum of histograms; if all are nil, so is the sum.
func Merge(all ...*hdrhistogram.Histogram) *hdrhistogram.Histogram {
	var sum Sum
	for _, h := range all {
		sum.Add(h)
	}
	return sum.Histogram()
}
