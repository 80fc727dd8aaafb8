package tx

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// primitives are the calls of the suite on one kind of store.
type primitives interface {
	// spaces are those that the calls write, create makes them.
	spaces() []place.Space
	create(ctx context.Context) error
	// title and note are for the report.
	title(row *suiteRow) string
	note(row *suiteRow) string
	// caller makes one client's call.
	caller(row *suiteRow) (func(ctx context.Context, it *workload.Iteration) (int, error), error)
}

// baselineRun is a baseline plan at work on one store.
type baselineRun struct {
	s     *baselineSpec
	rows  []*rowWork
	sagas *sagaRun
	saved []int64 // sagas saved by each client of tx-save
	mu    sync.Mutex
	last  usage // at the end; guarded by mu
}

// bindBaseline connects a plan to a store. The transactions of the ceiling are
// bound as those of mode=saga.
func bindBaseline(c store.Conn, p *workload.Plan, s *baselineSpec, pr primitives, l *sagaLayer, m meter) error {
	b := &baselineRun{s: s, saved: make([]int64, workload.MaxThreads)}
	for i := range p.Phases {
		name := p.Phases[i].Name
		w := &rowWork{name: name, title: name, depth: 1, meter: m}
		b.rows = append(b.rows, w)
		if i < len(s.rows) {
			row := &s.rows[i]
			w.title, w.depth, w.note = pr.title(row), row.depth, pr.note(row)
			p.Phases[i].Tracks[0].NewTask = func(int) (workload.Task, error) {
				call, err := pr.caller(row)
				return &rowTask{w, w.tally(), call}, err
			}
		}
	}
	distinct(b.rows)
	sub := &workload.Plan{Phases: p.Phases}
	if s.saga != nil {
		b.sagas = newSagaRun(s.saga, l, m)
		bindSagaRun(c, sub, b.sagas)
		b.bindSagaRows(p, l)
	}
	b.setUp(p, sub, pr)
	p.Facts = func() any { return b.facts() }
	return nil
}

// bindSagaRows sets the rows of the ceiling to work: each script alone, and whole
// transactions.
func (b *baselineRun) bindSagaRows(p *workload.Plan, l *sagaLayer) {
	n := len(b.s.rows)
	call := func(at int, f func(ctx context.Context, st *sagaStore, worker int, s *saga) error) {
		w := b.rows[n+at]
		p.Phases[n+at].Tracks[0].NewTask = func(worker int) (workload.Task, error) {
			s, st := &saga{}, l.open()
			return &rowTask{w, w.tally(), func(ctx context.Context, _ *workload.Iteration) (int, error) { return 1, f(ctx, &st, worker, s) }}, nil
		}
	}
	sp := b.s.saga
	fresh := func(worker int, seq int64, s *saga) {
		now := time.Now()
		// Beyond the numbers of the workers that run whole transactions.
		s.reset(string(appendGid(nil, sp.stamp, worker+workload.MaxThreads, seq)), int(seq+int64(worker))%sp.shards, sp.branches, now)
		s.empty, s.interval, s.next = true, sp.retry, now.Add(time.Hour) // nobody else is to take them up
	}
	call(0, func(ctx context.Context, st *sagaStore, worker int, s *saga) error {
		fresh(worker, b.saved[worker], s)
		b.saved[worker]++
		return st.Save(ctx, s)
	})
	call(1, func(ctx context.Context, st *sagaStore, worker int, s *saga) error {
		if b.saved[worker] == 0 {
			return workload.ErrDone
		}
		if s.gid == "" {
			fresh(worker, 0, s)
		}
		r := &s.rows[action(0)]
		r.status, r.ended = succeed, time.Now()
		return st.Branch(ctx, s, action(0))
	})
	call(2, func(ctx context.Context, st *sagaStore, worker int, s *saga) error {
		if b.saved[worker] == 0 {
			return workload.ErrDone
		}
		b.saved[worker]--
		fresh(worker, b.saved[worker], s)
		s.status, s.ended = succeed, time.Now()
		return st.Change(ctx, s, submitted)
	})
	for _, at := range []int{3, 4} {
		w, threads := b.rows[n+at], (at-3)*workload.MaxThreads/2
		p.Phases[n+at].Tracks[0].NewTask = func(worker int) (workload.Task, error) {
			task, t := b.sagas.newTask(worker+threads), w.tally()
			return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
				w.enter(ctx, it)
				err := task.Do(ctx, it)
				w.leave(t, it, 1, err)
				return err
			}), nil
		}
	}
}

func (b *baselineRun) setUp(p, sub *workload.Plan, pr primitives) {
	p.Claims, p.Admit, p.Teardown = append(pr.spaces(), sub.Claims...), sub.Admit, sub.Teardown
	p.Setup = func(ctx context.Context, progress func(done, total int64)) error {
		if err := pr.create(ctx); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		if sub.Setup == nil {
			return nil
		}
		return sub.Setup(ctx, progress)
	}
	p.Verify = func(ctx context.Context) workload.Verification {
		u := b.rows[0].meter.usage(ctx)
		b.mu.Lock()
		b.last = u
		b.mu.Unlock()
		if sub.Verify != nil {
			return sub.Verify(ctx)
		}
		return workload.Verification{State: workload.Skipped, Summary: "these calls leave nothing that could be verified"}
	}
}

// BaselineFacts is the record of mode=baseline in run.json. docs/tx.md describes it.
type BaselineFacts struct {
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

func (b *baselineRun) facts() *BaselineFacts {
	f := &BaselineFacts{Schema: 1, Mode: modeBaseline, Cores: runtime.GOMAXPROCS(0), Rows: []RowFacts{}}
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
		if n := float64(row.Calls); n > 0 && !begin.at.IsZero() && !end.at.IsZero() {
			wall := end.at.Sub(begin.at).Seconds()
			row.ClientUS, row.ClientBusy = (end.client-begin.client)/n*1e6, (end.client-begin.client)/wall
			if begin.CPU >= 0 && end.CPU >= begin.CPU {
				row.ServerUS, row.ServerBusy = (end.CPU-begin.CPU)/n*1e6, (end.CPU-begin.CPU)/wall
			}
		}
		f.Rows = append(f.Rows, row)
	}
	if b.s.saga != nil {
		f.Ceiling = ceiling(f, b.s.saga.branches, last.Usage, b.rows[0].meter.commits)
	}
	for i := range f.Rows {
		f.Rows[i].judge()
	}
	return f
}
