package eventstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// account verifies what is stored: every event is read back and accounted for.
type account struct {
	b      *binding
	shared *workload.Shared

	mu      sync.Mutex
	audited *report.Ledger // nil until then
}

// sums fills in what became of all events, as far as that is known.
func (a *account) sums(f *report.Ledger) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.audited != nil {
		*f = *a.audited
	} else {
		a.b.ledger.Sums(f)
	}
}

// readBack reads back everything of this run and accounts for it.
func (a *account) readBack(ctx context.Context) (*report.Ledger, error) {
	b := a.b
	t := ledger.Trail{Lookup: b.l, Traits: b.tr, Authors: b.boxes.authors}
	if first, last, _ := b.queries.sample.span(); first > 0 {
		// What was stored but never reported still lies within the run.
		t.From, t.To = min(first, b.s.Born), max(last, b.clock.wall())
	}
	return b.ledger.Audit(ctx, t)
}

// Verify waits for what is on its way, ends the store stage, and accounts for every
// event.
func (a *account) Verify(ctx context.Context) workload.Verification {
	v := a.outcome(ctx)
	if s := a.b.search; s != nil {
		v.Summary += "; " + s.summary()
	}
	return v
}

// outcome determines what became of every event.
func (a *account) outcome(ctx context.Context) workload.Verification {
	b := a.b
	b.Settle(ctx)
	b.series.seconds.Close()
	left := b.ledger.Left()
	if b.drain.empty.Load() { // what has not arrived by now will not
		left = 0
	}
	switch {
	case b.tr.Forgets:
		return workload.Verification{State: workload.Skipped, Summary: "nothing is kept, so there is nothing to verify"}
	case !b.s.verify:
		return workload.Verification{State: workload.Skipped, Summary: "verify=off: the events were not read back"}
	}
	f, err := a.readBack(ctx)
	if err != nil {
		v := workload.Verification{State: workload.Incomplete, Summary: fmt.Sprintf("the events could not be read back: %v", err)}
		if left > 0 {
			v.Summary += "; " + a.lateWords(left)
		}
		return v
	}
	a.mu.Lock()
	a.audited = f
	a.mu.Unlock()
	if b.s.Compat {
		b.failures.Lose(func(l *report.Losses) { l.Duplicates, l.Unconfirmed = f.Duplicated, f.Unconfirmed })
	}
	return a.judge(f, left)
}

// excused returns how many events may be given up without failing the run: in compat, what the
// original loses is counted, but is not a failure.
func (a *account) excused() int64 {
	if !a.b.s.Compat {
		return 0
	}
	wrong := a.b.wrong(a.b.others.Told())
	l := &wrong.Losses
	return l.RootRejected + l.Rejected + l.Exhausted + l.Oversized
}

// judge derives the verdict from the account.
func (a *account) judge(f *report.Ledger, left int64) workload.Verification {
	v := workload.Verification{State: workload.Passed}
	check := func(name string, n, of int64, fails bool) {
		c := workload.Check{Name: name, OK: n == 0 || !fails, Of: of, Want: "0", Got: fmt.Sprint(n), Examples: f.Examples[name]}
		if !c.OK {
			v.State = workload.Failed
		}
		v.Checks = append(v.Checks, c)
	}
	b := a.b
	excused := a.excused()
	missing := f.Missing
	if !b.s.answered() {
		left = 0
	}
	if left > 0 { // still on its way: neither stored nor lost
		missing = max(f.Missing-left, 0)
	}
	read := f.Once + f.Duplicated + f.Unexpected
	v.Lose(missing)
	if !b.s.answered() { // their generators take them for stored
		v.Lose(f.Unconfirmed)
	} else if !a.shared.Lost() { // of a worker that was lost, nobody knows
		absent := max(f.Unconfirmed-(f.Generated-f.Sent), 0) // what was never sent has no answer to wait for
		v.Unsure(absent+f.ThereAnyway, f.ThereAnyway, absent)
	}
	check("missing", missing, f.Sent, true)
	check("duplicated", f.Duplicated, read, !b.s.Compat)
	check("unexpected", f.Unexpected, read, true)
	check("corrupt", f.Corrupt, read, true)
	check("given up", f.DeadLettered, f.Sent, f.DeadLettered > excused)
	v.Summary = fmt.Sprintf("of %d events sent, %d are stored exactly once, %d more than once, %d lost, %d given up",
		f.Sent, f.Once, f.Duplicated, missing, f.DeadLettered)
	if a.shared.Lost() {
		v.Summary += "; a worker that was lost may have sent more than it told"
		if b.s.answered() && f.Unconfirmed > 0 {
			v.Summary += fmt.Sprintf(", and %d events that it had not stored went with it", f.Unconfirmed)
		}
	}
	switch {
	case !b.s.answered():
		v.Summary += fmt.Sprintf("; %d were published without confirmation and are not there", f.Unconfirmed)
	case b.drain.empty.Load() && f.Unconfirmed > 0:
		v.Summary += fmt.Sprintf("; %d were never confirmed and are not there", f.Unconfirmed)
	}
	if left > 0 && v.State == workload.Passed {
		v.State = workload.Incomplete
		v.Summary += "; " + a.lateWords(left)
	}
	return v
}

// lateWords says what the drain gave up.
func (a *account) lateWords(left int64) string {
	b, took := a.b, time.Duration(0)
	if d := drainOf(b.others.Told(), b.drain.report); d != nil {
		took = time.Duration(d.ToNs - d.FromNs)
	}
	return fmt.Sprintf("%d events were still on their way %s when the drain was given up after %s (--drain %s)", left, b.s.whither(), units.Duration(took), b.s.drain)
}
