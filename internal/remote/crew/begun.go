package crew

import (
	"sync"

	"github.com/perfbench/perfbench/internal/measure"
)

// Run is the run that a crew works for, as the crew uses it. Any goroutine may call its
// methods.
type Run interface {
	// Merge takes in what a worker measured in a second.
	Merge(measure.Increment) error
	// Stop ends the run, because a worker cannot go on.
	Stop(cause error)
	// Mark notes what became of a worker.
	Mark(note string)
}

// awaited is the run of a crew: workers join before it begins, and what they send waits until
// it has begun, or does not begin any more.
type awaited struct {
	once  sync.Once
	known chan struct{} // closed once run is known
	run   Run
}

func newAwaited() *awaited { return &awaited{known: make(chan struct{})} }

// set makes the run known; nil: it does not begin any more. Only the first call counts.
func (a *awaited) set(r Run) {
	a.once.Do(func() {
		a.run = r
		close(a.known)
	})
}

// wait returns the run once it is known; nil: it did not begin.
func (a *awaited) wait() Run {
	<-a.known
	return a.run
}
