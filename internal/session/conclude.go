package session

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// TeardownTimeout limits the removal of what a run made.
const TeardownTimeout = 5 * time.Minute

// Concluded is how a run ended.
type Concluded struct {
	// Dir is the run directory, Run the content of its run.json.
	Dir string
	Run rundir.Run
	// Missed names the thresholds that were missed.
	Missed []string
	// Err is what went wrong; nil if the run reached its end, everything was verified
	// and written, and no threshold was missed. fault.CodeOf returns its exit code.
	Err error
}

// Code is the exit code.
func (c *Concluded) Code() int { return fault.CodeOf(c.Err) }

// Conclude waits for the run to end, verifies, cleans up if requested, judges the
// thresholds, and writes the documents. Cancelling ctx cuts verification and cleanup
// short; the documents are still written. It must be called exactly once.
func (d *Driven) Conclude(ctx context.Context) *Concluded {
	res, cause := d.run.Wait()
	<-d.observer.over
	d.Opened.proxy.Set(proxy.State{}) // a run that ends by itself leaves what was broken to us
	d.Opened.through.Set(proxy.State{})
	d.breakers.set(workload.Faults{})
	unbroken := d.breakers.wait()
	d.killed()
	o := d.Opened
	if cause == nil {
		cause = o.crew.Deserted()
	}
	o.crew.Lost()
	e := &conclusion{p: o.Prepared, o: o, d: d, run: o.journal.Run()}
	e.run.Notices = append(e.run.Notices, unbroken...)
	e.run.Commands = e.p.Plan.Commands.All()
	e.record(ctx, res, cause)
	for _, note := range d.breakers.late(e.run.Marks) {
		e.run.Marks = append(e.run.Marks, rundir.Mark{At: e.run.MeasuredS, Note: note})
	}
	defer o.crew.Close()
	defer d.beside.Close()
	silent := e.verify(ctx)
	if !silent {
		e.restarted(ctx)
	}
	errs := []error{e.cleanUp(ctx, silent)}
	o.lease.release(ctx, silent || ctx.Err() != nil, e.p.env.Log)
	c := &Concluded{Dir: o.Dir()}
	e.run.Verdict.Thresholds, c.Missed = d.sink.thresholds.judge(&e.run)
	e.run.Verdict = e.run.Judge()
	d.feed.End(e.run.Verdict)
	errs = append(errs, o.journal.Finish(e.run), o.close())
	c.Run = o.journal.Run()
	c.Err = e.p.secret().hide(failure(&e.run, cause, c.Missed, e.p.RequireValid, errors.Join(errs...)))
	d.show(c)
	return c
}

// conclusion is the end of a run, as it is written down step by step.
type conclusion struct {
	p   *Prepared
	o   *Opened
	d   *Driven
	run rundir.Run
}

// record puts into a run what is known once all its workers have ended.
func (e *conclusion) record(ctx context.Context, res *measure.Result, cause error) {
	if res != nil {
		e.o.measured.Store(res)
		rundir.SetResult(&e.run, res)
		e.d.sink.warmup.cut(&e.run)
		happened := keeping(e.p.Timetable, max(res.Measured, 1))
		e.run.Notices = slices.DeleteFunc(slices.Clone(e.run.Notices), func(n string) bool {
			return !slices.Contains(happened, n) && slices.Contains(keeping(e.p.Timetable, 0), n)
		})
	}
	e.run.Workers = e.o.crew.Workers(e.p.Inputs.Warmup)
	e.o.crew.Idle()
	e.o.lease.endWorkers(ctx, e.o.crew, e.d.onWait, e.p.env.Log)
	e.run.Ended = time.Now()
	e.run.EndedBy = endedBy(cause, e.d.run.ByDuration(), e.p.secret().hide)
	e.run.Observed = e.observed()
	if e.run.Observed != nil && slices.Contains(e.run.Judge().Causes, string(verdict.Ceiling)) && e.o.ceiling.recalibrate(ctx) {
		e.run.Observed = e.observed()
	}
	e.run.Environment = environment(e.p.env.Version, e.run.Observed)
	notices := []string{e.d.drain.abandoned(), "", e.o.heap.death(e.run.Errors, func() string { return outOfHeap(e.p) })}
	if e.run.EndedBy == "duration" {
		notices[1] = e.d.sink.convergence.missed(e.p.Inputs.Duration)
	}
	for _, n := range notices {
		if n != "" {
			e.run.Notices = append(e.run.Notices, n)
		}
	}
}

// observed is what was observed of the run, and how many requests its store must have got.
func (e *conclusion) observed() *verdict.Observed {
	o := e.d.Observed()
	if o == nil || o.Store == nil || o.Store.Asked == nil {
		return o
	}
	made, counts := int64(0), reach(e.o.plan)
	for _, op := range e.run.Operations {
		if counts[measure.Operation{Track: op.Track, Op: op.Op}] {
			made += max(op.Calls-op.Errors, 0)
		}
	}
	e.d.samples.ledger.enter(&e.run)
	used := *o.Store
	used.Made, o.Store = &made, &used
	return o
}

// outOfHeap is what the log of the server says of its end, or "".
func outOfHeap(p *Prepared) string {
	if p.env.OutOfHeap == nil {
		return ""
	}
	return p.env.OutOfHeap(p.Target.Redacted())
}

// endedBy says what ended a run; one without a cause ended by its duration or its count. A
// fault is named as hide shows it.
func endedBy(cause error, byDuration bool, hide func(error) error) string {
	switch {
	case cause == nil && byDuration:
		return "duration"
	case cause == nil:
		return "count"
	case errors.Is(cause, ErrInterrupted), errors.Is(cause, context.Canceled), errors.Is(cause, engine.ErrKilled):
		return "interrupt"
	case errors.Is(cause, ErrStopped):
		return "user"
	}
	if reached, ok := errors.AsType[Reached](cause); ok {
		return string(reached)
	}
	return "fault: " + hide(cause).Error()
}

// timeUp returns when a run was to end by its duration, or when it ended.
func timeUp(run *engine.Run, measured time.Time, duration time.Duration, ended time.Time) time.Time {
	if up := measured.Add(duration + run.Suspended()); duration > 0 && up.Before(ended) && run.ByDuration() {
		return up
	}
	return ended
}

// teardown removes what a plan has made, and what is claimed, within the time allowed. A
// store that ignores the end of the context is left behind.
func teardown(ctx context.Context, plan *workload.Plan, l *lease) error {
	hard := ctx
	ctx, cancel := context.WithTimeout(ctx, TeardownTimeout)
	defer cancel()
	ctx, free := l.whileOurs(ctx)
	defer free()
	done := make(chan error, 1) // one value: the sender never waits
	fault.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("the removal crashed: %v", r)
			}
		}()
		errs := []error{plan.Teardown(ctx)}
		if l.claim != nil {
			errs = append(errs, l.claim.Cleanup(ctx))
		}
		done <- errors.Join(errs...)
	})
	select {
	case err := <-done:
		switch {
		case err != nil && hard.Err() != nil:
			err = fault.Hint(errors.New("a second interrupt cut short the removal of what this run made"), "perfbench data delete removes the rest")
		case err != nil:
			err = fault.Hint(fmt.Errorf("remove what this run made: %w", err), "perfbench data delete removes it later")
		}
		return err
	case <-after(ctx):
		return fault.Hint(errors.New("the removal of what this run made was cut short"), "perfbench data delete removes the rest")
	}
}

// verify verifies what is stored, if the store answers and the data are still the run's. It
// reports whether the store was silent.
func (e *conclusion) verify(ctx context.Context) (silent bool) {
	v := &verifier{
		conn: e.o.conn, mask: e.p.secret().mask, endedBy: e.run.EndedBy,
		timeUp: timeUp(e.d.run, e.d.measured(), e.planned(), e.run.Ended), drain: e.p.Inputs.Drain, onWait: e.d.onWait,
	}
	if workload.Has[workload.Verifier](e.o.plan.Parts) {
		v.verify = e.o.plan.Verify
	}
	switch lost := e.o.lease.lost(); {
	case e.p.restored.verified() != nil:
		e.run.Verification = *e.p.restored.verified()
	case lost != nil:
		e.run.Verification = workload.Verification{State: workload.Incomplete, Summary: lost.Error()}
	default:
		e.run.Verification, silent = v.result(ctx)
		return silent
	}
	return v.silent(ctx)
}

// restarted tells, once what is stored was verified, of the servers that were started again meanwhile.
func (e *conclusion) restarted(ctx context.Context) {
	if e.run.Observed == nil {
		return
	}
	e.o.sampler.LookAgain(ctx)
	e.run.Observed.Restarts = e.o.sampler.lives.restarts(e.d.measured())
	e.run.Marks = markRestarts(e.run.Marks, e.run.Observed.Restarts, e.run.Outages, e.run.MeasuredS)
}

// markRestarts gives each restart the second of its mark, so that both are told as of one moment. One that
// was noticed after the end has none, as a run that has ended takes no marks: it gets one, unless it was after
// the end itself. Where an outage ended within what the store's clock leaves open, that is when it was.
func markRestarts(marks []rundir.Mark, list []verdict.Restart, outages []verdict.Outage, end float64) []rundir.Mark {
	from := 0
	for i := range list {
		r := &list[i]
		at := slices.IndexFunc(marks[from:], func(m rundir.Mark) bool { return m.Note == r.Note() })
		if at < 0 && r.AtS >= end {
			continue
		}
		if at < 0 {
			at, marks = len(marks)-from, append(marks, rundir.Mark{At: r.AtS, Note: r.Note()})
		}
		from += at + 1
		m := &marks[from-1]
		for _, o := range outages {
			if math.Abs(o.To-m.At) <= slack.Seconds() {
				m.At = o.To
			}
		}
		r.AtS = math.Floor(m.At)
	}
	sort.SliceStable(marks, func(i, k int) bool { return marks[i].At < marks[k].At })
	return marks
}

// planned returns how long the run was to last, if it is its duration that ends it: with
// phases one after the other, each of which has that, it is longer.
func (e *conclusion) planned() time.Duration {
	if e.p.Inputs.Duration == 0 {
		return 0
	}
	return max(e.p.Inputs.Duration, e.o.plan.Length())
}

// cleanUp removes what the run made, where that was asked for.
func (e *conclusion) cleanUp(ctx context.Context, silent bool) error {
	switch {
	case !e.p.Cleanup || !workload.Has[workload.Remover](e.o.plan.Parts) && e.o.lease.claim == nil:
	case e.o.lease.lost() != nil:
		return errors.New("what this run made was not removed: it no longer belongs to the run")
	case ctx.Err() != nil:
		return fault.Hint(errors.New("what this run made was not removed: a second interrupt left no time for it"), "perfbench data delete removes it later")
	case silent:
		return fault.Hint(errors.New("what this run made was not removed: the store does not answer"), "perfbench data delete removes it later")
	default:
		return errors.Join(e.o.keep(&e.run.Verification), teardown(ctx, e.o.plan, &e.o.lease))
	}
	return nil
}
