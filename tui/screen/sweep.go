package screen

import (
	"time"

	"github.com/perfbench/perfbench/internal/sweep"
)

// SweepRun is a sweep under way. None of its methods block, and any goroutine may call them.
type SweepRun interface {
	Ending
	// Now is how far it is.
	Now() SweepNow
}

// SweepNow is a sweep as of a moment; never written to once made.
type SweepNow struct {
	// Result is what the runs that are done come to, ID the name of its folder; empty before
	// the first.
	sweep.Result
	ID string
	// What names the run under way, Run is that run; nil between two.
	What string
	Run  Run
	// Began is when the sweep began or went on, Before how many runs were done by then.
	Began  time.Time
	Before int
}
