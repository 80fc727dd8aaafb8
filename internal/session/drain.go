package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// planPatience is how long, beyond the drain, a plan has to give up by itself: it can
// explain the reason better.
const planPatience = 3 * time.Second

// killPatience is how long operations in progress have to react to cancellation before
// their connection is closed.
const killPatience = 500 * time.Millisecond

// Waiting is what a run waits for at its end.
type Waiting struct {
	// What names what is awaited, Still is how long none of it has ended, and Limit how
	// long that may last before it is given up.
	What         []string
	Still, Limit time.Duration
}

// String says what is waited for, and until when.
func (w Waiting) String() string {
	return fmt.Sprintf("waiting for %s; given up when none of it has ended for %s (--drain)", strings.Join(w.What, ", "), units.Duration(w.Limit))
}

// drain ends a run that waits in vain once its time is up (--drain). All times are the
// run's, so that a suspension is not blamed on the store.
type drain struct {
	run    *engine.Run
	plan   *workload.Plan
	conn   store.Conn
	inputs workload.Inputs
	mask   func(string) string
	close  func() error // closes conn
	// search means that a search ends the run, which has no planned time.
	search bool
	// patience is how long nothing may work before the store is asked.
	patience time.Duration
	// relayed says, by operation of the plan, that it does not call the store.
	relayed []bool
}

func newDrain(run *engine.Run, o *Opened) *drain {
	d := &drain{run: run, plan: o.plan, conn: o.conn, inputs: o.Prepared.Inputs, mask: o.Prepared.secret().mask, close: o.close, search: o.Prepared.search, patience: max(o.Prepared.Inputs.Drain, o.Prepared.patience)}
	for _, t := range o.plan.Tracks() {
		for range t.Ops {
			d.relayed = append(d.relayed, t.Relays)
		}
	}
	return d
}

// waiting returns what the run is waiting for now that its time is up; false if it is
// still working.
func (d *drain) waiting() (Waiting, bool) {
	w := Waiting{Limit: d.inputs.Drain}
	now := d.run.Elapsed()
	if now >= d.inputs.Duration {
		what, since := d.plan.UnderWay()
		if len(what) > 0 {
			w.What, w.Still = what, time.Since(since)
		}
	}
	if since, what, ok := d.run.Waiting(); ok {
		w.What = append(w.What, what...)
		w.Still = max(w.Still, now-since)
	}
	return w, len(w.What) > 0
}

// watchEnd ends a run whose plan waits in vain, and closes the connection if operations
// do not react to being given up.
func (d *drain) watchEnd() {
	gaveUp := d.watchPlan()
	select {
	case <-d.run.Done():
		return
	case <-d.run.GivenUp():
	}
	select {
	case <-d.run.Done():
	case <-time.After(killPatience):
		if gaveUp || d.run.Abandoned() != nil {
			_ = d.close()
		}
	}
}

// closeLate closes the connection if operations do not react to being cancelled.
func (d *drain) closeLate() {
	select {
	case <-d.run.Done():
	case <-time.After(killPatience):
		_ = d.close()
	}
}

// watchPlan gives up what the plan waits for once none of it has ended for the drain
// plus planPatience. It returns when the run is over or given up, and reports whether it
// gave up.
func (d *drain) watchPlan() (gaveUp bool) {
	if !workload.Has[workload.Waiter](d.plan.Parts) || d.inputs.Duration == 0 {
		return false
	}
	tick := time.NewTicker(answerPause)
	defer tick.Stop()
	var last time.Time
	var from time.Duration
	for {
		select {
		case <-d.run.Done():
			return false
		case <-d.run.GivenUp():
			return false
		case <-tick.C:
		}
		now := d.run.Elapsed()
		if now < d.inputs.Duration {
			continue
		}
		what, since := d.plan.UnderWay()
		if len(what) == 0 || !since.Equal(last) {
			last, from = since, now
			continue
		}
		if still := now - from; still > d.inputs.Drain+planPatience {
			err := fmt.Errorf("gave up at the end on %s: none of it ended for %s (--drain)", strings.Join(what, ", "), units.Duration(still.Round(100*time.Millisecond)))
			d.run.GiveUp(fault.Code(err, fault.CodeStore))
			return true
		}
	}
}

// watchStore ends a run whose store has gone, where no duration does: a phase that ends
// with its work would go on failing for as long as that takes. Once the planned time is
// up, and nothing has worked for the patience, the store is asked if calls failed, and what
// else the plan needs in any case; if one does not answer, the run is given up. A search
// ends like a phase without a duration: no lower rate would hold. It returns when the run
// is over.
func (d *drain) watchStore() {
	ask, ok := store.Has[store.Answerer](d.conn)
	if !ok && !workload.Has[workload.Dependent](d.plan.Parts) || d.inputs.GoesOn() && !d.search {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(answerPause)
	defer tick.Stop()
	var from time.Duration
	var worked, failed int64
	for {
		select {
		case <-d.run.Done():
			return
		case <-d.run.GivenUp():
			return
		case <-tick.C:
		}
		s, now := d.run.Snapshot(), d.run.Elapsed()
		planned := !d.search && (now < d.inputs.Duration || !untimed(d.plan, s))
		if w, f := d.calls(s); w != worked || planned {
			from, worked, failed = now, w, f
			continue
		} else if now-from < d.patience {
			continue
		} else if gone := d.gone(ctx, ask, f != failed); gone != "" {
			setting := " (--drain)"
			if d.patience > d.inputs.Drain {
				setting = ""
			}
			d.run.GiveUp(fault.Store(fmt.Errorf("nothing has worked for %s%s, and %s", units.Duration((d.run.Elapsed()-from).Round(100*time.Millisecond)), setting, gone), ""))
			return
		}
		from = d.run.Elapsed() // all are there: what they refuse is the run's affair
	}
}

// gone says who does not answer, the store, which is asked if calls of it failed, or what
// else the plan needs; "" if all do.
func (d *drain) gone(ctx context.Context, ask store.Answerer, failed bool) string {
	if failed && ask != nil {
		if err := answer(ctx, ask.Answer); slices.Contains(notReady, d.conn.Classify(err)) {
			return "the store does not answer: " + d.mask(err.Error())
		}
	}
	if workload.Has[workload.Dependent](d.plan.Parts) {
		if err := answer(ctx, d.plan.Answer); err != nil {
			return d.mask(err.Error())
		}
	}
	return ""
}

// abandoned returns a notice of what was given up at the end, or "".
func (d *drain) abandoned() string {
	what := d.run.Abandoned()
	if len(what) == 0 {
		return ""
	}
	if d.run.Killed() {
		return "cut off as asked, which is no error: " + strings.Join(what, ", ")
	}
	return fmt.Sprintf("gave up at the end, after %s (--drain), on %s", units.Duration(d.inputs.Drain), strings.Join(what, ", "))
}

// calls counts the calls of the store that worked and those that failed, in whatever
// operation, and those that the profile itself makes.
func (d *drain) calls(s *measure.Snapshot) (worked, failed int64) {
	worked, failed = d.plan.Calls()
	for i, o := range s.Ops {
		if !d.relayed[i] {
			worked, failed = worked+o.Count, failed+o.Errors
		}
	}
	return worked, failed
}

// untimed reports whether a phase is in progress that no duration ends.
func untimed(plan *workload.Plan, s *measure.Snapshot) bool {
	for _, p := range plan.Phases {
		if p.Duration == 0 && slices.Contains(s.Phases, p.Name) {
			return true
		}
	}
	return false
}
