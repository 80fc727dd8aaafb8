package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/remote/view"
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
	if cause == nil {
		cause = d.crew.Deserted()
	}
	d.crew.Lost()
	run := d.journal.Run()
	d.record(ctx, &run, res, cause)
	defer d.crew.Close()
	silent := d.verify(ctx, &run)
	errs := []error{d.cleanUp(ctx, &run, silent)}
	d.lease.release(ctx, silent || ctx.Err() != nil, d.env.Log)
	c := &Concluded{Dir: d.Dir()}
	run.Verdict.Thresholds, c.Missed = d.thresholds.judge(&run)
	run.Verdict = run.Judge()
	d.feed.End(run.Verdict)
	errs = append(errs, d.journal.Finish(run), d.close())
	c.Run = d.journal.Run()
	c.Err = d.hide(failure(&run, cause, c.Missed, d.RequireValid, errors.Join(errs...)))
	d.showConcluded(c)
	return c
}

// record puts into a run what is known once all its workers have ended.
func (d *Driven) record(ctx context.Context, run *rundir.Run, res *measure.Result, cause error) {
	if res != nil {
		d.measured.Store(res)
		rundir.SetResult(run, res)
		d.warmup.cut(run)
	}
	run.Workers = d.crew.Workers(d.Inputs.Warmup)
	d.crew.Rest()
	d.lease.endWorkers(ctx, d.crew, d.onWait, d.env.Log)
	run.Ended = time.Now()
	run.EndedBy = endedBy(cause, d.run.ByDuration(), d.hide)
	run.Observed = d.Observed()
	if run.Observed != nil && slices.Contains(run.Judge().Causes, string(verdict.Ceiling)) && d.ceiling.recalibrate(ctx) {
		run.Observed = d.Observed()
	}
	run.Environment = environment(d.env.Version, run.Observed)
	notices := []string{d.drain.abandoned(), "", d.heap.death(run.Errors, func() string { return outOfHeap(d.Prepared) })}
	if run.EndedBy == "duration" {
		notices[1] = d.convergence.missed(d.Inputs.Duration)
	}
	for _, n := range notices {
		if n != "" {
			run.Notices = append(run.Notices, n)
		}
	}
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

// verify verifies what is stored, if the store answers and the data are still the run's. It
// reports whether the store was silent.
func (d *Driven) verify(ctx context.Context, run *rundir.Run) (silent bool) {
	v := &verifier{
		verify: d.plan.Verify, conn: d.conn, mask: d.mask, endedBy: run.EndedBy,
		timeUp: timeUp(d.run, d.began.Add(d.Warmup()), d.planned(), run.Ended), drain: d.Inputs.Drain, onWait: d.onWait,
	}
	switch lost := d.lease.lost(); {
	case d.restored.verified() != nil:
		run.Verification = *d.restored.verified()
	case lost != nil:
		run.Verification = workload.Verification{State: workload.Incomplete, Summary: lost.Error()}
	default:
		run.Verification, silent = v.result(ctx)
		return silent
	}
	return v.silent(ctx)
}

// planned returns how long the run was to last, if it is its duration that ends it: with
// phases one after the other, each of which has that, it is longer.
func (d *Driven) planned() time.Duration {
	if d.Inputs.Duration == 0 {
		return 0
	}
	return max(d.Inputs.Duration, d.plan.Length())
}

// timeUp returns when a run was to end by its duration, or when it ended.
func timeUp(run *engine.Run, measured time.Time, duration time.Duration, ended time.Time) time.Time {
	if up := measured.Add(duration + run.Suspended()); duration > 0 && up.Before(ended) && run.ByDuration() {
		return up
	}
	return ended
}

// cleanUp removes what the run made, where that was asked for.
func (d *Driven) cleanUp(ctx context.Context, run *rundir.Run, silent bool) error {
	switch {
	case !d.Cleanup || d.plan.Teardown == nil && d.lease.claim == nil:
	case d.lease.lost() != nil:
		return errors.New("what this run made was not removed: it no longer belongs to the run")
	case ctx.Err() != nil:
		return fault.Hint(errors.New("what this run made was not removed: a second interrupt left no time for it"), "perfbench data delete removes it later")
	case silent:
		return fault.Hint(errors.New("what this run made was not removed: the store does not answer"), "perfbench data delete removes it later")
	default:
		return errors.Join(d.keep(&run.Verification), teardown(ctx, d.plan, &d.lease))
	}
	return nil
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
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("the removal crashed: %v", r)
			}
		}()
		var errs []error
		if plan.Teardown != nil {
			errs = append(errs, plan.Teardown(ctx))
		}
		if l.claim != nil {
			errs = append(errs, l.claim.Cleanup(ctx))
		}
		done <- errors.Join(errs...)
	}()
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

// showConcluded shows how the run ended to those who watch it.
func (d *Driven) showConcluded(c *Concluded) {
	if d.crew == nil {
		return
	}
	v := d.view()
	v.Progress.Stage, v.Verdict = view.Ended, c.Run.Verdict
	v.Came = &view.Came{Code: c.Code(), Dir: c.Dir}
	if c.Err != nil {
		v.Came.Err = c.Err.Error()
	}
	v.Came.Run, _ = json.Marshal(c.Run) // as in its file
	d.crew.Concluded(v)
}
