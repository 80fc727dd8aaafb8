package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote/crew"
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
	// Opened is what the run was before it began.
	Opened *Opened

	run *engine.Run
	// began is when the run began, with its warm-up.
	began time.Time

	sink     *sink
	observer *observer
	samples  *samples
	drain    *drain
	breakers breakers
	byHand   healings
	servers  func(via bool) Servers // as Prepared.servers, found once
	// killed ends commands of faults that are under way.
	killed context.CancelFunc
	feed   *telemetry.Feed
	onWait func(sentence string)
	beside *crew.Local // nil: nobody else watches
	// held is why nobody else may turn its knobs now; nil if others may.
	held atomic.Pointer[string]
}

// Hold has other processes that watch the run not turn its knobs, for a reason that they are told,
// until release is called. Any goroutine may call it.
func (d *Driven) Hold(why string) (release func()) {
	d.held.Store(&why)
	return func() { d.held.Store(nil) }
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
	d := &Driven{Opened: o}
	d.sink = newSink(o, d.Stop)
	d.samples = &samples{warmup: d.sink.warmup, journal: o.journal, ledger: newLedger(o.plan)}
	d.OnSecond(d.samples.ledger.add)
	ctx, killed := context.WithCancel(context.Background())
	target, between := sync.OnceValue(o.Prepared.Servers), sync.OnceValue(func() Servers { return o.Prepared.servers(true) })
	d.killed = killed
	d.servers = func(via bool) Servers {
		if via {
			return between()
		}
		return target()
	}
	d.breakers = newBreakers(ctx, o.Prepared, d.servers, d.Mark)
	d.observer = &observer{over: make(chan struct{}), sampler: o.sampler, pool: o.Pool, ceiling: o.ceiling, backlog: d.sink.backlog, measured: d.measured}
	return d
}

// start begins the run, at the moment that the workers have agreed upon.
func (d *Driven) start(ctx context.Context) (err error) {
	if d.began, err = d.Opened.moment(ctx); err != nil {
		return err
	}
	measured := d.began.Add(d.Opened.Prepared.Inputs.Warmup)
	if d.Opened.Prepared.restored != nil {
		if err := d.launch(ctx, &engine.Restored{Began: measured, Notes: d.Opened.Prepared.restored.notes, Reread: d.Opened.crew.Coordinator.Replay.Reread(), Upto: d.Opened.crew.Coordinator.Replay.Upto}); err != nil {
			return err
		}
		resumed := d.Opened.journal.Run().Resumed
		gap := time.Duration(resumed[len(resumed)-1].ForS * float64(time.Second))
		d.Mark("the coordinator was resumed, after " + units.Duration(gap.Round(100*time.Millisecond)) + " without one")
		return nil
	}
	// Whole microseconds, so that what is read back equals what was written.
	d.Opened.journal.Update(func(r *rundir.Run) { r.Notices, r.Measured = d.Opened.Notices, measured.Truncate(time.Microsecond) })
	d.export()
	err = d.Opened.keep(nil)
	time.Sleep(time.Until(d.began))
	if err != nil {
		return err
	}
	return d.launch(ctx, nil)
}

// export exports the figures of the run, if there is an outlet for them.
func (d *Driven) export() {
	if d.Opened.Prepared.env.Outlet == nil {
		return
	}
	d.feed = d.Opened.Prepared.env.Outlet.Begin(telemetry.Source{
		Run: d.Opened.journal.Run(), Operations: d.Opened.plan.Operations(), Counts: d.Opened.plan.Counted(), Verdict: d.Verdict,
	})
	d.samples.feed = d.feed
	d.OnSecond(d.feed.Second)
}

// launch starts the engine and all that watches it; with a past it goes on.
func (d *Driven) launch(ctx context.Context, past *engine.Restored) error {
	d.Opened.journal.Observe(d.observer.observed)
	resumed, unsubscribe := self.Resumed()
	o := engine.Options{
		Remote: d.Opened.remote(), Plan: d.Opened.plan, Warmup: d.Opened.Prepared.Inputs.Warmup, Timetable: d.Opened.Prepared.Timetable,
		Arrivals: d.Opened.Prepared.Inputs.Arrivals, Seed: d.Opened.Prepared.Inputs.Seed,
		Client: d.Opened.Prepared.Inputs.Client, Retryable: store.Retryable,
		Classify: classify(d.Opened.conn),
		Classes:  store.ClassNames, Timeout: uint8(store.Timeout), Lost: uint8(store.Lost),
		Unreachable: func(c uint8) bool { return store.Class(c) == store.Unreachable },
		Break: func(f workload.Faults) {
			d.Opened.plan.Breaks(f)
			d.Opened.proxy.Set(f.Link(false))
			d.Opened.through.Set(f.Link(true))
			d.breakers.set(f)
		},
		Sink: d.sink.second, Grace: d.Opened.grace(), Past: past,
		Signs: engine.Signs{Resumed: resumed, Processor: self.Processor, Waited: self.Waited},
	}
	if d.Opened.crew != nil {
		o.Note = func(n engine.Note) { d.Opened.crew.Note(n) }
	}
	run, err := engine.Start(ctx, o)
	if err != nil {
		unsubscribe()
		return fmt.Errorf("start the run: %w", err)
	}
	d.run, d.sink.warmup.run, d.observer.run = run, run, run
	d.sink.backlog.pauses, d.sink.backlog.taken = run.Pauses, d.observer.taken
	d.drain = newDrain(run, d.Opened)
	close(d.sink.running)
	if d.Opened.crew != nil {
		d.Opened.crew.Attach(run)
		d.Opened.crew.Show(d.view)
	}
	d.feed.Goes(run.Snapshot)
	d.admit()
	fault.Go(func() { d.Opened.sampler.Run(run.Done(), d.samples.keep, d.markPast) })
	fault.Go(func() {
		<-run.Done()
		unsubscribe()
	})
	fault.Go(func() { d.observer.observe(d.Opened.Prepared.Inputs.Warmup > 0) })
	d.afterInterrupt(ctx)
	fault.Go(d.drain.watchEnd)
	fault.Go(d.drain.watchStore)
	d.Opened.lease.guard(run, d.Opened.crew != nil)
	return nil
}

// classify returns the class of an operation's error: a panic of its task, which is not
// the store's fault, or that of store.ClassOf.
func classify(conn store.Conn) func(error) uint8 {
	return func(err error) uint8 {
		if engine.IsPanic(err) {
			return uint8(store.Panicked)
		}
		return uint8(store.ClassOf(conn, err))
	}
}

// Snapshot returns the newest state of the run, never nil.
func (d *Driven) Snapshot() *measure.Snapshot { return d.run.Snapshot() }

// Change changes live settings as engine.Run.Change does.
func (d *Driven) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	d.run.Change(by, track, f)
}

// Afresh begins the schedules of all tracks anew, as engine.Run.Afresh does.
func (d *Driven) Afresh() { d.run.Afresh() }

// Mark puts a note on the time line, as engine.Run.Mark does.
func (d *Driven) Mark(note string) { d.run.Mark(note) }

// MarkAt puts a note on the time line where it was meant to be, as engine.Run.MarkAt does.
func (d *Driven) MarkAt(at time.Duration, note string) { d.run.MarkAt(at, note) }

// markPast is Mark for what was noticed after it had happened.
func (d *Driven) markPast(when time.Time, note string) {
	d.MarkAt(d.run.Elapsed()-time.Since(when), note)
}

// Settings returns the requested settings, as engine.Run.Settings does.
func (d *Driven) Settings(track int) workload.Settings { return d.run.Settings(track) }

// Room says why there is no room for these settings of the tracks, in the memory of
// this machine or of the store; nil if there is. The error has the code of bad input.
func (d *Driven) Room(after []workload.Settings) error {
	now := make([]workload.Settings, len(after))
	for i := range now {
		now[i] = d.Settings(i)
	}
	return roomFor(d.Opened.Prepared.Plan, now, after, store.FreeMemory(), freeIn(&d.Opened.Info))
}

// Elapsed is the run's time: since measurement began, negative during warm-up.
func (d *Driven) Elapsed() time.Duration { return d.run.Elapsed() }

// Warmup returns the length of the warm-up or, for one that ends itself and has not
// yet, the longest that it may last.
func (d *Driven) Warmup() time.Duration { return d.sink.warmup.length() }

// measured returns when measurement began or, in a warm-up, when it begins at the latest.
func (d *Driven) measured() time.Time { return d.began.Add(d.Warmup()) }

// Observed is what has been observed of this process and machine so far; nil if nothing
// has.
func (d *Driven) Observed() *verdict.Observed { return d.observer.observed() }

// Verdict returns the verdict on the run as of its last finished second.
func (d *Driven) Verdict() rundir.Verdict { return d.sink.verdict() }

// Samples are those of the last second sampled, including the number of pool
// connections in use; they are not modified once returned.
func (d *Driven) Samples() []rundir.Sample {
	last := d.samples.last.Load()
	if last == nil {
		return nil
	}
	out := slices.Clone(*last)
	if pool, ok := d.Opened.Pool(); ok && pool.Open > 0 {
		out = append(out, rundir.Sample{Source: rundir.OfClient, Name: "clients", Value: float64(pool.Open)})
	}
	return out
}

// Seconds returns the seconds that have finished since the last call, the oldest first.
// Only one goroutine at a time may call it.
func (d *Driven) Seconds() []Second { return d.sink.seconds.read() }

// OnSecond makes f be called with each second that finishes from now on, in order, on
// the measuring goroutine: it must be quick, and its argument is valid only during the
// call. Any goroutine may call OnSecond.
func (d *Driven) OnSecond(f func(*measure.Second)) { d.sink.listeners.add(f) }

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
	d.killed()
	fault.Go(d.drain.closeLate)
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
		if d.Opened.crew != nil {
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
func (d *Driven) view() *crew.View {
	v := d.Opened.shown
	v.Progress = crew.Progress{Stage: crew.Working}
	select {
	case <-d.run.Done():
		v.Progress.Stage = crew.Verifying
	default:
	}
	if why := d.held.Load(); why != nil {
		v.Progress.Held = *why
	}
	v.Planned, v.Snapshot, v.Verdict, v.Samples = d.Planned(), d.run.Snapshot(), d.Verdict(), d.Samples()
	for i := range d.Opened.plan.Tracks() {
		v.Settings = append(v.Settings, d.run.Settings(i))
	}
	return &v
}

// show shows how the run ended to those who watch it.
func (d *Driven) show(c *Concluded) {
	if d.Opened.crew == nil {
		return
	}
	v := d.view()
	v.Progress.Stage, v.Verdict = crew.Ended, c.Run.Verdict
	v.Came = &crew.Came{Code: c.Code(), Dir: c.Dir}
	if c.Err != nil {
		v.Came.Err = c.Err.Error()
	}
	v.Came.Run, _ = json.Marshal(c.Run) // as in its file
	d.Opened.crew.Concluded(v)
}
