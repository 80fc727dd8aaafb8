package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/remote/view"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// Opened is a prepared run that has its store: it is connected, its plan is bound and set
// up, its spaces are claimed, its folder is there, remote workers have joined, and nothing
// is measured yet. Drive or Abandon must follow. Its exported methods may be called from
// any goroutine.
type Opened struct {
	*Prepared
	// Info is what the store reported about itself at the start.
	Info store.Info
	// Notices are sentences to show, which reports repeat.
	Notices []string

	conn store.Conn
	// close closes conn, once. release keeps an interrupt from doing so; false: it already
	// has.
	close   func() error
	release func() bool
	// plan is Plan bound to conn.
	plan    *workload.Plan
	lease   lease
	journal *rundir.Journal
	// crew does the work; nil: this process does. shown is the constant part of what is
	// reported to those who watch the run.
	// told means that it was told to begin.
	crew    *crew.Crew
	told    bool
	shown   view.View
	sampler *Sampler
	ceiling *ceiling
	heap    heap
	// measured is what has been measured up to the last finished second; nil before there is one.
	measured atomic.Pointer[measure.Result]
	// first is the first second that this session sees itself, of a run that it goes on with.
	first int
}

// Progress says how far a start has come.
type Progress struct {
	// Stage says what is being done: "connecting", "preparing".
	Stage string
	// Done and Total count what the stage works through; Total is 0 when unknown.
	Done, Total int64
	// Note is a sentence that somebody has to act on, such as where workers join;
	// empty: none.
	Note string
}

// Start opens the run and drives it. Cancelling ctx later stops the run gracefully with
// the context's cause. A start that fails leaves nothing on the disk. progress may be nil
// and may be called from any goroutine. Start must be called only once.
func (p *Prepared) Start(ctx context.Context, progress func(Progress)) (*Driven, error) {
	o, err := p.Open(ctx, progress)
	if err != nil {
		return nil, err
	}
	return o.Drive(ctx)
}

// Open connects to the store, makes the run directory, binds the plan, claims its spaces,
// sets it up, and waits for remote workers. An error undoes what was done until then.
func (p *Prepared) Open(ctx context.Context, progress func(Progress)) (*Opened, error) {
	report := serially(progress)
	o := &Opened{Prepared: p, first: math.MinInt}
	report(Progress{Stage: "connecting"})
	if err := o.connect(ctx); err != nil {
		return nil, p.hide(caused(ctx, err))
	}
	o.close = sync.OnceValue(o.conn.Close)
	// A call in progress may ignore its context, so an interrupt closes the connection.
	o.release = context.AfterFunc(ctx, func() { _ = o.close() })
	var err error
	if o.Info, err = o.conn.Info(ctx); err != nil {
		err = fault.Code(fmt.Errorf("ask %s what it is: %w", o.Target, err), fault.CodeStore)
	}
	o.heap = heap{info: &o.Info, agent: p.Inputs.Agent, bytes: p.Plan.Bytes}
	o.ceiling = newCeiling(p)
	switch {
	case err != nil:
	case p.restored != nil:
		err = o.resume(ctx, report)
	default:
		err = o.begin(ctx, report)
	}
	if err != nil {
		return nil, o.fail(ctx, err)
	}
	return o, nil
}

// caused returns the cause of a cancelled context in preference to the resulting error.
func caused(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fault.Code(fmt.Errorf("before the run began: %w", cause), codeOfCause(cause))
	}
	return err
}

// serially makes progress safe to call from any goroutine.
func serially(progress func(Progress)) func(Progress) {
	var mu sync.Mutex
	return func(g Progress) {
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			progress(g)
		}
	}
}

// connect opens the store. A driver that ignores the end of its context is left behind.
func (o *Opened) connect(ctx context.Context) error {
	driver, target := o.Driver, o.Target
	if o.binding.Target != "" {
		var err error
		if target, driver, err = o.env.Drivers.Parse(o.binding.Target); err != nil {
			return err
		}
	}
	type result struct {
		conn store.Conn
		err  error
	}
	if o.binding.Target == "" { // nobody else has a store of this process
		o.lease.fence = store.NewFence()
	}
	opts := store.OpenOptions{Threads: o.Threads(), Log: o.env.Log, Agent: o.Inputs.Agent, Fence: o.lease.fence}
	done := make(chan result, 1) // one value: the sender never waits
	go func() {
		conn, err := driver.Open(ctx, target, opts)
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		o.conn = r.conn
		return fault.Code(r.err, fault.CodeStore)
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				_ = r.conn.Close()
			}
		}()
		return ctx.Err()
	}
}

// begin makes a new run from its first check against the store to the point where
// measuring can begin.
func (o *Opened) begin(ctx context.Context, report func(Progress)) error {
	if o.binding.Target != "" && o.Info.NoFigure == "" {
		o.Info.NoFigure = "The store was " + o.Info.Name + ", embedded in perfbench; these numbers do not describe a real server."
	}
	if free := o.Info.FreeBytes; o.Info.NoFigure != "" && free > 0 && o.Plan.Bytes > free {
		return fault.Input(fmt.Errorf("this run would store %s in perfbench itself, and this machine has %s of memory free", units.Size(o.Plan.Bytes), units.Size(free)),
			"store less, or name a server with --target")
	}
	if err := foresee(o.Plan, o.Timetable, store.FreeMemory(), freeIn(&o.Info)); err != nil {
		return err
	}
	o.Notices = o.notices(ctx)
	if o.Info.NoFigure == "" {
		o.ceiling.calibrate(ctx)
	}
	var err error
	if o.journal, err = rundir.Create(o.journalled(o.model())); err != nil {
		return err
	}
	if err := o.setUp(ctx, report); err != nil {
		return err
	}
	if err := o.gather(ctx, report); err != nil {
		return err
	}
	if warm, ok := store.Has[store.Warmer](o.conn); ok && o.crew == nil {
		if err := warm.Warm(ctx, int(Settings(o.plan)["threads"])); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if !o.release() { // interrupted: later than this, a run would end gracefully
		return context.Cause(ctx)
	}
	o.beginSampling(ctx)
	return nil
}

// notices are the sentences to show before a new run begins.
func (o *Opened) notices(ctx context.Context) []string {
	var out []string
	if o.Info.NoFigure != "" {
		out = append(out, o.Info.NoFigure)
	}
	out = append(out, o.Info.Warnings...)
	if free := o.Info.FreeBytes; free > 0 && o.Plan.Bytes > free/2 {
		out = append(out, fmt.Sprintf("this run stores %s, more than half of the %s that %s has free", units.Size(o.Plan.Bytes), units.Size(free), o.Info.Name))
	}
	if n := o.heap.notice(ctx, o.env.Log); n != "" {
		out = append(out, n)
	}
	if limit := self.FileLimit(); limit > 0 && int64(o.Threads()) > limit/2 {
		out = append(out, fmt.Sprintf("this run may open %d connections, more than half of the %d files that the process may have open", o.Threads(), limit))
	}
	return dedupe(append(out, o.Warnings...))
}

// bind connects the plan to the store.
func (o *Opened) bind(ctx context.Context, run string) error {
	plan, err := o.Plan.Bind(ctx, o.Driver.Name, o.conn, run)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	o.plan, o.lease.keeper = plan, plan.Keeps
	return nil
}

// setUp binds the plan, now that the run has an id, claims its spaces, and prepares the
// store.
func (o *Opened) setUp(ctx context.Context, report func(Progress)) error {
	if err := o.bind(ctx, o.ID()); err != nil {
		return err
	}
	if err := o.claim(ctx, report); err != nil {
		return err
	}
	if o.plan.Setup == nil {
		return nil
	}
	report(Progress{Stage: "preparing"})
	ctx, free := o.lease.whileOurs(ctx)
	defer free()
	return fault.Code(o.plan.Setup(ctx, func(done, total int64) { report(Progress{Stage: "preparing", Done: done, Total: total}) }), fault.CodeStore)
}

// model returns the run as far as it is known before it begins.
func (o *Opened) model() rundir.Run {
	run := o.Model()
	run.Store = rundir.Store{
		Name: o.Driver.Name, Product: o.Info.Name, Version: o.Info.Version,
		Topology: o.Info.Topology, Details: o.Info.Details, InProcess: o.Info.NoFigure != "",
	}
	run.Notices = o.Notices
	return run
}

// journalled returns the options for writing the run's journal.
func (o *Opened) journalled(run rundir.Run) rundir.Options {
	return rundir.Options{
		Out: o.Out, Run: run, Operations: o.Plan.Operations(), Formats: o.Formats, Given: o.Given, Open: o.WarmsItself(), Explain: explain.Of,
		Facts: o.facts,
	}
}

// facts is the plan's own record; nil: there is none.
func (o *Opened) facts() any {
	switch {
	case o.restored.verified() != nil:
		return o.restored.kept.Facts
	case o.plan == nil || o.plan.Facts == nil:
		return nil
	}
	return o.plan.Facts(o.measured.Load())
}

// fail abandons a start because of an error, and returns the error to show.
func (o *Opened) fail(ctx context.Context, because error) error {
	o.release()
	return o.hide(caused(ctx, errors.Join(because, o.Abandon(ctx, because))))
}

// Abandon undoes Open, for a reason that the store is told: of a new run nothing stays. A
// run that was to be resumed stays as it was, so that this can be tried again.
func (o *Opened) Abandon(ctx context.Context, because error) error {
	if o.restored != nil {
		o.crew.Leave()
		return errors.Join(o.lease.leave(ctx), o.Forget(), o.close())
	}
	if o.told {
		o.crew.Rest()
		o.lease.endWorkers(ctx, o.crew, nil, o.env.Log)
	}
	err := o.lease.abandon(ctx, because)
	if o.journal != nil {
		err = errors.Join(err, o.journal.Discard())
	}
	o.crew.Close()
	return errors.Join(err, o.close())
}

// Dir is the run directory.
func (o *Opened) Dir() string { return o.journal.Dir() }

// ID is the id of the run.
func (o *Opened) ID() string { return o.journal.Run().ID }

// Bound returns the plan being run.
func (o *Opened) Bound() *workload.Plan { return o.plan }

// Pool returns the statistics of the connection pool; false if the store has none.
func (o *Opened) Pool() (store.PoolStats, bool) {
	if p, ok := store.Has[store.Pooled](o.conn); ok {
		return p.Pool(), true
	}
	return store.PoolStats{}, false
}
