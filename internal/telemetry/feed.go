package telemetry

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Source is a run whose figures are exported.
type Source struct {
	// Run is the run as known when it begins.
	Run rundir.Run
	// Operations are those of the plan; Counts holds for each whether it counts in
	// totals.
	Operations []measure.Operation
	Counts     []bool
	// Verdict returns the verdict on the run so far. Any goroutine may call it.
	Verdict func() rundir.Verdict
}

// Feed takes the figures of one run. A nil Feed ignores them. Its methods may be called
// from any goroutine.
type Feed struct {
	Source
	began time.Time

	mu     sync.Mutex
	times  []times
	second []measure.Row
	totals []measure.Totals // without their summaries of times
	errors []measure.ErrorCount
	// samples are those of the last second sampled.
	samples []rundir.Sample
	// ended is the verdict of a run that is over.
	ended *rundir.Verdict
	// snapshot returns the newest state of the run; nil before it has started. changed
	// and noted hold when its changes and marks were made, in seconds since 1970.
	snapshot       func() *measure.Snapshot
	changed, noted []float64
}

// times are those of an operation, in the order of timeNames.
type times [4]*histogram

func newFeed(s Source) *Feed {
	f := &Feed{Source: s, began: time.Now(), times: make([]times, len(s.Operations)), snapshot: func() *measure.Snapshot { return &measure.Snapshot{} }}
	for i := range f.times {
		for j := range f.times[i] {
			f.times[i][j] = newHistogram()
		}
	}
	return f
}

// Goes reports that the run has started, and how to get its newest state from any
// goroutine.
func (f *Feed) Goes(snapshot func() *measure.Snapshot) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.snapshot = snapshot
}

// Second takes one finished second, to which it keeps no reference. Calls must come in
// order.
func (f *Feed) Second(s *measure.Second) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stamp()
	f.second = slices.Clone(s.Rows)
	if s.Warmup {
		return
	}
	for _, in := range s.Intervals {
		if i := slices.Index(f.Operations, in.Op); i >= 0 {
			t := &f.times[i]
			addTwo(in.Response, in.Service, t[0], t[1])
			addTwo(in.Wait, in.Lateness, t[2], t[3])
		}
	}
	if s.Result != nil {
		f.totals, f.errors = slices.Clone(s.Result.Ops), slices.Clone(s.Result.Errors)
	}
}

// addTwo adds a to the histogram x and b to y. In a closed loop a and b are the same.
func addTwo(a, b *hdrhistogram.Histogram, x, y *histogram) {
	if a == b {
		add(a, x, y)
		return
	}
	add(a, x)
	add(b, y)
}

// Sampled takes the samples of a second, replacing the previous ones.
func (f *Feed) Sampled(samples []rundir.Sample) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.samples = slices.Clone(samples)
}

// End takes the verdict of a run that has been verified and judged.
func (f *Feed) End(v rundir.Verdict) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stamp()
	f.ended, f.second, f.samples = &v, nil, nil
}

// stamp notes when new changes and marks were made. Their time by the run's clock may
// change later, when a warm-up ends itself. The caller holds mu.
func (f *Feed) stamp() {
	s := f.snapshot()
	began := time.Now().Add(-s.At)
	at := func(d time.Duration) float64 { return float64(began.Add(d).UnixMilli()) / 1000 }
	list := joined(s.Changes)
	for i := len(f.changed); i < len(list); i++ {
		f.changed = append(f.changed, at(list[i].At))
	}
	for i := len(f.noted); i < len(s.Marks); i++ {
		f.noted = append(f.noted, at(s.Marks[i].At))
	}
}

// state is a copy of what a feed holds.
type state struct {
	times   []times
	second  []measure.Row
	totals  []measure.Totals
	errors  []measure.ErrorCount
	samples []rundir.Sample
	ended   *rundir.Verdict
	// snapshot is the state of the run; only those of its changes and notes are
	// exported for which the time is known.
	snapshot       *measure.Snapshot
	changed, noted []float64
}

// state copies what the feed holds, so that exporting does not hold up the run.
func (f *Feed) state() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := state{slices.Clone(f.times), f.second, f.totals, f.errors, f.samples, f.ended, f.snapshot(), slices.Clip(f.changed), slices.Clip(f.noted)}
	for i := range s.times {
		for j, h := range s.times[i] {
			s.times[i][j] = h.clone()
		}
	}
	return s
}
