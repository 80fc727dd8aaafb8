package histories

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// The states of an Outcome.
const (
	OK       = "ok"
	Violated = "violated"
	Unknown  = "unknown"
)

// Outcome says whether hot things were read and written as if there were one copy of each. It is
// part of the facts of a run.
type Outcome struct {
	// State is one of the words above; Why says what it is unknown for, or what it holds for.
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
	// Records is how many things had their histories kept, Calls what these have of reads and
	// writes of a register.
	Records int   `json:"records"`
	Calls   int64 `json:"calls"`
	// Windows are what was checked one by one; Violated those that no order explains, with an
	// Example, and Undecided those for which time did not suffice.
	Windows   int64  `json:"windows"`
	Violated  int64  `json:"violated"`
	Undecided int64  `json:"undecided"`
	Example   string `json:"example,omitempty"`
	// LeftOut counts the reads that were not checked because they went on from one window into
	// the next.
	LeftOut int64 `json:"left_out,omitempty"`

	noun string
}

// Words is the outcome in a few words.
func (l *Outcome) Words() string {
	if l.State == Unknown {
		return "whether it is linearizable is unknown: " + l.Why
	}
	s := units.Plural(l.Calls, "call") + " of " + units.Plural(int64(l.Records), l.noun) + " are linearizable"
	if l.Why != "" {
		s += ", " + l.Why
	}
	return s
}

// Check is the outcome as a check of a verification: an unknown one is not wrong.
func (l *Outcome) Check() workload.Check {
	c := workload.Check{
		Name: "windows of the histories of " + l.noun + "s that are not linearizable", OK: l.Violated == 0, Of: l.Windows, Want: "0", Got: fmt.Sprint(l.Violated),
	}
	if l.State == Unknown {
		c.Got = "unknown: " + l.Why
		c.Want = c.Got
	}
	if l.Example != "" {
		c.Examples = []string{l.Example}
	}
	return c
}
