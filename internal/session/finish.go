package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/threshold"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// VerifyTimeout and TeardownTimeout limit verification and teardown.
const (
	VerifyTimeout   = 5 * time.Minute
	TeardownTimeout = 5 * time.Minute
)

// VerificationFailed is how the error of a run begins whose verification failed.
const VerificationFailed = "verification failed"

// Outcome is how a run ended.
type Outcome struct {
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
func (o *Outcome) Code() int { return fault.CodeOf(o.Err) }

// Finish waits for the run to end, verifies, cleans up if requested, judges the
// thresholds, and writes the documents. Cancelling ctx cuts verification and cleanup
// short; the documents are still written. It must be called exactly once.
func (l *Live) Finish(ctx context.Context) *Outcome {
	res, cause := l.run.Wait()
	<-l.over
	if cause == nil {
		cause = l.crew.Deserted()
	}
	l.crew.Lost()
	o := &Outcome{Dir: l.Dir()}
	run := l.journal.Run()
	if res != nil {
		rundir.SetResult(&run, res)
		l.cutWarmup(&run)
	}
	run.Workers = l.crew.Workers(l.Inputs.Warmup)
	l.crew.Rest()
	defer l.crew.Close()
	run.Ended = time.Now()
	run.EndedBy = l.endedBy(cause)
	run.Observed = l.observedNow()
	l.recalibrate(ctx, &run)
	run.Environment = l.environment(run.Observed)
	if a := l.abandoned(); a != "" {
		run.Notices = append(run.Notices, a)
	}
	if l.watch != nil && run.EndedBy == "duration" {
		if n := l.watch.Missed(l.Inputs.Duration); n != "" {
			run.Notices = append(run.Notices, n)
		}
	}
	if n := l.diedOfHeap(&run); n != "" {
		run.Notices = append(run.Notices, n)
	}
	silent := l.verifyAll(ctx, &run)
	errs := []error{l.cleanUp(ctx, &run, silent)}
	l.letGo(ctx, silent || ctx.Err() != nil)
	judged, missed := l.judge(&run)
	o.Missed = missed
	run.Verdict.Thresholds = judged
	run.Verdict = run.Judge()
	l.feed.End(run.Verdict)
	errs = append(errs, l.journal.Finish(run), l.close())
	o.Run = l.journal.Run()
	o.Err = l.hide(l.failure(&run, cause, o.Missed, errors.Join(errs...)))
	l.came(o)
	return o
}

// verifyAll verifies what is stored, if the store answers and the data are still the run's. It
// says whether the store was silent.
func (l *Live) verifyAll(ctx context.Context, run *rundir.Run) (silent bool) {
	silent = l.silent(ctx, run.EndedBy)
	switch {
	case l.past.verified() != nil:
		run.Verification = *l.past.verified()
	case l.claimLost() != nil:
		run.Verification = workload.Verification{State: workload.Incomplete, Summary: l.claimLost().Error()}
	case silent && l.plan.Verify != nil:
		run.Verification = unverified()
	case ctx.Err() != nil && l.plan.Verify != nil:
		run.Verification = hurried()
	default:
		if err := l.answers(ctx, run.EndedBy); err != nil {
			run.Verification, silent = l.unanswered(ctx, err), true
		} else {
			run.Verification = l.verify(ctx)
		}
		if ctx.Err() != nil && run.Verification.State == workload.Incomplete {
			run.Verification, silent = hurried(), false
		}
	}
	return silent
}

// cleanUp removes what the run made, where that was asked for.
func (l *Live) cleanUp(ctx context.Context, run *rundir.Run, silent bool) error {
	switch {
	case !l.Cleanup || l.plan.Teardown == nil && l.claim == nil:
	case l.claimLost() != nil:
		return errors.New("what this run made was not removed: it no longer belongs to the run")
	case ctx.Err() != nil:
		return fault.Hint(errors.New("what this run made was not removed: a second interrupt left no time for it"), "perfbench data delete removes it later")
	case silent:
		return fault.Hint(errors.New("what this run made was not removed: the store does not answer"), "perfbench data delete removes it later")
	default:
		return errors.Join(l.keepPast(&run.Verification), l.teardown(ctx))
	}
	return nil
}

func (l *Live) endedBy(cause error) string {
	switch {
	case cause == nil && l.run.ByDuration():
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
	return "fault: " + l.hide(cause).Error()
}

// verify asks the plan whether the stored data are right, within the time allowed. A
// plan that ignores the end of its context is left behind.
func (l *Live) verify(ctx context.Context) workload.Verification {
	if l.plan.Verify == nil {
		return workload.Verification{State: workload.Skipped, Summary: "this run has nothing to verify"}
	}
	ctx, cancel := context.WithTimeout(ctx, VerifyTimeout)
	defer cancel()
	done := make(chan workload.Verification, 1) // one value: the sender never waits
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- workload.Verification{State: workload.Incomplete, Summary: fmt.Sprintf("the verification crashed: %v", r)}
			}
		}()
		done <- l.plan.Verify(ctx)
	}()
	select {
	case v := <-done:
		v.Summary = l.mask(v.Summary)
		return v
	case <-after(ctx):
		return workload.Verification{State: workload.Incomplete, Summary: "the verification was cut short"}
	}
}

// after returns a channel that is closed a second after ctx has ended, to give whatever
// reacts to it time to report.
func after(ctx context.Context) <-chan struct{} {
	late, cancel := context.WithCancel(context.Background())
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, cancel) })
	return late.Done()
}

func (l *Live) teardown(ctx context.Context) error {
	hard := ctx
	ctx, cancel := context.WithTimeout(ctx, TeardownTimeout)
	defer cancel()
	done := make(chan error, 1) // one value: the sender never waits
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("the removal crashed: %v", r)
			}
		}()
		var errs []error
		if l.plan.Teardown != nil {
			errs = append(errs, l.plan.Teardown(ctx))
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

// judge returns the outcome of each threshold, and a sentence for each that was missed.
func (l *Live) judge(run *rundir.Run) (all []rundir.Threshold, missed []string) {
	of := l.seenBy(run)
	for _, t := range l.Thresholds {
		got := t.Judge(of(t))
		if l.abort != nil && l.abort.expr == t { // what happened afterwards does not undo it
			got = l.abort.outcome
		}
		all = append(all, rundir.Threshold{Expr: t.Text, OK: got.OK, Got: got.Got})
		if !got.OK {
			missed = append(missed, t.Reason(got))
		}
	}
	return all, missed
}

// seenBy returns the run as each threshold sees it: for a whole track or run, only the
// operations that count in its unit.
func (l *Live) seenBy(run *rundir.Run) func(threshold.Expr) *rundir.Folder {
	view := *run
	if run.Failed() {
		view.Operations = append([]rundir.Operation(nil), run.Operations...)
		for i := range view.Operations {
			view.Operations[i].Throughput = nil
		}
	}
	whole := view
	whole.Operations = nil
	counted := l.Plan.Counted()
	for i, o := range view.Operations {
		if i >= len(counted) || counted[i] {
			whole.Operations = append(whole.Operations, o)
		}
	}
	tracks := trackNames(l.Plan)
	return func(t threshold.Expr) *rundir.Folder {
		f := &rundir.Folder{Dir: l.Dir(), Run: view, Histograms: l.merged}
		if t.Of == "" || slices.Contains(tracks, t.Of) {
			f.Run = whole
		}
		return f
	}
}

// aborted is a threshold that ended the run, and the value that it had reached.
type aborted struct {
	expr    threshold.Expr
	outcome threshold.Outcome
}

// mayAbort ends the run if it has missed a threshold that is marked to abort. Only the
// sink calls it, after a whole second.
func (l *Live) mayAbort(run *rundir.Run, measured time.Duration) {
	if l.abort != nil || !slices.ContainsFunc(l.Thresholds, func(t threshold.Expr) bool { return t.Abort }) {
		return
	}
	of := l.seenBy(run)
	for _, t := range l.Thresholds {
		if !t.Abort {
			continue
		}
		if got := t.Judge(of(t)); t.Ends(got, measured) {
			got.Got += " after " + units.Duration(measured) + ", which ended the run"
			l.abort = &aborted{t, got}
			l.Stop(Reached("threshold"))
			return
		}
	}
}

// failure returns the error of the outcome. The first of these decides its code:
// interrupted, fault, verification, store gone, threshold, not valid, documents.
func (l *Live) failure(run *rundir.Run, cause error, missed []string, rest error) error {
	var err error
	switch {
	case run.EndedBy == "interrupt":
		err = fault.Code(errors.New("interrupted; what was measured until then is reported"), fault.CodeInterrupted)
	case strings.HasPrefix(run.EndedBy, "fault: "):
		err = cause
	}
	var problems []error
	add := func(e error, code int) {
		if e != nil {
			problems = append(problems, fault.Code(e, code))
		}
	}
	add(err, fault.CodeOther)
	if run.Verification.State == workload.Failed {
		add(fmt.Errorf("%s: %s", VerificationFailed, run.Verification.Brief()), fault.CodeVerification)
	}
	if run.Verification.State == workload.Incomplete && err == nil {
		add(fault.Hint(fmt.Errorf("the run could not be verified: %s", run.Verification.Summary),
			"what was measured is reported; check the store and run again"), fault.CodeStore)
	}
	if err == nil {
		add(nothingWorked(run), fault.CodeStore)
	}
	for _, m := range missed {
		add(errors.New(m), fault.CodeThreshold)
	}
	if l.RequireValid && !run.Verdict.Valid() {
		add(fault.Hint(fmt.Errorf("the run is %s: %s", run.Verdict.State, strings.Join(run.Verdict.Reasons, "; ")),
			"--require-valid accepts a run only when nothing casts doubt on its figures"), fault.CodeThreshold)
	}
	add(rest, fault.CodeOther)
	if len(problems) == 0 {
		return nil
	}
	if len(problems) == 1 {
		return problems[0]
	}
	return fault.Code(errors.Join(problems...), fault.CodeOf(problems[0]))
}

// nothingWorked returns the error of a run in which not one operation succeeded: the
// store refused all of them. Individual failures are only counted.
func nothingWorked(run *rundir.Run) error {
	failed := int64(0)
	for _, o := range run.Operations {
		if o.Count > 0 {
			return nil
		}
		failed += o.Errors
	}
	if failed == 0 {
		return nil
	}
	why := run.Errors[0].Class
	if m := run.Errors[0].Messages; len(m) > 0 {
		why += ": " + m[0]
	}
	return fault.Hint(fmt.Errorf("not one of %d operations succeeded (%s)", failed, why), "what was counted is reported; check the store and run again")
}

func codeOfCause(cause error) int {
	if errors.Is(cause, ErrInterrupted) {
		return fault.CodeInterrupted
	}
	return fault.CodeOf(cause)
}
