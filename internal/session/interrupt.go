package session

import (
	"context"
	"errors"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// InterruptGrace is how long operations under way may take once the run has been
// interrupted; then they are cancelled. Somebody waits at a keyboard.
const InterruptGrace = 3 * time.Second

// answerPatience is how long a store may take to say who it is after an interrupt
// before it is taken for one that does not answer.
const answerPatience = 2 * time.Second

// afterInterrupt makes the operations under way end within InterruptGrace of an
// interrupt.
func (l *Live) afterInterrupt(ctx context.Context) {
	context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), ErrInterrupted) {
			return
		}
		select {
		case <-l.run.Done():
		case <-time.After(InterruptGrace):
			l.Kill()
		}
	})
}

// silent says that the run was interrupted and that the store answers nobody, so
// that whatever else would be asked of it would only be waited for.
func (l *Live) silent(ctx context.Context, endedBy string) bool {
	if endedBy != "interrupt" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	answer := make(chan error, 1) // one value: the sender never waits
	go func() {
		_, err := l.conn.Info(ctx)
		answer <- err
	}()
	select {
	case err := <-answer:
		return err != nil
	case <-ctx.Done():
		return true
	}
}

// unverified is the verification of a run whose store is silent.
func unverified() workload.Verification {
	return workload.Verification{State: workload.Incomplete, Summary: "the store did not answer after the interrupt, and was not asked what it holds"}
}
