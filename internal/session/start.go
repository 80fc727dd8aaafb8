package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/session/given"
	"github.com/perfbench/perfbench/internal/session/sampler"
	"github.com/perfbench/perfbench/internal/session/settle"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// ErrInterrupted is the cause of a run that a signal stopped.
var ErrInterrupted = errors.New("interrupted")

// ErrStopped is the cause of a run that its user stopped.
var ErrStopped = errors.New("stopped by the user")

// Reached is the cause of a run that was ended because it had come to what it was for:
// "search", as ended_by says it.
type Reached string

// Error says it in words.
func (r Reached) Error() string { return "ended by the " + string(r) }

// Progress tells how far the way to the first operation has come.
type Progress struct {
	// Stage says what is being done: "connecting", "preparing".
	Stage string
	// Done and Total count what the stage works through; Total is 0 when unknown.
	Done, Total int64
}

// Live is a run in progress. Its methods may be called from any goroutine.
type Live struct {
	*Prepared
	// Info is what the store said of itself at the start.
	Info store.Info
	// Notices are sentences that reports repeat; to be shown as well.
	Notices []string

	// plan is Plan bound to conn.
	plan    *workload.Plan
	conn    store.Conn
	journal *rundir.Journal
	run     *engine.Run
	// heap is that of a store which keeps all in it; 0: not known.
	heap int64
	// claim is the hold on the spaces of the run; nil when it has none.
	claim *place.Claim
	began time.Time
	observer
	sampler *sampler.Sampler
	// counts and operations are of the plan; the sink alone uses them.
	counts     []bool
	operations []measure.Operation
	merged     map[string]*hdrhistogram.Histogram
	seconds    seconds
	// watch watches for what ends the run before its time; the sink alone uses it while
	// the run goes.
	watch *settle.Watch
	warming

	// onWait, when set, is told what Finish waits for; ended is when the last worker
	// had gone home.
	onWait func(sentence string)
	ended  time.Time

	// release undoes that an interrupt closes the connection; false: it has.
	release func() bool
	closing sync.Once
	closed  error
}

// Start opens the store, makes the run directory, binds and prepares the plan and
// starts the run. progress may be nil and may be called from any goroutine. Of a
// start that fails nothing is left on the disk. Cancelling ctx later stops the
// run gracefully with the context's cause. A run begins once: what is prepared makes
// no second one.
func (p *Prepared) Start(ctx context.Context, progress func(Progress)) (*Live, error) {
	tell := serially(progress)
	l := &Live{Prepared: p, merged: map[string]*hdrhistogram.Histogram{}}
	tell(Progress{Stage: "connecting"})
	if err := l.open(ctx); err != nil {
		return nil, p.hide(caused(ctx, err))
	}
	// A call under way may not heed its context, so an interrupt closes the connection.
	l.release = context.AfterFunc(ctx, func() { _ = l.close() })
	if err := l.greet(ctx, tell); err != nil {
		l.release()
		return nil, p.hide(caused(ctx, errors.Join(err, l.close())))
	}
	return l, nil
}

// close closes the connection, once.
func (l *Live) close() error {
	l.closing.Do(func() { l.closed = l.conn.Close() })
	return l.closed
}

// caused prefers the cause of a cancelled context to what came of it.
func caused(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fault.Code(fmt.Errorf("before the run began: %w", cause), codeOfCause(cause))
	}
	return err
}

// serially makes progress safe to be called from any goroutine.
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

// open connects. A driver that does not heed the end of its context is left
// behind.
func (l *Live) open(ctx context.Context) error {
	driver, target := l.Driver, l.Target
	if l.binding.Target != "" {
		var err error
		if target, driver, err = drivers.Parse(l.binding.Target); err != nil {
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

// greet asks the store who it is and begins.
func (l *Live) greet(ctx context.Context, tell func(Progress)) error {
	var err error
	if l.Info, err = l.conn.Info(ctx); err != nil {
		return fault.Code(fmt.Errorf("ask %s what it is: %w", l.Target, err), fault.CodeStore)
	}
	if l.binding.Target != "" && l.Info.NoFigure == "" {
		l.Info.NoFigure = "The store was " + l.Info.Name + ", embedded in perfbench; these numbers do not describe a real server."
	}
	if free := l.Info.FreeBytes; l.Info.NoFigure != "" && free > 0 && l.Plan.Bytes > free {
		return fault.Input(fmt.Errorf("this run would store %s in perfbench itself, and this machine has %s of memory free", units.Size(l.Plan.Bytes), units.Size(free)),
			"store less, or name a server with --target")
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

// begin makes the run directory and all that comes after it; it removes the
// directory when it fails.
func (l *Live) begin(ctx context.Context, tell func(Progress)) error {
	j, err := rundir.Create(rundir.Options{
		Out: l.Out, Run: l.model(), Operations: Operations(l.Plan), Formats: l.Formats, Given: l.Given, Observed: l.observedNow, Open: l.WarmsItself(),
		Facts: func() any {
			if l.plan == nil || l.plan.Facts == nil {
				return nil
			}
			return l.plan.Facts()
		},
	})
	if err != nil {
		return err
	}
	l.journal = j
	if err := l.prepare(ctx, tell); err != nil {
		return errors.Join(err, l.abandon(ctx, err), j.Discard())
	}
	if warm, ok := l.conn.(store.Warmer); ok {
		if err := warm.Warm(ctx, int(Settings(l.plan)["threads"])); err != nil {
			return errors.Join(fault.Code(err, fault.CodeStore), l.abandon(ctx, err), j.Discard())
		}
	}
	if !l.release() { // interrupted: from here on a run would end gracefully
		return errors.Join(context.Cause(ctx), j.Discard())
	}
	l.sample(ctx)
	l.began = time.Now()
	l.warmup.Store(int64(l.Inputs.Warmup))
	// Whole microseconds, so that what is read back equals what was written.
	j.Update(func(r *rundir.Run) {
		r.Notices = l.Notices
		r.Measured = l.began.Add(l.Inputs.Warmup).Truncate(time.Microsecond)
	})
	resumed, deaf := self.Resumed()
	l.run, err = engine.Start(ctx, engine.Options{
		Plan: l.plan, Warmup: l.Inputs.Warmup, Timetable: l.Timetable,
		Classify: l.classify,
		Classes:  store.ClassNames, Timeout: uint8(store.Timeout),
		Unreachable: func(c uint8) bool { return store.Class(c) == store.Unreachable },
		Sink:        l.second, Grace: l.Inputs.Drain,
		Signs: engine.Signs{Resumed: resumed, Processor: self.Processor},
	})
	if err != nil {
		deaf()
		return errors.Join(fmt.Errorf("start the run: %w", err), l.abandon(ctx, err), j.Discard())
	}
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

// classify puts an operation's error in a class: a panic of its task, which is no
// doing of the store, or what the store's driver makes of it.
func (l *Live) classify(err error) uint8 {
	if engine.IsPanic(err) {
		return uint8(store.Panicked)
	}
	return uint8(l.conn.Classify(err))
}

// prepare connects the plan to the store, now that the run has an id, and sets the
// store up.
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
	if err := plan.Setup(ctx, func(done, total int64) { tell(Progress{"preparing", done, total}) }); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	return nil
}

// model is the run as it is known before it begins.
func (l *Live) model() rundir.Run {
	run := rundir.Run{
		Profile: l.Profile.Name, Mode: l.Plan.Mode, Unit: l.Plan.Unit, Units: OtherUnits(l.Plan), Target: l.Target.Redacted(),
		Store: rundir.Store{
			Name: l.Driver.Name, Product: l.Info.Name, Version: l.Info.Version,
			Topology: l.Info.Topology, Details: l.Info.Details, InProcess: l.Info.NoFigure != "",
		},
		Started: time.Now(), Seed: l.Inputs.Seed, WarmupS: l.Inputs.Warmup.Seconds(), DataBytes: l.Plan.Bytes,
		Settings: Settings(l.Plan), Parameters: map[string]string{}, Origins: l.Origins(),
		Environment: environmentFacts(l.env.Version), Notices: l.Notices,
	}
	for _, r := range given.RunParams() {
		if v, ok := l.Inputs.Values[r.Name]; ok {
			run.Parameters[r.Name] = v.Text
		}
	}
	for _, t := range l.Plan.Tracks() {
		for i, op := range t.Ops {
			if !t.Whole(i) {
				run.Parts = append(run.Parts, t.Name+"."+op)
			}
		}
	}
	if l.Preset != "" {
		run.Parameters["preset"] = l.Preset
	}
	for _, v := range l.Plan.Parameters {
		run.Parameters[v.Name] = v.Text
	}
	return run
}

// OnSecond has f called with each second that finishes from now on, in order, on the
// goroutine that measures: it must be quick, and what it gets holds during the call only.
// Any goroutine may call OnSecond.
func (l *Live) OnSecond(f func(*measure.Second)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.onSecond = append(slices.Clip(l.onSecond), f)
}

// second is the engine's sink: the journal, and the whole run's histograms when
// thresholds will ask for them.
func (l *Live) second(s *measure.Second) error {
	if len(l.Thresholds) > 0 {
		for _, in := range s.Intervals {
			l.merge(in.Op, "response", in.Response)
			l.merge(in.Op, "service", in.Service)
			l.merge(in.Op, "wait", in.Wait)
			l.merge(in.Op, "lateness", in.Lateness)
		}
	}
	l.warm(s)
	l.keep(s)
	if err := l.journal.Second(s); err != nil {
		return err
	}
	l.sampler.Second(s.T + l.ahead())
	l.judgeSecond(s)
	l.mu.Lock()
	told := l.onSecond
	l.mu.Unlock()
	for _, f := range told {
		f(s)
	}
	return nil
}

func (l *Live) merge(op measure.Operation, what string, h *hdrhistogram.Histogram) {
	if h == nil {
		return
	}
	tag := hlog.Tag(op.Track, op.Op, what)
	if l.merged[tag] == nil {
		l.merged[tag] = measure.NewHistogram()
	}
	l.merged[tag].Merge(h)
}

// Dir is the run directory.
func (l *Live) Dir() string { return l.journal.Dir() }

// ID is the id of the run.
func (l *Live) ID() string { return l.journal.Run().ID }

// Bound is the plan that runs.
func (l *Live) Bound() *workload.Plan { return l.plan }

// Snapshot returns the newest state of the run; never nil.
func (l *Live) Snapshot() *measure.Snapshot { return l.run.Snapshot() }

// Change changes live settings as engine.Run.Change does.
func (l *Live) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	l.run.Change(by, track, f)
}

// Mark puts a note on the time line, as engine.Run.Mark does.
func (l *Live) Mark(note string) { l.run.Mark(note) }

// Settings returns the settings asked for, as engine.Run.Settings does.
func (l *Live) Settings(track int) workload.Settings { return l.run.Settings(track) }

// Elapsed is the time of the run: since measurement began, negative in warm-up.
func (l *Live) Elapsed() time.Duration { return l.run.Elapsed() }

// Observed is what was seen of this process and machine up to now; nil before there was
// anything.
func (l *Live) Observed() *verdict.Observed { return l.observedNow() }

// Stop ends the run gracefully; the first cause is recorded.
func (l *Live) Stop(cause error) { l.run.Stop(cause) }

// killPatience is how long operations under way have to heed that they were
// cancelled, before their connection is closed.
const killPatience = 500 * time.Millisecond

// Kill ends the run at once: operations under way are cancelled.
func (l *Live) Kill() {
	l.run.Kill()
	go func() {
		select {
		case <-l.run.Done():
		case <-time.After(killPatience):
			_ = l.close()
		}
	}()
}

// Done is closed when all workers have ended. Finish must follow.
func (l *Live) Done() <-chan struct{} { return l.run.Done() }

// Pool tells of the connection pool, false when the store has none to tell of.
func (l *Live) Pool() (store.PoolStats, bool) {
	if p, ok := l.conn.(store.Pooled); ok {
		return p.Pool(), true
	}
	return store.PoolStats{}, false
}
