// Package compare judges two sets of finished runs, B against A: figure by figure, each
// with the range in which it may lie, and in what their conditions differ. It neither
// reads nor writes files other than the run folders it is given, and never changes a
// run. docs/compare.md explains it to users; in short:
//
//   - same within N %: the change, with all that chance may have added to it, is
//     smaller than that; N is 1 or more, up to the tolerance.
//   - better, worse: chance does not explain the change.
//   - unsure: neither can be said; nor can it for a single run a side of fewer than five
//     seconds, unless earlier runs tell how much runs differ.
//   - rate-limited: throughput was what was asked for, on both sides or on the lower one, or a
//     timetable set the rate of a side.
//
// With several runs on a side, the effect of chance is the scatter between runs. With
// one run it is the scatter between batches of its seconds, corrected for their
// autocorrelation (stat.Successive), which does not tell how much another run would
// differ; but it is no less than what earlier runs of the same plan on the same machine
// differed by. If both sides took turns in eight rounds or more, or in fewer that differ by more
// than chance, it is the scatter of the differences within rounds. Ranges get wider the more figures are
// compared, so that all of them together report a change where there is none in at most
// 5 of 100 comparisons.
package compare

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// DefaultTolerance is the largest change considered small, unless the user says
// otherwise.
const DefaultTolerance = 0.05

// Set is one side of a comparison: several repeats of a run, or a single one.
type Set struct {
	// Name is what the user called it.
	Name string
	Runs []*Run
}

// Dirs returns the folders of the runs; nil if they are those of a baseline.
func (s Set) Dirs() (out []string) {
	for _, r := range s.Runs {
		if r.Dir == "" {
			return nil
		}
		out = append(out, r.Dir)
	}
	return out
}

// Options say how to compare.
type Options struct {
	// Tolerance is the largest change that can be "same", as a fraction; 0 means
	// DefaultTolerance.
	Tolerance float64
	// Unsure is what a gate does with figures that are unsure; empty means Pass.
	Unsure Policy
	// Earlier are other runs, in the order in which they began. Those of the same plan
	// as A's on the same machine show how much a run differs from the next, where each side
	// has a single one; fewer, and those of B's, may contradict a change.
	Earlier []*Run
}

// Comparison is the result of comparing two sets, B against A. It is never modified
// once made.
type Comparison struct {
	A, B Set
	// Tolerance is the largest change that can be "same", as a fraction.
	Tolerance float64
	// Unsure is what a gate does with figures that are unsure.
	Unsure Policy
	// Parts are all calls together, then each operation that all runs have.
	Parts []Pair
	// Differences are what the two differ in, other than their figures.
	Differences []Difference
	// Refusals are sentences saying why the two cannot be compared at all.
	Refusals []string
	// Cautions say what keeps the comparison from being fair.
	Cautions []string
	// Notes say what could not be compared, and what the figures cannot show.
	Notes []string

	before Set
}

// Pair compares one operation, or all calls.
type Pair struct {
	// Operation is nil for all calls together.
	Operation *measure.Operation
	// A and B are the results of each run of a side.
	A, B     []Measured
	Findings []Finding

	under []string // what both searched under
	rates string   // why throughput, or all, is no finding, as its answer begins
	brief bool     // the answer begins with why the two should not be compared
}

// Sets compares two sets of runs, each of one or more.
func Sets(a, b Set, o Options) *Comparison {
	c := &Comparison{A: a, B: b, Tolerance: o.Tolerance, Unsure: o.Unsure}
	if c.Tolerance <= 0 {
		c.Tolerance = DefaultTolerance
	}
	c.Differences = Differences(&a.Runs[0].Conditions, &b.Runs[0].Conditions)
	c.Refusals = refusals(a, b)
	c.Cautions = cautions(a, b, c.Differences)
	pairs, before := rounds(a, b), earlier(a, b, o.Earlier)
	c.before = before
	only := searched(a, b)
	_, _, sizes := payloads(&a.Runs[0].Conditions, &b.Runs[0].Conditions)
	for _, m := range a.Runs[0].Parts {
		if only != "" && m.Operation != nil {
			continue
		}
		p := Pair{Operation: m.Operation, A: a.part(m.Operation), B: b.part(m.Operation), brief: len(c.Refusals) > 0}
		if len(p.A) < len(a.Runs) || len(p.B) < len(b.Runs) {
			continue // not all runs have it
		}
		left, right := p.A, p.B
		if !sizes || lacking(Bytes, left) || lacking(Bytes, right) {
			left, right = without(Bytes, left), without(Bytes, right)
		}
		p.Findings = findings(only, left, right, pairs, before.part(m.Operation), c.Tolerance)
		for i := range p.Findings {
			p.Findings[i].one, p.Findings[i].short = c.lone(), c.Short()
		}
		switch why := ungiven(a, b, c.Unit(nil)); {
		case only != "":
		case unlike(a, b) != "":
			withdrawn(p.Findings)
			p.rates = unlike(a, b)
		case otherLoad(a, b) != "":
			withdrawn(p.Findings)
			p.rates = otherLoad(a, b) + p.described(c.Unit(m.Operation))
		case atRate(a, b):
			limited(p.Findings, true)
			if m.Operation == nil && held(a) != held(b) {
				p.rates = fmt.Sprintf("A was asked for %s %s/s and B for %s, and both kept up. ", units.Number(held(a)), c.Unit(nil), units.Number(held(b)))
			}
		case why != "":
			limited(p.Findings, false)
			p.rates = why
		}
		if c.Unit(m.Operation) == otherUnits {
			uncounted(p.Findings)
		}
		if only != "" && slices.Equal(a.Runs[0].Conditions.Under, b.Runs[0].Conditions.Under) {
			p.under = a.Runs[0].Conditions.Under
		}
		c.Parts = append(c.Parts, p)
	}
	if text := c.contradicted(o.Earlier); text != "" {
		c.Cautions = append(c.Cautions, text)
	}
	c.Notes = notes(c)
	return c
}

// Covered names what the figures of a set are of that stand first: all calls, or the counted operations.
func (s Set) Covered() string {
	out := ""
	for _, r := range s.Runs {
		called, calls := 0, int64(0)
		for _, m := range r.Parts[1:] {
			if calls += m.Calls + m.Errors; m.Calls+m.Errors > 0 {
				called++
			}
		}
		all := r.Parts[0]
		one := measure.CallsOf(all.counted, called)
		if all.Calls+all.Errors == calls {
			one = measure.AllCalls
		}
		if out == "" {
			out = one
		}
		if out != one {
			return measure.CallsOf(0, called)
		}
	}
	return out
}

// Covered is that of both sides.
func (c *Comparison) Covered() string {
	return Set{Runs: slices.Concat(c.A.Runs, c.B.Runs)}.Covered()
}

// part returns the figures of an operation in each run; nil stands for all calls.
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
