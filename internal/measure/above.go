package measure

import "github.com/HdrHistogram/hdrhistogram-go"

// Above counts the values of a histogram that are higher than a limit in nanoseconds, as
// far as its precision tells them apart from it. nil has none.
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
