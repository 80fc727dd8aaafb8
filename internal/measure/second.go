package measure

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Second is one finished second of a run, as handed to the journal. The Second
// and its histograms are valid only during the call.
type Second struct {
	// T is the start of the second, in whole seconds since measurement began;
	// negative during warm-up.
	T int
	// Length is 1, except for the last second of a run.
	Length float64
	Warmup bool
	// Rows holds one row for each operation whose track ran in the second.
	Rows []Row
	// Intervals holds the histograms of the operations that recorded anything;
	// there are none during warm-up.
	Intervals []Interval
	// Failed are the calls that failed in it, by operation and class; there are none during warm-up.
	// Of a run that several processes carry out, some may be those of the second before or after.
	Failed []ErrorCount
	// Result is the result of the run up to and including this second.
	Result *Result
}

// Interval holds the histograms of one operation over one second, in nanoseconds.
type Interval struct {
	Op                                Operation
	Response, Service, Wait, Lateness *hdrhistogram.Histogram
}

// window is the second that is open, and what has ended since its end.
type window struct {
	ops    int
	second int           // the open second
	end    int64         // of it
	accs   []accumulator // for it and the seconds after it
}

func newWindow(ops, first int) window {
	w := window{ops: ops, second: first, accs: []accumulator{newAccumulator(ops), newAccumulator(ops)}}
	w.open()
	return w
}

// open computes the end of the open second.
func (w *window) open() { w.end = int64(w.second+1) * int64(time.Second) }

// mostAhead is how many seconds after the open one are kept apart; samples that ended later
// join the last of them.
const mostAhead = 32

// later returns the accumulator for a moment after the open second: usually the next
// one, later ones if a sink has held up the collector. Measured samples are never
// put into warm-up, where they would be lost.
func (w *window) later(at int64, warm bool) *accumulator {
	n := min(floorSecond(at)-w.second, mostAhead)
	if !warm {
		n = max(n, -w.second)
	}
	for len(w.accs) <= n {
		w.accs = append(w.accs, newAccumulator(w.ops))
	}
	return &w.accs[n]
}

// next opens the second after the one that has just been closed.
func (w *window) next() {
	w.second++
	used := w.accs[0]
	w.accs = slices.Delete(w.accs, 0, 1)
	if len(w.accs) == 1 { // usually; those added because of a delay are not kept
		used.reset()
		w.accs = append(w.accs, used)
	}
	w.open()
}

// counts adds an operation's counts in the second in progress, and of what has ended since.
func (w *window) counts(to *Totals, op int) {
	for i := range w.accs {
		for _, t := range w.accs[i].ops[op] {
			to.Count, to.Errors = to.Count+t.count, to.Errors+t.errors
		}
	}
}
