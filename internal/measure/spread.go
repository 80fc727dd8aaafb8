package measure

import (
	"math"
	"slices"
	"sync"
)

// Spread is the distribution of an operation's response times over some seconds:
// how many calls fell into each band of a logarithmic scale. It is never modified
// once published.
type Spread struct {
	// T is its first second since measurement began, Width how many seconds it covers.
	T, Width int
	// First is the band of Counts[0].
	First  int
	Counts []int64
}

// BandsPerDecade is the resolution of a Spread's scale: a band is 15 % wide.
const BandsPerDecade = 16

// BandEnd returns the upper end of a band in nanoseconds.
func BandEnd(band int) float64 { return math.Pow(10, float64(band)/BandsPerDecade) }

// bandOf maps each bucket of a histogram to its band.
var bandOf = sync.OnceValue(func() []uint16 {
	out := make([]uint16, countsLen)
	for i := range out {
		middle := float64(lowestAt(i)) + float64(sizeAt(i)-1)/2
		out[i] = uint16(max(math.Ceil(math.Log10(max(middle, 1))*BandsPerDecade-1e-9), 0))
	}
	return out
})

// spreadOf computes the Spread of a histogram that is not empty.
func spreadOf(h *hist, second, width int) Spread {
	bands := bandOf()
	lo, hi := int(bands[h.lo]), int(bands[h.hi])
	s := Spread{T: second, Width: width, First: lo, Counts: make([]int64, hi-lo+1)}
	for i := h.lo; i <= h.hi; i++ {
		if n := h.counts[i]; n != 0 {
			s.Counts[int(bands[i])-lo] += n
		}
	}
	return s
}

// Plus returns the sum of two spreads; it covers the seconds of s.
func (s Spread) Plus(o Spread) Spread {
	if len(s.Counts) == 0 || len(o.Counts) == 0 {
		if len(s.Counts) == 0 {
			s.First, s.Counts = o.First, o.Counts
		}
		return s
	}
	lo, hi := min(s.First, o.First), max(s.First+len(s.Counts), o.First+len(o.Counts))
	sum := Spread{T: s.T, Width: s.Width, First: lo, Counts: make([]int64, hi-lo)}
	for _, part := range []Spread{s, o} {
		for i, n := range part.Counts {
			sum.Counts[part.First-lo+i] += n
		}
	}
	return sum
}

// Calls returns how many calls are in s.
func (s Spread) Calls() (n int64) {
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// maxSpreads is how many spreads an operation may have before neighbours are
// joined.
const maxSpreads = 240

// spreads holds the spreads of one operation over the run, in buckets of one
// width; published ones are not modified.
type spreads struct {
	list  []Spread
	width int
}

func (l *spreads) add(h *hist, second int) {
	l.width = max(l.width, 1)
	l.list = l.join(slices.Clip(l.list), spreadOf(h, second, 1))
	for len(l.list) > maxSpreads {
		l.width *= 2
		var wide []Spread
		for _, s := range l.list {
			wide = l.join(wide, s)
		}
		l.list = wide
	}
}

// join appends s, or merges it into the last one if both lie in one bucket and on
// the same side of the end of the warm-up.
func (l *spreads) join(list []Spread, s Spread) []Spread {
	s.T, s.Width = floorTo(s.T, l.width), l.width
	n := len(list)
	if n == 0 || list[n-1].T != s.T {
		return append(list, s)
	}
	return append(slices.Clone(list[:n-1]), list[n-1].Plus(s))
}
