package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// InterruptGrace is how long operations in progress may take after the run has been
// interrupted, before they are cancelled. It is short, as somebody waits at a keyboard.
const InterruptGrace = 3 * time.Second

// answerPatience is how long a store may take to answer after an interrupt before it is
// considered silent.
const answerPatience = 2 * time.Second

// answerPause is how long to wait before asking a store again that does not answer at
// the end.
const answerPause = 250 * time.Millisecond

// planPatience is how long, beyond the drain, a plan has to give up by itself: it can
// explain the reason better.
const planPatience = 3 * time.Second

// notReady are the classes of errors of a store that is away, starting, loading or
// overwhelmed.
var notReady = []store.Class{store.Unreachable, store.Timeout, store.Overloaded, store.Canceled}

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

// Waiting returns what the run is waiting for now that its time is up; false if it is
// still working.
func (l *Live) Waiting() (Waiting, bool) {
	w := Waiting{Limit: l.Inputs.Drain}
	now := l.run.Elapsed()
	if l.plan.UnderWay != nil && now >= l.Inputs.Duration {
		what, since := l.plan.UnderWay()
		if len(what) > 0 {
			w.What, w.Still = what, time.Since(since)
		}
	}
	if since, what, ok := l.run.Waiting(); ok {
		w.What = append(w.What, what...)
		w.Still = max(w.Still, now-since)
	}
	return w, len(w.What) > 0
}

// followEnd ends a run whose plan waits in vain, and, as Kill does, closes the
// connection if operations do not react to being given up.
func (l *Live) followEnd() {
	gaveUp := l.followPlan()
	select {
	case <-l.run.Done():
		return
	case <-l.run.GivenUp():
	}
	select {
	case <-l.run.Done():
	case <-time.After(killPatience):
		if gaveUp || l.run.Abandoned() != nil {
			_ = l.close()
		}
	}
}

// followPlan gives up what the plan waits for once none of it has ended for the drain
// plus planPatience, in the run's time, so that a suspension is not blamed on the
// store. It returns when the run is over or given up, and reports whether it gave up.
func (l *Live) followPlan() (gaveUp bool) {
	if l.plan.UnderWay == nil || l.Inputs.Duration == 0 {
		return false
	}
	look := time.NewTicker(answerPause)
	defer look.Stop()
	var last time.Time
	var from time.Duration
	for {
		select {
		case <-l.run.Done():
			return false
		case <-l.run.GivenUp():
			return false
		case <-look.C:
		}
		now := l.run.Elapsed()
		if now < l.Inputs.Duration {
			continue
		}
		what, since := l.plan.UnderWay()
		if len(what) == 0 || !since.Equal(last) {
			last, from = since, now
			continue
		}
		if still := now - from; still > l.Inputs.Drain+planPatience {
			err := fmt.Errorf("gave up at the end on %s: none of it ended for %s (--drain)", strings.Join(what, ", "), units.Duration(still.Round(100*time.Millisecond)))
			l.run.GiveUp(fault.Code(err, fault.CodeStore))
			return true
		}
	}
}

// abandoned returns a notice of what was given up at the end, or "".
func (l *Live) abandoned() string {
	what := l.run.Abandoned()
	if len(what) == 0 {
		return ""
	}
	return fmt.Sprintf("gave up at the end, after %s (--drain), on %s", units.Duration(l.Inputs.Drain), strings.Join(what, ", "))
}

// OnWait sets a function that is called with a sentence when Finish waits for the
// store. It must be called before Finish.
func (l *Live) OnWait(tell func(sentence string)) { l.onWait = tell }

// answers waits until the store answers, so that a store that is starting or loading at
// the end of a run is not taken for one that is gone. It gives up when the drain is
// over, and returns the store's last error.
//
// A run that was ended by a fault has already waited for it.
func (l *Live) answers(ctx context.Context, endedBy string) error {
	a, ok := l.conn.(store.Answerer)
	if !ok {
		return nil
	}
	end := l.timeUp().Add(l.Inputs.Drain)
	if strings.HasPrefix(endedBy, "fault: ") {
		end = time.Time{}
	}
	for told := false; ; told = true {
		err := answer(ctx, a)
		if !slices.Contains(notReady, l.conn.Classify(err)) {
			return nil // a refusal is an answer
		}
		left := time.Until(end)
		if ctx.Err() != nil || left <= 0 {
			return err
		}
		if !told && l.onWait != nil {
			l.onWait(fmt.Sprintf("waiting for the store to answer, %s at most (--drain): %s", units.Duration(left.Round(100*time.Millisecond)), l.mask(err.Error())))
		}
		select {
		case <-time.After(min(answerPause, left)):
		case <-ctx.Done():
		}
	}
}

// answer queries a store once, within answerPatience. A call that ignores the end of
// its context is left behind.
func answer(ctx context.Context, a store.Answerer) error {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	said := make(chan error, 1) // one value: the sender never waits
	go func() { said <- a.Answer(ctx) }()
	select {
	case err := <-said:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no answer within %s: %w", units.Duration(answerPatience), ctx.Err())
	}
}

// timeUp returns when the run was to end by its duration, or the current time.
func (l *Live) timeUp() time.Time {
	if l.ended.IsZero() {
		l.ended = time.Now()
	}
	if d := l.Inputs.Duration; d > 0 {
		if up := l.began.Add(l.Warmup() + d + l.run.Suspended()); up.Before(l.ended) && l.run.ByDuration() {
			return up
		}
	}
	return l.ended
}

// unanswered verifies although the store does not answer: the plan may hold something
// that has to be stopped, and knows best what is missing. It is given little time.
func (l *Live) unanswered(ctx context.Context, why error) workload.Verification {
	if l.plan.Verify == nil {
		return l.verify(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	v := l.verify(ctx)
	if v.State == workload.Incomplete {
		waited := time.Since(l.timeUp()).Round(100 * time.Millisecond)
		v.Summary = fmt.Sprintf("the store did not answer for %s after the end of the run (%s): %s", units.Duration(waited), l.mask(why.Error()), v.Summary)
	}
	return v
}

// afterInterrupt makes operations in progress end within InterruptGrace of an
// interrupt, or telling later if workers run them, whose messages need time.
func (l *Live) afterInterrupt(ctx context.Context) {
	context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), ErrInterrupted) {
			return
		}
		grace := InterruptGrace
		if l.away() != nil {
			grace += telling
		}
		select {
		case <-l.run.Done():
		case <-time.After(grace):
			l.Kill()
		}
	})
}

// silent reports whether the run was interrupted and the store answers nobody, so that
// there is no point in asking it anything else. A second interrupt, which ends ctx, is not
// the store's silence.
func (l *Live) silent(ctx context.Context, endedBy string) bool {
	if endedBy != "interrupt" || ctx.Err() != nil {
		return false
	}
	hard := ctx
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	answer := make(chan error, 1) // one value: the sender never waits
	go func() {
		_, err := l.conn.Info(ctx)
		answer <- err
	}()
	select {
	case err := <-answer:
		return err != nil && hard.Err() == nil
	case <-ctx.Done():
		return hard.Err() == nil
	}
}

// unverified returns the verification of a run whose store is silent.
func unverified() workload.Verification {
	return workload.Verification{State: workload.Incomplete, Summary: "the store did not answer after the interrupt, and was not asked what it holds"}
}

// hurried returns the verification of a run whose end a second interrupt cut short.
func hurried() workload.Verification {
	return workload.Verification{State: workload.Incomplete, Summary: "a second interrupt left no time for it"}
}
