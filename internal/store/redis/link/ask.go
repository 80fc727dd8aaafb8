package link

import (
	"context"
	"sync/atomic"
)

// ask is a caller's place in the line of those that wait for a reply; nobody else
// waits in it, and it is used again for the next call.
type ask struct {
	done chan struct{}
	// waiting says that the caller waits, and nobody has taken it on to end that:
	// whoever sets it to false writes the result.
	waiting atomic.Bool
	// replies is how many there will be, into where they go.
	replies int
	into    *Reply
	err     error
	// ended says that the caller went away before the reply came.
	ended bool
	// ctx ends the wait; stop ends the watch over it.
	ctx  context.Context
	stop func() bool
}

// newAsk makes a place whose waiting ends with ctx.
func newAsk(ctx context.Context) *ask {
	a := &ask{done: make(chan struct{}, 1), ctx: ctx}
	a.stop = context.AfterFunc(ctx, func() {
		if a.take() {
			a.ended = true
			a.answer(ctx.Err())
		}
	})
	return a
}

// take is true for the one who is to answer.
func (a *ask) take() bool { return a.waiting.CompareAndSwap(true, false) }

// answer ends the caller's wait. Only who took the place may.
func (a *ask) answer(err error) {
	a.err = err
	a.done <- struct{}{}
}

// wait waits for the replies.
func (a *ask) wait() error {
	<-a.done
	a.into = nil
	return a.err
}
