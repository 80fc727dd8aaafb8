package coherence

import (
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
)

// mostIdle is how many goroutines are kept for later calls.
const mostIdle = 1024

// Hands are goroutines that carry out calls. They are kept for reuse: a new goroutine
// would have to grow its stack for the client each time, which takes a seventh of a
// call's processor time. Hands is safe for use by several goroutines.
type Hands struct {
	mu     sync.Mutex
	idle   []chan func()
	closed bool
}

// Do has one of them carry out f, and does not wait for it.
func (h *Hands) Do(f func()) {
	h.mu.Lock()
	if n := len(h.idle); n > 0 {
		hand := h.idle[n-1]
		h.idle = h.idle[:n-1]
		h.mu.Unlock()
		hand <- f
		return
	}
	h.mu.Unlock()
	fault.Go(func() { h.work(f) })
}

// work carries out f and then further functions, until Close.
func (h *Hands) work(f func()) {
	hand := make(chan func(), 1) // Do need not wait for one that is not idle yet
	for ok := true; ok; f, ok = <-hand {
		f()
		h.mu.Lock()
		if h.closed || len(h.idle) >= mostIdle {
			h.mu.Unlock()
			return
		}
		h.idle = append(h.idle, hand)
		h.mu.Unlock()
	}
}

// Close ends the idle ones; the others end when they have finished.
func (h *Hands) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, hand := range h.idle {
		close(hand)
	}
	h.idle = nil
}
