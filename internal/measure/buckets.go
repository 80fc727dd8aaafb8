package measure

import "github.com/HdrHistogram/hdrhistogram-go"

// Buckets calls each with every bucket in use of a histogram that NewHistogram made: its
// smallest and its largest value in nanoseconds, and how many values lie in it. It only
// reads h, and takes a tenth of a millisecond.
func Buckets(h *hdrhistogram.Histogram, each func(low, high, n int64)) {
	for i, n := range h.Export().Counts {
		if n != 0 {
			low := lowestAt(i)
			each(low, low+sizeAt(i)-1, n)
		}
	}
}
