// Package baseline measures the calls of which transactions consist, and computes from
// them how fast the transaction could be.
package baseline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Mode is the name of the mode.
const Mode = "baseline"

const baselineSpace = "baseline"

// Rows from which the ceiling is computed, in addition to those of the suite.
const (
	rowSave     = "tx-save"
	rowBranch   = "tx-branch"
	rowFinish   = "tx-finish"
	rowUnloaded = "saga-unloaded"
	rowSaga     = "saga"
)

// Spec is what Design worked out about a baseline run. It is not modified afterwards.
type Spec struct {
	namespace string
	allow     bool
	Rows      []SuiteRow
	saga      *model.Spec // nil: no ceiling
	threads   int
}

// Space returns the space of keys to which the rows write.
func (s *Spec) Space() store.Space {
	return store.Space{Namespace: s.namespace, Name: baselineSpace, Shape: store.Keys, Grouped: true}
}

// bare reports whether keys are the published ones, without a prefix.
func (s *Spec) bare() bool { return s.namespace == "" }

// key returns the key of a row as sent to a store of keys.
func (s *Spec) key(row *SuiteRow) string {
	if s.bare() {
		return row.ownKey()
	}
	return redis.KeyOf(s.Space()) + ":" + part(row)
}

// part returns the part of a row's key that follows that of the space.
func part(row *SuiteRow) string { return "{0}" + row.ownKey() }

// keys returns f of all rows that write keys, without repetition.
func (s *Spec) keys(f func(row *SuiteRow) string) []string {
	var out []string
	for i := range s.Rows {
		if k := f(&s.Rows[i]); s.Rows[i].Name != "cjson10" && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// Design makes the plan of mode=baseline from values alone. The error names every
// invalid value.
func Design(r *values.Reader, in workload.Inputs) (*workload.Plan, error) {
	s := &Spec{namespace: in.Namespace, allow: in.AllowExisting}
	g := &parameters{}
	g.declare().Read(r)
	s.Rows = g.readRows(r, in.Duration > 0)
	if in.Duration > 0 {
		g.requests = 0
	}
	common.NotLinearizable(r, "the rows of mode=baseline write the same value over and over, so there are no histories that could be checked")
	start := r.Settings(50)
	s.threads = start.Threads
	if start.Rate > 0 {
		r.Blame("rate", "leave out --rate", "rate: mode=baseline measures how fast calls can be, so it has no rate")
	}
	r.Users("mode=baseline measures how fast calls can be, so nobody thinks between them", "leave it out, or use another mode")
	if g.ceiling {
		s.saga = saga.Read(r, in)
		if s.saga.Kind != model.KindSaga {
			r.Blame("transType", "use transType=saga, or mode=saga", "transType: mode=baseline works out how fast sagas could be, not %s", s.saga.Kind.Noun)
		}
		s.saga.Accounts, s.saga.FailRate, s.saga.Check, s.saga.Unruly, s.saga.Start = 0, 0, 0, false, start
	}
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	if len(s.Rows) == 0 && s.saga == nil {
		return nil, fault.Field("rows", fault.Input(errors.New("rows: there is none to measure"), "--set rows=all"))
	}
	return planBaseline(s, start, g.requests, in.Duration), nil
}

// writes describes what the rows of the suite write.
func (s *Spec) writes() string {
	if s.bare() {
		return "one value under each key that the rows have as published, on a store of keys: " + strings.Join(s.keys((*SuiteRow).ownKey), ", ") + "; else " + baselineSpace
	}
	return ownership.Name(s.Space()) + ": some keys of a few bytes"
}

func planBaseline(s *Spec, start workload.Settings, n int64, d time.Duration) *workload.Plan {
	p := &workload.Plan{
		Unit: "calls", Knobs: []workload.Knob{workload.Threads()}, Binder: s, Spaces: []store.Space{s.Space()},
		Documents: []string{formatRedisBenchmark, formatCeiling},
		Writes:    []string{s.writes()},
	}
	add := func(name string, t workload.Track) {
		t.Name = name
		ph := workload.Phase{Name: name, Tracks: []workload.Track{t}}
		if len(p.Phases) > 0 {
			ph.After = []string{p.Phases[len(p.Phases)-1].Name}
		}
		p.Phases = append(p.Phases, ph)
	}
	for _, row := range s.Rows {
		add(row.Name, row.track(start))
	}
	if s.saga != nil {
		for _, name := range []string{rowSave, rowBranch, rowFinish} {
			add(name, workload.Track{Ops: []string{"call"}, Start: start, Iterations: n, Total: n})
		}
		inBaseline := append([]string{"transactions"}, model.SagaUnits[1:]...)
		one := start
		one.Threads = 1
		add(rowUnloaded, workload.Track{Ops: model.SagaOps, OpUnits: inBaseline, Counted: 1, Start: one, Iterations: 300, Total: 300})
		add(rowSaga, workload.Track{Ops: model.SagaOps, OpUnits: inBaseline, Counted: 1, Start: start, Iterations: n, Total: n})
		p.Writes = append(p.Writes, saga.Writes(s.saga))
		p.Spaces = append(p.Spaces, s.saga.Space())
	}
	for i := range p.Phases {
		if d > 0 {
			p.Phases[i].Duration = max(d/time.Duration(len(p.Phases)), time.Millisecond)
		}
	}
	if d == 0 {
		p.Ends = "mode=baseline measures one row after the other, each with its calls"
	}
	return p
}

// rowWork is the work on one row, and its record. It is safe for use by several
// goroutines.
type rowWork struct {
	name, title, note string
	depth             int
	begun             sync.Once
	begin             common.Usage
	meter             common.Meter

	mu      sync.Mutex
	tallies []*rowTally
	first   atomic.Int64
}

// rowTally is what one worker has done. Only the worker writes it; it is read when the
// worker has ended, or when exact numbers do not matter.
type rowTally struct {
	calls, errors atomic.Int64
	last          atomic.Int64
	mu            sync.Mutex
	slices        []int64 // calls in each interval of sliceNS
	_             [64]byte
}

const sliceNS = int64(50 * time.Millisecond)

func (w *rowWork) tally() *rowTally {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &rowTally{}
	w.tallies = append(w.tallies, t)
	return t
}

// enter is called before each call; the first one of a row notes what had been used
// until then.
func (w *rowWork) enter(ctx context.Context, it *workload.Iteration) {
	w.begun.Do(func() {
		u := w.meter.Usage(ctx)
		w.mu.Lock()
		w.begin = u
		w.mu.Unlock()
		w.first.Store(max(it.Now(), 1))
	})
}

func (w *rowWork) leave(t *rowTally, it *workload.Iteration, units int, err error) {
	if it.Warmup {
		return
	}
	now := it.Now()
	t.last.Store(now)
	if err != nil {
		t.errors.Add(1)
		return
	}
	t.calls.Add(int64(units))
	at := int(max(now-w.first.Load(), 0) / sliceNS)
	t.mu.Lock() // uncontended: facts are made once a second
	for len(t.slices) <= at {
		t.slices = append(t.slices, 0)
	}
	t.slices[at] += int64(units)
	t.mu.Unlock()
}

// rowTask is one client of a row: call does one iteration and returns how many calls it
// made.
type rowTask struct {
	w    *rowWork
	t    *rowTally
	call func(ctx context.Context, it *workload.Iteration) (int, error)
}

// Do makes one call, or one batch of them.
func (k *rowTask) Do(ctx context.Context, it *workload.Iteration) error {
	k.w.enter(ctx, it)
	m := it.Begin(0)
	n, err := k.call(ctx, it)
	if errors.Is(err, workload.ErrDone) {
		return err
	}
	err = it.End(m, n, err)
	k.w.leave(k.t, it, n, err)
	return err
}

// stats returns a row's figures.
func (w *rowWork) stats() RowFacts {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := RowFacts{Row: w.name, Title: w.title, Note: w.note, Depth: w.depth, Clients: len(w.tallies), ClientUS: -1, ServerUS: -1, CV: -1}
	var last int64
	var all []int64
	for _, t := range w.tallies {
		f.Calls += t.calls.Load()
		f.Errors += t.errors.Load()
		last = max(last, t.last.Load())
		t.mu.Lock()
		for i, n := range t.slices {
			if i >= len(all) {
				all = append(all, make([]int64, i+1-len(all))...)
			}
			all[i] += n
		}
		t.mu.Unlock()
	}
	if first := w.first.Load(); first > 0 && last > first {
		f.Seconds = float64(last-first) / 1e9
		f.PerSecond = float64(f.Calls) / f.Seconds
	}
	f.CV = spread(all)
	return f
}

// spread returns the coefficient of variation between three parts of a row, without the
// first and the last slice; -1 if the row was too short to tell.
func spread(slices []int64) float64 {
	if len(slices) < 5 {
		return -1
	}
	slices = slices[1 : len(slices)-1]
	third := len(slices) / 3
	var sums [3]float64
	for i := range 3 {
		for _, n := range slices[i*third : (i+1)*third] {
			sums[i] += float64(n)
		}
	}
	mean := (sums[0] + sums[1] + sums[2]) / 3
	if mean == 0 {
		return -1
	}
	var sq float64
	for _, s := range sums {
		sq += (s - mean) * (s - mean)
	}
	return math.Sqrt(sq/2) / mean
}
