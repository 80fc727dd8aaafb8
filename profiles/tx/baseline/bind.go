package baseline

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// primitives are the calls of the suite on one kind of store.
type primitives interface {
	// Spaces are those that the calls write, create makes them.
	Spaces() []ownership.Space
	Create(ctx context.Context) error
	// title and note are for the report.
	title(row *SuiteRow) string
	note(row *SuiteRow) string
	// caller makes one client's call.
	caller(row *SuiteRow) (func(ctx context.Context, it *workload.Iteration) (int, error), error)
}

// run is a baseline plan at work on one store.
type run struct {
	s     *Spec
	calls primitives
	rows  []*rowWork
	// sagas are the transactions of the ceiling, beneath what verifies them; nil: there are none.
	sagas   *saga.Run
	beneath workload.Parts
	saved   []int64 // sagas saved by each client of tx-save
	mu      sync.Mutex
	last    common.Usage // at the end; guarded by mu
}

// bind connects a plan to a store. The transactions of the ceiling are
// bound as those of mode=saga.
func bind(c store.Conn, p *workload.Plan, s *Spec, pr primitives, l *model.Adapter, m common.Meter) error {
	b := &run{s: s, calls: pr, saved: make([]int64, workload.MaxThreads)}
	for i := range p.Phases {
		name := p.Phases[i].Name
		w := &rowWork{name: name, title: name, depth: 1, meter: m}
		b.rows = append(b.rows, w)
		if i < len(s.Rows) {
			row := &s.Rows[i]
			w.title, w.depth, w.note = pr.title(row), row.Depth, pr.note(row)
			p.Phases[i].Tracks[0].NewTask = func(int) (workload.Task, error) {
				call, err := pr.caller(row)
				return &rowTask{w, w.tally(), call}, err
			}
		}
	}
	distinct(b.rows)
	p.Claims = pr.Spaces()
	if s.saga != nil {
		b.sagas = saga.NewRun(s.saga, l, m)
		var claims []ownership.Space
		claims, b.beneath = b.sagas.Parts(c)
		p.Claims = append(p.Claims, claims...)
		b.bindSagaRows(p, l)
	}
	p.Parts = append(workload.Parts{b}, b.beneath...)
	return nil
}

// bindSagaRows sets the rows of the ceiling to work: each script alone, and whole
// transactions.
func (b *run) bindSagaRows(p *workload.Plan, l *model.Adapter) {
	n := len(b.s.Rows)
	call := func(at int, f func(ctx context.Context, st *model.Store, worker int, s *model.Saga) error) {
		w := b.rows[n+at]
		p.Phases[n+at].Tracks[0].NewTask = func(worker int) (workload.Task, error) {
			s, st := &model.Saga{}, l.Open()
			return &rowTask{w, w.tally(), func(ctx context.Context, _ *workload.Iteration) (int, error) { return 1, f(ctx, &st, worker, s) }}, nil
		}
	}
	sp := b.s.saga
	fresh := func(worker int, seq int64, s *model.Saga) {
		now := time.Now()
		// Beyond the numbers of the workers that run whole transactions.
		s.Reset(string(model.AppendGid(nil, sp.Stamp, worker+workload.MaxThreads, seq)), int(seq+int64(worker))%sp.Shards, sp.Branches, now)
		s.Empty, s.Interval, s.Next = true, sp.Retry, now.Add(time.Hour) // nobody else is to take them up
	}
	call(0, func(ctx context.Context, st *model.Store, worker int, s *model.Saga) error {
		fresh(worker, b.saved[worker], s)
		b.saved[worker]++
		return st.Save(ctx, s)
	})
	call(1, func(ctx context.Context, st *model.Store, worker int, s *model.Saga) error {
		if b.saved[worker] == 0 {
			return workload.ErrDone
		}
		if s.Gid == "" {
			fresh(worker, 0, s)
		}
		r := &s.Rows[model.Action(0)]
		r.Status, r.Ended = model.Succeed, time.Now()
		return st.Branch(ctx, s, model.Action(0))
	})
	call(2, func(ctx context.Context, st *model.Store, worker int, s *model.Saga) error {
		if b.saved[worker] == 0 {
			return workload.ErrDone
		}
		b.saved[worker]--
		fresh(worker, b.saved[worker], s)
		s.Status, s.Ended = model.Succeed, time.Now()
		return st.Change(ctx, s, model.Submitted)
	})
	for _, at := range []int{3, 4} {
		w, threads := b.rows[n+at], (at-3)*workload.MaxThreads/2
		p.Phases[n+at].Tracks[0].NewTask = func(worker int) (workload.Task, error) {
			task, t := b.sagas.NewTask(worker+threads), w.tally()
			return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
				w.enter(ctx, it)
				err := task.Do(ctx, it)
				w.leave(t, it, 1, err)
				return err
			}), nil
		}
	}
}

// Setup makes what the calls write.
func (b *run) Setup(ctx context.Context, _ func(done, total int64)) error {
	return fault.Code(b.calls.Create(ctx), fault.CodeStore)
}

// Verify notes what the server has done, and verifies the transactions of the ceiling, if there are
// any.
func (b *run) Verify(ctx context.Context) workload.Verification {
	u := b.rows[0].meter.Usage(ctx)
	b.mu.Lock()
	b.last = u
	b.mu.Unlock()
	if b.sagas == nil {
		return workload.Verification{State: workload.Skipped, Summary: "these calls leave nothing that could be verified"}
	}
	return b.beneath.Verify(ctx)
}

// Facts is the record of mode=baseline in run.json. docs/tx-baseline.md describes it.
type Facts struct {
	Schema  int        `json:"schema"`
	Mode    string     `json:"mode"`
	Cores   int        `json:"cores"`
	Rows    []RowFacts `json:"rows"`
	Ceiling *Ceiling   `json:"ceiling,omitempty"`
}

// RowFacts is one row of the suite.
type RowFacts struct {
	Row   string `json:"row"`
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	// Depth is how many calls were sent together.
	Depth     int     `json:"depth"`
	Clients   int     `json:"clients"`
	Calls     int64   `json:"calls"`
	Errors    int64   `json:"errors"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"calls_per_s"`
	// CV is the spread of three stretches of the row; -1: too short to tell.
	CV float64 `json:"cv"`
	// ClientUS and ServerUS are CPU microseconds a call; -1: not told.
	ClientUS float64 `json:"client_cpu_us"`
	ServerUS float64 `json:"server_cpu_us"`
	// ClientBusy and ServerBusy are cores in use.
	ClientBusy float64 `json:"client_cores"`
	ServerBusy float64 `json:"server_cores"`
	// Invalid says why the row has no rate; empty when it has one.
	Invalid string `json:"invalid,omitempty"`
}

// judge takes the rate from a row that had errors: they are no calls.
func (r *RowFacts) judge() {
	if r.Errors > 0 {
		r.Invalid, r.PerSecond = fmt.Sprintf("%d calls failed", r.Errors), 0
	}
}

// Facts returns the record of what has been done so far.
func (b *run) Facts(*measure.Result) any {
	f := &Facts{Schema: 1, Mode: Mode, Cores: runtime.GOMAXPROCS(0), Rows: []RowFacts{}}
	b.mu.Lock()
	last := b.last
	b.mu.Unlock()
	for i, w := range b.rows {
		row := w.stats()
		end := last
		if i+1 < len(b.rows) {
			next := b.rows[i+1]
			next.mu.Lock()
			end = next.begin
			next.mu.Unlock()
		}
		w.mu.Lock()
		begin := w.begin
		w.mu.Unlock()
		if n := float64(row.Calls); n > 0 && !begin.At.IsZero() && !end.At.IsZero() {
			wall := end.At.Sub(begin.At).Seconds()
			row.ClientUS, row.ClientBusy = (end.Client-begin.Client)/n*1e6, (end.Client-begin.Client)/wall
			if begin.CPU >= 0 && end.CPU >= begin.CPU {
				row.ServerUS, row.ServerBusy = (end.CPU-begin.CPU)/n*1e6, (end.CPU-begin.CPU)/wall
			}
		}
		f.Rows = append(f.Rows, row)
	}
	if b.s.saga != nil {
		f.Ceiling = ceiling(f, b.s.saga.Branches, last.Usage, b.rows[0].meter.Commits)
	}
	for i := range f.Rows {
		f.Rows[i].judge()
	}
	return f
}
