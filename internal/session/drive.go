package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote/view"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/telemetry"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch/self"
	"github.com/perfbench/perfbench/internal/workload"
)

// ErrInterrupted is the cause of a run's end if a signal stopped it.
var ErrInterrupted = errors.New("interrupted")

// ErrStopped is the cause of a run's end if its user stopped it.
var ErrStopped = errors.New("stopped by the user")

// Reached is the cause of a run's end if it had achieved what it was for: "search", the
// word used in ended_by.
type Reached string

// Error implements error.
func (r Reached) Error() string { return "ended by the " + string(r) }

// Driven is an opened run in progress: the engine's run, and what listens to its seconds.
// Conclude must follow. Its methods may be called from any goroutine.
type Driven struct {
	*Opened

	run *engine.Run
	// running is closed once run is there: its first second may come before.
	running chan struct{}
	// began is when the run began, with its warm-up.
	began time.Time

	// These listen to the seconds, in the order in which second calls them.
	thresholds  *thresholds
	warmup      *warmup
	summary     *summary
	convergence *convergence
	seconds     *seconds
	backlog     *backlog
	verdict     atomic.Pointer[rundir.Verdict] // as of the last finished second
	listeners   *listeners

	observer *observer
	samples  *samples
	drain    *drain
	feed     *telemetry.Feed
	onWait   func(sentence string)
}

// Drive starts the run. Cancelling ctx later stops it gracefully with the context's
// cause. An error undoes what Open did.
func (o *Opened) Drive(ctx context.Context) (*Driven, error) {
	d := newDriven(o)
	if err := d.start(ctx); err != nil {
		return nil, o.fail(ctx, err)
	}
	return d, nil
}

// newDriven makes all that listens to a run.
func newDriven(o *Opened) *Driven {
	ops := operations{list: o.Plan.Operations(), counted: o.Plan.Counted()}
	d := &Driven{
		Opened: o, running: make(chan struct{}),
		thresholds: newThresholds(o.Thresholds, o.Plan, o.Dir()),
		summary:    &summary{operations: ops}, convergence: &convergence{goal: o.Until}, seconds: &seconds{},
		backlog: &backlog{operations: ops}, listeners: &listeners{},
	}
	d.warmup = newWarmup(o.Prepared, o.journal, d.seconds)
	d.samples = &samples{warmup: d.warmup, journal: o.journal}
	d.observer = &observer{over: make(chan struct{}), sampler: o.sampler, pool: o.Pool, ceiling: o.ceiling, backlog: d.backlog}
	return d
}

// start begins the run, at the moment that the workers have agreed upon.
func (d *Driven) start(ctx context.Context) (err error) {
	if d.began, err = d.moment(ctx); err != nil {
		return err
	}
	measured := d.began.Add(d.Inputs.Warmup)
	if d.restored != nil {
		if err := d.launch(ctx, &engine.Restored{Began: measured, Notes: d.restored.notes, Reread: d.crew.Coordinator.Replay.Reread(), Upto: d.crew.Coordinator.Replay.Upto}); err != nil {
			return err
		}
		resumed := d.journal.Run().Resumed
		gap := time.Duration(resumed[len(resumed)-1].ForS * float64(time.Second))
		d.Mark("the coordinator was resumed, after " + units.Duration(gap.Round(100*time.Millisecond)) + " without one")
		return nil
	}
	// Whole microseconds, so that what is read back equals what was written.
	d.journal.Update(func(r *rundir.Run) { r.Notices, r.Measured = d.Notices, measured.Truncate(time.Microsecond) })
	d.export()
	err = d.keep(nil)
	time.Sleep(time.Until(d.began))
	if err != nil {
		return err
	}
	return d.launch(ctx, nil)
}

// export exports the figures of the run, if there is an outlet for them.
func (d *Driven) export() {
	if d.env.Outlet == nil {
		return
	}
	d.feed = d.env.Outlet.Begin(telemetry.Source{
		Run: d.journal.Run(), Operations: d.plan.Operations(), Counts: d.plan.Counted(), Verdict: d.Verdict,
	})
	d.samples.feed = d.feed
	d.OnSecond(d.feed.Second)
}

// launch starts the engine and all that watches it; with a past it goes on.
func (d *Driven) launch(ctx context.Context, past *engine.Restored) error {
	d.journal.Observe(d.observer.observed)
	resumed, unsubscribe := self.Resumed()
	o := engine.Options{
		Away: d.away(), Plan: d.plan, Warmup: d.Inputs.Warmup, Timetable: d.Timetable,
		Classify: classify(d.conn),
		Classes:  store.ClassNames, Timeout: uint8(store.Timeout),
		Unreachable: func(c uint8) bool { return store.Class(c) == store.Unreachable },
		Sink:        d.second, Grace: d.grace(), Past: past,
		Signs: engine.Signs{Resumed: resumed, Processor: self.Processor},
	}
	if d.crew != nil {
		o.Note = func(n engine.Note) { d.crew.Note(n) }
	}
	run, err := engine.Start(ctx, o)
	if err != nil {
		unsubscribe()
		return fmt.Errorf("start the run: %w", err)
	}
	d.run, d.warmup.run, d.observer.run = run, run, run
	d.drain = newDrain(run, d.Opened)
	close(d.running)
	if d.crew != nil {
		d.crew.Follow(run.Merge, run.Stop, run.Mark)
		d.crew.Show(d.view)
	}
	d.feed.Goes(run.Snapshot)
	go d.sampler.Run(run.Done(), d.samples.keep)
	go func() {
		<-run.Done()
		unsubscribe()
	}()
	go d.observer.observe(d.Inputs.Warmup > 0)
	d.afterInterrupt(ctx)
	go d.drain.followEnd()
	go d.drain.followStore()
	d.lease.guard(run, d.crew != nil)
	return nil
}

// classify returns the class of an operation's error: a panic of its task, which is not
// the store's fault, or the class that the store's driver assigns.
func classify(conn store.Conn) func(error) uint8 {
	return func(err error) uint8 {
		if engine.IsPanic(err) {
			return uint8(store.Panicked)
		}
		return uint8(conn.Classify(err))
	}
}

// second is the engine's sink.
func (d *Driven) second(s *measure.Second) error {
	<-d.running
	d.thresholds.add(s)
	d.warmup.add(s)
	sum, times := d.summary.of(s, d.Warmup())
	if d.convergence.add(s, times, sum) {
		d.Stop(Reached("until"))
	}
	d.measured.Store(s.Result)
	news := s.T >= d.first // no other session has seen it
	if news {
		d.seconds.add(sum)
	}
	if err := d.journal.Second(s); err != nil {
		return err
	}
	if news {
		d.sampler.Second(s.T + d.warmup.ahead())
	}
	if !s.Warmup {
		d.backlog.add(s)
		d.judgeSecond(s)
	}
	d.listeners.call(s)
	return nil
}

// judgeSecond judges the run as it is after a second, which the journal already has.
func (d *Driven) judgeSecond(s *measure.Second) {
	run := d.journal.Run()
	run.EndedBy = rundir.StillRunning
	v := run.Judge()
	d.verdict.Store(&v)
	if s.Length >= 1 && d.thresholds.end(&run, time.Duration(s.T+1)*time.Second) {
		d.Stop(Reached("threshold"))
	}
}

// Snapshot returns the newest state of the run, never nil.
func (d *Driven) Snapshot() *measure.Snapshot { return d.run.Snapshot() }

// Change changes live settings as engine.Run.Change does.
func (d *Driven) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	d.run.Change(by, track, f)
}

// Mark puts a note on the time line, as engine.Run.Mark does.
func (d *Driven) Mark(note string) { d.run.Mark(note) }

// Settings returns the requested settings, as engine.Run.Settings does.
func (d *Driven) Settings(track int) workload.Settings { return d.run.Settings(track) }

// Room says why there is no room for these settings of the tracks, in the memory of
// this machine or of the store; nil if there is. The error has the code of bad input.
func (d *Driven) Room(after []workload.Settings) error {
	now := make([]workload.Settings, len(after))
	for i := range now {
		now[i] = d.Settings(i)
	}
	return roomFor(d.Plan, now, after, store.FreeMemory(), freeIn(&d.Info))
}

// Elapsed is the run's time: since measurement began, negative during warm-up.
func (d *Driven) Elapsed() time.Duration { return d.run.Elapsed() }

// Warmup returns the length of the warm-up or, for one that ends itself and has not
// yet, the longest that it may last.
func (d *Driven) Warmup() time.Duration { return d.warmup.length() }

// Observed is what has been observed of this process and machine so far; nil if nothing
// has.
func (d *Driven) Observed() *verdict.Observed { return d.observer.observed() }

// Verdict returns the verdict on the run as of its last finished second.
func (d *Driven) Verdict() rundir.Verdict {
	if v := d.verdict.Load(); v != nil {
		return *v
	}
	return rundir.Verdict{State: verdict.Valid}
}

// Samples are those of the last second sampled, including the number of pool
// connections in use; they are not modified once returned.
func (d *Driven) Samples() []rundir.Sample {
	last := d.samples.last.Load()
	if last == nil {
		return nil
	}
	out := slices.Clone(*last)
	if pool, ok := d.Pool(); ok && pool.Open > 0 {
		out = append(out, rundir.Sample{Source: rundir.OfClient, Name: "clients", Value: float64(pool.Open)})
	}
	return out
}

// Seconds returns the seconds that have finished since the last call, the oldest first.
// Only one goroutine at a time may call it.
func (d *Driven) Seconds() []Second { return d.seconds.read() }

// OnSecond makes f be called with each second that finishes from now on, in order, on
// the measuring goroutine: it must be quick, and its argument is valid only during the
// call. Any goroutine may call OnSecond.
func (d *Driven) OnSecond(f func(*measure.Second)) { d.listeners.add(f) }

// OnWait sets a function that is called with a sentence when Conclude waits for the
// store. It must be called before Conclude.
func (d *Driven) OnWait(f func(sentence string)) { d.onWait = f }

// Waiting returns what the run is waiting for now that its time is up; false if it is
// still working.
func (d *Driven) Waiting() (Waiting, bool) { return d.drain.waiting() }

// Stop ends the run gracefully; the first cause is recorded.
func (d *Driven) Stop(cause error) { d.run.Stop(cause) }

// Kill ends the run at once and cancels operations in progress.
func (d *Driven) Kill() {
	d.run.Kill()
	go d.drain.closeLate()
}

// Done is closed when all workers have ended. Conclude must follow.
func (d *Driven) Done() <-chan struct{} { return d.run.Done() }

// InterruptGrace is how long operations in progress may take after the run has been
// interrupted, before they are cancelled. It is short, as somebody waits at a keyboard.
const InterruptGrace = 3 * time.Second

// afterInterrupt makes operations in progress end within InterruptGrace of an
// interrupt, or reportTime later if workers run them, whose messages need time.
func (d *Driven) afterInterrupt(ctx context.Context) {
	context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), ErrInterrupted) {
			return
		}
		grace := InterruptGrace
		if d.crew != nil {
			grace += reportTime
		}
		select {
		case <-d.run.Done():
		case <-time.After(grace):
			d.Kill()
		}
	})
}

// view returns the run as shown to those who watch it.
func (d *Driven) view() *view.View {
	v := d.shown
	v.Progress = view.Progress{Stage: view.Working}
	select {
	case <-d.run.Done():
		v.Progress.Stage = view.Verifying
	default:
	}
	v.Snapshot, v.Verdict, v.Samples = d.run.Snapshot(), d.Verdict(), d.Samples()
	for i := range d.plan.Tracks() {
		v.Settings = append(v.Settings, d.run.Settings(i))
	}
	return &v
}
