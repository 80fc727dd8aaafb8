package eventstore

import (
	"context"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
)

// readBack reads back everything of this run and accounts for it.
func (b *binding) readBack(ctx context.Context) (*facts.Ledger, error) {
	t := ledger.Trail{Lookup: b.l, Traits: b.tr, Authors: b.authors}
	if first, last, _ := b.sample.span(); first > 0 {
		// What was stored but never reported still lies within the run.
		t.From, t.To = min(first, b.s.Born), max(last, b.wall())
	}
	return b.ledger.Audit(ctx, t)
}

// verify waits for what is on its way, ends the store stage, and accounts for every
// event.
func (b *binding) verify(ctx context.Context) workload.Verification {
	v := b.account(ctx)
	if b.search != nil {
		v.Summary += "; " + b.search.summary()
	}
	return v
}

// account determines what became of every event.
func (b *binding) account(ctx context.Context) workload.Verification {
	b.settle(ctx)
	b.series.close()
	left := b.ledger.Left()
	switch {
	case b.tr.Forgets:
		return workload.Verification{State: workload.Skipped, Summary: "nothing is kept, so there is nothing to verify"}
	case !b.s.verify:
		return workload.Verification{State: workload.Skipped, Summary: "verify=off: the events were not read back"}
	}
	f, err := b.readBack(ctx)
	if err != nil {
		v := workload.Verification{State: workload.Incomplete, Summary: fmt.Sprintf("the events could not be read back: %v", err)}
		if left > 0 {
			v.Summary += "; " + b.lateWords(left)
		}
		return v
	}
	b.mu.Lock()
	b.audited = f
	b.mu.Unlock()
	if b.s.Compat {
		b.meter.Lose(func(l *facts.Losses) { l.Duplicates, l.Unconfirmed = f.Duplicated, f.Unconfirmed })
	}
	return b.judge(f, left)
}

// finish waits for the backlog if the drain has not.
func (b *binding) finish(ctx context.Context) {
	b.mu.Lock()
	drained := b.drainTo > 0 || b.st == nil || len(b.others.Told()) > 0
	b.mu.Unlock()
	if drained {
		return
	}
	w := b.wait()
	b.beginDrain()
	var q quiet
	for !b.settled() && !q.lasts(ctx, b) && ctx.Err() == nil && !w.over() {
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	b.endDrain()
}

// judge derives the verdict from the account.
func (b *binding) judge(f *facts.Ledger, left int64) workload.Verification {
	v := workload.Verification{State: workload.Passed}
	check := func(name string, n, of int64, fails bool) {
		c := workload.Check{Name: name, OK: n == 0 || !fails, Of: of, Want: "0", Got: fmt.Sprint(n), Examples: f.Examples[name]}
		if !c.OK {
			v.State = workload.Failed
		}
		v.Checks = append(v.Checks, c)
	}
	// In compat, what the original loses is counted, but is not a failure.
	excused := b.meter.Excused(b.s.Compat)
	missing := f.Missing
	if !b.s.answered() { // what has not arrived by now will not
		left = 0
	}
	if left > 0 { // still on its way: neither stored nor lost
		missing = max(f.Missing-left, 0)
	}
	read := f.Once + f.Duplicated + f.Unexpected
	check("missing", missing, f.Sent, true)
	check("duplicated", f.Duplicated, read, !b.s.Compat)
	check("unexpected", f.Unexpected, read, true)
	check("corrupt", f.Corrupt, read, true)
	check("given up", f.DeadLettered, f.Sent, f.DeadLettered > excused)
	v.Summary = fmt.Sprintf("of %d events sent, %d are stored exactly once, %d more than once, %d lost, %d given up",
		f.Sent, f.Once, f.Duplicated, missing, f.DeadLettered)
	if b.shared.Lost() {
		v.Summary += "; a worker that was lost may have sent more than it told"
	}
	if !b.s.answered() {
		v.Summary += fmt.Sprintf("; %d were published without confirmation and are not there", f.Unconfirmed)
	}
	if left > 0 && v.State == workload.Passed {
		v.State = workload.Incomplete
		v.Summary += "; " + b.lateWords(left)
	}
	return v
}

// lateWords says what the drain gave up.
func (b *binding) lateWords(left int64) string {
	took := time.Duration(0)
	if d := b.drained(); d != nil {
		took = time.Duration(d.ToNs - d.FromNs)
	}
	return fmt.Sprintf("%d events were still on their way %s when the drain was given up after %s (--drain %s)", left, b.whither(), units.Duration(took), b.s.drain)
}
