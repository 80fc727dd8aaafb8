package screen

import (
	"time"

	"github.com/perfbench/perfbench/internal/request"
)

// SuiteRun are the runs of a plan file that are done one after the other. None of the methods block, and
// any goroutine may call them.
type SuiteRun interface {
	Ending
	// Now returns their current state.
	Now() SuiteNow
}

// SuiteNow is the state of the runs of a plan; never modified once made.
type SuiteNow struct {
	// Turns are what has become of each, in the order of the plan.
	Turns []SuiteTurn
	// What says which of several runs is in progress where the plan asks for several in one place,
	// Run is that run; nil between two runs.
	What string
	Run  Run
}

// PlanFile is a plan file that was found.
type PlanFile struct {
	Path    string
	Changed time.Time
	// File is what it says, and Err what is wrong with it; nil: nothing.
	File *request.File
	Err  error
}

// SuiteState is what has become of a run of a plan.
type SuiteState int

// The states, the zero value first.
const (
	ToCome SuiteState = iota
	UnderWay
	Done
	Cut // a person ended it before its end, and its figures are of what there is
	Failed
	NotBegun // and will not be
)

// String returns the word shown to users.
func (s SuiteState) String() string {
	return [...]string{"to come", "running", "done", "ended by hand", "failed", "not started"}[s]
}

// SuiteTurn is what has become of one run of a plan, or of what the plan has in place of one.
type SuiteTurn struct {
	State SuiteState
	// Figures are throughput, p99, errors and verdict; nil without any.
	Figures []string
	// Doubt is the verdict with its first cause; empty where that has none, or the run was cut.
	Doubt string
	// Rate is the throughput in Unit per second, and P99 that of the response time in nanoseconds; 0: not
	// known, or that of several runs.
	Rate float64
	P99  int64
	Unit string
	// Rates are Rate, and P99s are P99, of each measured second, NaN where nothing was done; nil where Rate is
	// not known.
	Rates, P99s []float64
	// Why are the reasons of its verdict, a sentence each.
	Why []string
	// Err is why it failed; nil if it did not.
	Err error
	// To shows what it came to; nil if there is nothing to show.
	To Destination
}

// All returns how many of the runs are in one of these states.
func (n SuiteNow) All(states ...SuiteState) (count int) {
	for _, t := range n.Turns {
		for _, s := range states {
			if t.State == s {
				count++
			}
		}
	}
	return count
}
