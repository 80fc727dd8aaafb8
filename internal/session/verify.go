package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// VerifyTimeout limits verification.
const VerifyTimeout = 5 * time.Minute

// answerPatience is how long a store may take to answer after an interrupt before it is
// considered silent.
const answerPatience = 2 * time.Second

// answerPause is how long to wait before asking a store again that does not answer at
// the end.
const answerPause = 250 * time.Millisecond

// notReady are the classes of errors of a store that is away, starting, loading or
// overwhelmed.
var notReady = []store.Class{store.Unreachable, store.Timeout, store.Overloaded, store.Canceled}

// verifier asks a plan at the end of a run whether what is stored is right, if the store
// answers.
type verifier struct {
	verify func(context.Context) workload.Verification // the plan's; nil: it has none
	conn   store.Conn
	mask   func(string) string
	// endedBy says how the run ended, timeUp when it was to, and drain how long after that
	// the store may take to answer.
	endedBy string
	timeUp  time.Time
	drain   time.Duration
	// onWait, when set, is called when the store is waited for.
	onWait func(sentence string)
}

// result verifies what is stored. It reports whether the store was silent.
func (v *verifier) result(ctx context.Context) (out workload.Verification, silent bool) {
	silent = v.silent(ctx)
	switch {
	case silent && v.verify != nil:
		return unverified(), true
	case ctx.Err() != nil && v.verify != nil:
		return hurried(), silent
	}
	if err := v.answers(ctx); err != nil {
		out, silent = v.unanswered(ctx, err), true
	} else {
		out = v.ask(ctx)
	}
	if ctx.Err() != nil && out.State == workload.Incomplete {
		return hurried(), false
	}
	return out, silent
}

// ask asks the plan, within the time allowed. A plan that ignores the end of its context
// is left behind.
func (v *verifier) ask(ctx context.Context) workload.Verification {
	if v.verify == nil {
		return workload.Verification{State: workload.Skipped, Summary: "this run has nothing to verify"}
	}
	ctx, cancel := context.WithTimeout(ctx, VerifyTimeout)
	defer cancel()
	done := make(chan workload.Verification, 1) // one value: the sender never waits
	fault.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				done <- workload.Verification{State: workload.Incomplete, Summary: fmt.Sprintf("the verification crashed: %v", r)}
			}
		}()
		done <- v.verify(ctx)
	})
	select {
	case out := <-done:
		if text := out.Unanswered.Words(); text != "" {
			out.Summary += "; " + text
		}
		out.Summary = v.mask(out.Summary)
		return out
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

// answers waits until the store answers, so that a store that is starting or loading at
// the end of a run is not taken for one that is gone. It gives up when the drain is
// over, and returns the store's last error.
//
// A run that was ended by a fault has already waited for it.
func (v *verifier) answers(ctx context.Context) error {
	a, ok := store.Has[store.Answerer](v.conn)
	if !ok {
		return nil
	}
	end := v.timeUp.Add(v.drain)
	if strings.HasPrefix(v.endedBy, "fault: ") {
		end = time.Time{}
	}
	for said := false; ; said = true {
		err := answer(ctx, a.Answer)
		if !slices.Contains(notReady, v.conn.Classify(err)) {
			return nil // a refusal is an answer
		}
		left := time.Until(end)
		if ctx.Err() != nil || left <= 0 {
			return err
		}
		if !said && v.onWait != nil {
			v.onWait(fmt.Sprintf("waiting for the store to answer, %s at most (--drain): %s", units.Duration(left.Round(100*time.Millisecond)), v.mask(err.Error())))
		}
		select {
		case <-time.After(min(answerPause, left)):
		case <-ctx.Done():
		}
	}
}

// answer queries a store once, within answerPatience. A call that ignores the end of
// its context is left behind.
func answer(ctx context.Context, ask func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	said := make(chan error, 1) // one value: the sender never waits
	fault.Go(func() { said <- ask(ctx) })
	select {
	case err := <-said:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no answer within %s: %w", units.Duration(answerPatience), ctx.Err())
	}
}

// unanswered verifies although the store does not answer: the plan may hold something
// that has to be stopped, and knows best what is missing. It is given little time.
func (v *verifier) unanswered(ctx context.Context, why error) workload.Verification {
	if v.verify == nil {
		return v.ask(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	out := v.ask(ctx)
	if out.State == workload.Incomplete {
		waited := time.Since(v.timeUp).Round(100 * time.Millisecond)
		out.Summary = fmt.Sprintf("the store did not answer for %s after the end of the run (%s): %s", units.Duration(waited), v.mask(why.Error()), out.Summary)
	}
	return out
}

// silent reports whether the run was interrupted and the store answers nobody, so that
// there is no point in asking it anything else. A second interrupt, which ends ctx, is not
// the store's silence.
func (v *verifier) silent(ctx context.Context) bool {
	if v.endedBy != "interrupt" || ctx.Err() != nil {
		return false
	}
	hard := ctx
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	answer := make(chan error, 1) // one value: the sender never waits
	fault.Go(func() {
		_, err := v.conn.Info(ctx)
		answer <- err
	})
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
	return workload.Verification{State: workload.Incomplete, Summary: workload.Hurried}
}
