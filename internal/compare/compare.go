// Package compare judges two sets of finished runs, B against A: figure by figure, each
// with the range in which it may lie, and in what their conditions differ. It neither
// reads nor writes files beyond the run folders it is given, and nothing in it changes a
// run. docs/compare.md tells people what it does; in short:
//
//   - same within N %: the change, with all that chance may have added to it, is
//     smaller than that; N is 1 or more, up to the tolerance.
//   - better, worse: chance does not explain the change.
//   - unsure: neither can be said.
//   - rate-limited: throughput was what was asked for, on both sides.
//
// Of several runs a side, the scatter of the runs is what chance does. Of one run a side
// it is the scatter of batches of its seconds, corrected for their resemblance
// (stat.Successive), which says nothing of how much another run would differ. Where both
// sides took turns in rounds that differ by more than chance, it is the scatter of the
// differences within rounds. Ranges are
// wider the more figures are looked at, so that all of them together find a change where
// there is none in at most 5 of 100 comparisons.
package compare

import (
	"github.com/perfbench/perfbench/internal/measure"
)

// DefaultTolerance is the change that is called small unless somebody says otherwise.
const DefaultTolerance = 0.05

// Set is one side of a comparison: repeats of one run, or a single one.
type Set struct {
	// Name is how the user named it.
	Name string
	Runs []*Run
}

// Options say how to compare.
type Options struct {
	// Tolerance is the largest change that "same" is said of, as a share; 0:
	// DefaultTolerance.
	Tolerance float64
}

// Comparison is what two sets come to, B measured against A. It is never written to
// once made.
type Comparison struct {
	A, B Set
	// Tolerance is the largest change that "same" is said of, as a share.
	Tolerance float64
	// Parts are all calls together, then each operation that all runs have.
	Parts []Part
	// Differences are what else the two differ in, beside their figures.
	Differences []Difference
	// Refusals are sentences that say what makes the two no pair: figures of theirs beside
	// each other say nothing.
	Refusals []string
	// Cautions say what keeps the comparison from being a fair one.
	Cautions []string
	// Notes say what could not be compared, and what the figures cannot tell.
	Notes []string
}

// Part compares one operation, or all calls.
type Part struct {
	// Operation is nil for all calls together.
	Operation *measure.Operation
	// A and B are what each run of a side came to.
	A, B     []Measured
	Findings []Finding
}

// Sets compares two sets of runs, each of one or more.
func Sets(a, b Set, o Options) *Comparison {
	c := &Comparison{A: a, B: b, Tolerance: o.Tolerance}
	if c.Tolerance <= 0 {
		c.Tolerance = DefaultTolerance
	}
	c.Differences = Differences(&a.Runs[0].Conditions, &b.Runs[0].Conditions)
	c.Refusals = refusals(a, b)
	c.Cautions = cautions(a, b, c.Differences)
	pairs, atRate := rounds(a, b), held(a, b) > 0
	for _, m := range a.Runs[0].Parts {
		p := Part{Operation: m.Operation, A: a.part(m.Operation), B: b.part(m.Operation)}
		if len(p.A) < len(a.Runs) || len(p.B) < len(b.Runs) {
			continue // not all have it
		}
		p.Findings = findings(p.A, p.B, pairs, c.Tolerance)
		if atRate {
			limited(p.Findings)
		}
		c.Parts = append(c.Parts, p)
	}
	c.Notes = notes(c)
	return c
}

// part is what each run has of an operation; nil: of all calls.
func (s Set) part(op *measure.Operation) []Measured {
	var out []Measured
	for _, r := range s.Runs {
		for _, m := range r.Parts {
			if (m.Operation == nil) == (op == nil) && (op == nil || *m.Operation == *op) {
				out = append(out, m)
			}
		}
	}
	return out
}
