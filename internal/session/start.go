package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/fleet"
	"github.com/perfbench/perfbench/internal/fleet/crew"
	"github.com/perfbench/perfbench/internal/fleet/view"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
)

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

// Start opens the store, makes the run directory, binds and prepares the plan and
// starts the run. progress may be nil and may be called from any goroutine. A start
// that fails leaves nothing on the disk. Cancelling ctx later stops the run gracefully
// with the context's cause. Start must be called only once.
func (p *Prepared) Start(ctx context.Context, progress func(Progress)) (*Live, error) {
	tell := serially(progress)
	l := &Live{Prepared: p, merged: map[string]*hdrhistogram.Histogram{}}
	tell(Progress{Stage: "connecting"})
	if err := l.open(ctx); err != nil {
		return nil, p.hide(caused(ctx, err))
	}
	// A call in progress may ignore its context, so an interrupt closes the connection.
	l.release = context.AfterFunc(ctx, func() { _ = l.close() })
	if err := l.greet(ctx, tell); err != nil {
		l.release()
		if p.past != nil {
			return nil, p.hide(caused(ctx, errors.Join(err, l.leaveDead(ctx), l.close())))
		}
		l.crew.Close()
		return nil, p.hide(caused(ctx, errors.Join(err, l.close())))
	}
	return l, nil
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

// open connects. A driver that ignores the end of its context is left behind.
func (l *Live) open(ctx context.Context) error {
	driver, target := l.Driver, l.Target
	if l.binding.Target != "" {
		var err error
		if target, driver, err = l.env.Drivers.Parse(l.binding.Target); err != nil {
			return err
		}
	}
	type opened struct {
		conn store.Conn
		err  error
	}
	done := make(chan opened, 1) // one value: the sender never waits
	go func() {
		conn, err := driver.Open(ctx, target, store.OpenOptions{Threads: l.Threads(), Log: l.env.Log, Agent: l.Inputs.Agent})
		done <- opened{conn, err}
	}()
	select {
	case o := <-done:
		l.conn = o.conn
		return fault.Code(o.err, fault.CodeStore)
	case <-ctx.Done():
		go func() {
			if o := <-done; o.err == nil {
				_ = o.conn.Close()
			}
		}()
		return ctx.Err()
	}
}

// greet asks the store for its details and begins.
func (l *Live) greet(ctx context.Context, tell func(Progress)) error {
	var err error
	if l.Info, err = l.conn.Info(ctx); err != nil {
		return fault.Code(fmt.Errorf("ask %s what it is: %w", l.Target, err), fault.CodeStore)
	}
	if l.past != nil {
		return l.goOn(ctx, tell)
	}
	if l.binding.Target != "" && l.Info.NoFigure == "" {
		l.Info.NoFigure = "The store was " + l.Info.Name + ", embedded in perfbench; these numbers do not describe a real server."
	}
	if free := l.Info.FreeBytes; l.Info.NoFigure != "" && free > 0 && l.Plan.Bytes > free {
		return fault.Input(fmt.Errorf("this run would store %s in perfbench itself, and this machine has %s of memory free", units.Size(l.Plan.Bytes), units.Size(free)),
			"store less, or name a server with --target")
	}
	if err := foresee(l.Plan, l.Timetable, store.FreeMemory(), l.room()); err != nil {
		return err
	}
	l.Notices = l.notices(ctx)
	l.calibrate(ctx)
	return l.begin(ctx, tell)
}

func (l *Live) notices(ctx context.Context) []string {
	var out []string
	if l.Info.NoFigure != "" {
		out = append(out, l.Info.NoFigure)
	}
	out = append(out, l.Info.Warnings...)
	if free := l.Info.FreeBytes; free > 0 && l.Plan.Bytes > free/2 {
		out = append(out, fmt.Sprintf("this run stores %s, more than half of the %s that %s has free", units.Size(l.Plan.Bytes), units.Size(free), l.Info.Name))
	}
	if n := l.heapNotice(ctx); n != "" {
		out = append(out, n)
	}
	if limit := self.FileLimit(); limit > 0 && int64(l.Threads()) > limit/2 {
		out = append(out, fmt.Sprintf("this run may open %d connections, more than half of the %d files that the process may have open", l.Threads(), limit))
	}
	return dedupe(append(out, l.Warnings...))
}

// begin makes the run directory and does everything after that; on failure it removes
// the directory.
func (l *Live) begin(ctx context.Context, tell func(Progress)) error {
	j, err := rundir.Create(l.journalled(l.model()))
	if err != nil {
		return err
	}
	l.journal = j
	if err := l.prepare(ctx, tell); err != nil {
		return errors.Join(err, l.abandon(ctx, err), j.Discard())
	}
	if err := l.gather(ctx, tell); err != nil {
		return errors.Join(err, l.abandon(ctx, err), j.Discard())
	}
	if warm, ok := l.conn.(store.Warmer); ok && l.crew == nil {
		if err := warm.Warm(ctx, int(Settings(l.plan)["threads"])); err != nil {
			return errors.Join(fault.Code(err, fault.CodeStore), l.abandon(ctx, err), j.Discard())
		}
	}
	if !l.release() { // interrupted: later than this, a run would end gracefully
		return errors.Join(context.Cause(ctx), j.Discard())
	}
	l.sample(ctx)
	if l.began, err = l.moment(ctx); err != nil {
		return errors.Join(err, l.abandon(ctx, err), j.Discard())
	}
	l.warmup.Store(int64(l.Inputs.Warmup))
	// Whole microseconds, so that what is read back equals what was written.
	j.Update(func(r *rundir.Run) {
		r.Notices = l.Notices
		r.Measured = l.began.Add(l.Inputs.Warmup).Truncate(time.Microsecond)
	})
	l.leave()
	err = l.keepPast(nil)
	time.Sleep(time.Until(l.began))
	if err == nil {
		err = l.launch(ctx, nil)
	}
	if err != nil {
		return errors.Join(err, l.abandon(ctx, err), j.Discard())
	}
	return nil
}

// journalled returns the options for writing the run's journal.
func (l *Live) journalled(run rundir.Run) rundir.Options {
	return rundir.Options{
		Out: l.Out, Run: run, Operations: l.Plan.Operations(), Formats: l.Formats, Given: l.Given, Observed: l.observedNow, Open: l.WarmsItself(), Explain: explain.Of,
		Facts: l.facts,
	}
}

// facts is the plan's own record; nil: there is none.
func (l *Live) facts() any {
	switch {
	case l.past.verified() != nil:
		return l.past.kept.Facts
	case l.plan == nil || l.plan.Facts == nil:
		return nil
	}
	return l.plan.Facts()
}

// launch starts the engine and all that watches it; with a past it goes on.
func (l *Live) launch(ctx context.Context, past *engine.Past) error {
	resumed, deaf := self.Resumed()
	o := engine.Options{
		Away: l.away(), Plan: l.plan, Warmup: l.Inputs.Warmup, Timetable: l.Timetable,
		Classify: l.classify,
		Classes:  store.ClassNames, Timeout: uint8(store.Timeout),
		Unreachable: func(c uint8) bool { return store.Class(c) == store.Unreachable },
		Sink:        l.second, Grace: l.grace(), Past: past,
		Signs: engine.Signs{Resumed: resumed, Processor: self.Processor},
	}
	if l.crew != nil {
		o.Note = func(n engine.Note) { l.crew.Note(n) }
	}
	var err error
	if l.run, err = engine.Start(ctx, o); err != nil {
		deaf()
		return fmt.Errorf("start the run: %w", err)
	}
	l.follow()
	l.feed.Goes(l.run.Snapshot)
	l.over = make(chan struct{})
	go l.sampler.Run(l.run.Done())
	go func() {
		<-l.run.Done()
		deaf()
	}()
	go l.observe()
	l.afterInterrupt(ctx)
	go l.followEnd()
	l.whileClaimed()
	return nil
}

// gather waits for the workers that are to do the work.
func (l *Live) gather(ctx context.Context, tell func(Progress)) error {
	if l.workers == nil {
		return nil
	}
	public, _ := l.Target.Public()
	order := fleet.Order{Profile: l.Profile.Name, Target: public.String(), Inputs: l.Inputs, Sum: fleet.Sum(l.Plan)}
	if l.plan.Found != nil {
		order.Found = l.plan.Found()
	}
	run := l.journal.Run()
	waiting := l.introduce(order, &run)
	var err error
	l.crew, err = crew.Open(ctx, *l.workers, l.plan, l.ID(), l.Dir(), order, func() *view.View { return &waiting })
	if err != nil {
		return err
	}
	tell(Progress{Stage: "waiting for workers", Note: fmt.Sprintf("waiting for %s: %s", units.Plural(l.workers.Workers, "worker"), l.crew.Join())})
	return l.crew.Gather(ctx, func(joined, ready int) {
		now := waiting
		now.Progress.Done = int64(ready)
		l.crew.Show(func() *view.View { return &now })
		tell(Progress{Stage: "waiting for workers", Done: int64(ready), Total: int64(l.workers.Workers)})
	})
}

// introduce returns the run as shown to its watchers before it begins.
func (l *Live) introduce(order fleet.Order, run *rundir.Run) view.View {
	l.shown = view.View{
		Version: l.workers.Version, ID: run.ID, Order: order, Store: l.Driver.Name, Target: l.Target.Redacted(), Started: run.Started,
		Verdict:  rundir.Verdict{State: verdict.Valid},
		Progress: view.Progress{Step: "waiting for workers", Total: int64(l.workers.Workers)},
	}
	l.shown.Order.Found = nil
	return l.shown
}

// moment returns when the run begins: now, or as agreed with the workers.
func (l *Live) moment(ctx context.Context) (time.Time, error) {
	if l.crew == nil {
		return time.Now(), nil
	}
	return l.crew.Start(ctx)
}

// away returns who does the work; nil: this process.
func (l *Live) away() engine.Away {
	if l.crew == nil {
		return nil
	}
	return l.crew
}

// telling is how much longer than an operation a worker's report may take to arrive.
const telling = 5 * time.Second

// grace returns how long operations in progress may take once the run ends.
func (l *Live) grace() time.Duration {
	if l.crew == nil {
		return l.Inputs.Drain
	}
	return cmp.Or(l.Inputs.Drain, engine.DefaultGrace) + telling
}

// follow makes the run take in what workers report.
func (l *Live) follow() {
	if l.crew != nil {
		l.crew.Follow(l.run.Merge, l.run.Stop, l.run.Mark)
		l.crew.Show(l.view)
	}
}

// classify returns the class of an operation's error: a panic of its task, which is not
// the store's fault, or the class that the store's driver assigns.
func (l *Live) classify(err error) uint8 {
	if engine.IsPanic(err) {
		return uint8(store.Panicked)
	}
	return uint8(l.conn.Classify(err))
}

// prepare connects the plan to the store, now that the run has an id, and sets up the
// store.
func (l *Live) prepare(ctx context.Context, tell func(Progress)) error {
	plan, err := l.Plan.Bind(ctx, l.Driver.Name, l.conn, l.ID())
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	l.plan = plan
	if err := l.take(ctx); err != nil {
		return err
	}
	if plan.Setup == nil {
		return nil
	}
	tell(Progress{Stage: "preparing"})
	if err := plan.Setup(ctx, func(done, total int64) { tell(Progress{Stage: "preparing", Done: done, Total: total}) }); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	return nil
}

// model returns the run as far as it is known before it begins.
func (l *Live) model() rundir.Run {
	run := l.Model()
	run.Store = rundir.Store{
		Name: l.Driver.Name, Product: l.Info.Name, Version: l.Info.Version,
		Topology: l.Info.Topology, Details: l.Info.Details, InProcess: l.Info.NoFigure != "",
	}
	run.Notices = l.Notices
	return run
}
