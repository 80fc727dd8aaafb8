package link

import (
	"context"
	"sync/atomic"
)

// ask is a caller's place in the queue of calls waiting for replies. Only that caller
// waits in it, and reuses it for the next call.
type ask struct {
	done chan struct{}
	// waiting means that the caller is waiting, and nobody has yet undertaken to end
	// that: whoever sets it to false writes the result.
	waiting atomic.Bool
	// replies is how many replies are expected, into where they go.
	replies int
	into    *Reply
	err     error
	// ended means that the caller left before the reply came.
	ended bool
	// ctx ends the wait; stop ends watching ctx.
	ctx  context.Context
	stop func() bool
}

// newAsk makes a place in which waiting ends with ctx.
func newAsk(ctx context.Context) *ask {
	a := &ask{done: make(chan struct{}, 1), ctx: ctx}
	a.stop = context.AfterFunc(ctx, func() {
		if a.claim() {
			a.ended = true
			a.answer(ctx.Err())
		}
	})
	return a
}

// claim returns true to the one goroutine that is to answer.
func (a *ask) claim() bool { return a.waiting.CompareAndSwap(true, false) }

// answer ends the caller's wait. Only the goroutine for which take returned true may
// call it.
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
