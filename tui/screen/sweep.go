package screen

import (
	"time"

	"github.com/perfbench/perfbench/internal/sweep"
)

// SweepRun is a sweep in progress. None of its methods block, and any goroutine may
// call them.
type SweepRun interface {
	Ending
	// Now returns its current state.
	Now() SweepNow
}

// SweepNow is the state of a sweep; never modified once made.
type SweepNow struct {
	// Result is the result of the finished runs, ID the name of its directory; empty
	// before the first.
	sweep.Result
	ID string
	// What names the run in progress, Run is that run; nil between two runs. Point is its point, -1
	// if it is of none, as a search for the knee.
	What  string
	Run   Run
	Point int
	// Began is when the sweep began or was resumed, Before how many runs were done by
	// then.
	Began  time.Time
	Before int
}
