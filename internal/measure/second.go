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

// Step is the width of timeline buckets while a run is young.
const Step = 200 * time.Millisecond

const (
	stepsEach = int(time.Second / Step) // per second
	youth     = 30                      // how many seconds a run is young
)

// youngFor returns how many seconds of a run have steps. There are none in a run
// carried out by several processes, which exchange whole seconds.
func youngFor(cfg *Config) int {
	if cfg.Increment != nil || cfg.Complete != nil {
		return 0
	}
	return youth
}

// window is the step or second that is open, and what has ended since its end.
type window struct {
	ops    int
	first  int           // the second in which the run began
	second int           // the open second
	step   int           // its open step
	young  int           // how many seconds have steps
	end    int64         // of what is open: a step, or a second that has no steps
	passed int           // how many of these have closed
	accs   []accumulator // for what is open and what comes after it
	sum    accumulator   // of the closed steps of the open second
}

func newWindow(ops, first, young int) window {
	w := window{
		ops: ops, first: first, second: first, young: young,
		accs: []accumulator{newAccumulator(ops), newAccumulator(ops)}, sum: newAccumulator(ops),
	}
	w.open()
	return w
}

// stepped reports whether the open second has steps.
func (w *window) stepped() bool { return w.second < w.first+w.young }

// opened returns the start of what is open.
func (w *window) opened() int64 {
	return int64(w.second)*int64(time.Second) + int64(w.step)*int64(Step)
}

// open computes the end of what is open.
func (w *window) open() {
	w.end = w.opened() + int64(time.Second)
	if w.stepped() {
		w.end = w.opened() + int64(Step)
	}
}

// slot numbers the steps, and after them the seconds, from the beginning of the
// run.
func (w *window) slot(at int64) int {
	second := floorSecond(at)
	n := second - w.first
	if n < w.young {
		return n*stepsEach + int((at-int64(second)*int64(time.Second))/int64(Step))
	}
	return n + w.young*(stepsEach-1)
}

// mostAhead is how many steps or seconds after the open one are kept apart;
// samples that ended later join the last of them.
const mostAhead = 32

// later returns the accumulator for a moment after what is open: usually the next
// one, later ones if a sink has held up the collector. Measured samples are never
// put into warm-up, where they would be lost.
func (w *window) later(at int64, warm bool) *accumulator {
	open := w.slot(w.opened())
	n := min(w.slot(at)-open, mostAhead)
	if !warm {
		n = max(n, w.slot(0)-open)
	}
	for len(w.accs) <= n {
		w.accs = append(w.accs, newAccumulator(w.ops))
	}
	return &w.accs[n]
}

// next opens what comes after what has just been closed.
func (w *window) next() {
	if !w.stepped() {
		w.sum = newAccumulator(w.ops) // its contents are not needed again
	}
	w.passed++
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
	add := func(a *accumulator) {
		for _, t := range a.ops[op] {
			to.Count, to.Errors = to.Count+t.count, to.Errors+t.errors
		}
	}
	add(&w.sum)
	for i := range w.accs {
		add(&w.accs[i])
	}
}

// drawsSteps reports whether timelines are drawn in steps: until the first second without
// steps has closed.
func (w *window) drawsSteps() bool { return w.young > 0 && w.second <= w.first+w.young }
