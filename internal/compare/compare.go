package compare

import (
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Comparison is what two runs come to, the second measured against the first. It is
// never written to once made.
type Comparison struct {
	A, B *rundir.Folder
	// Parts are all calls together, then each operation that both runs have.
	Parts []Part
	// Differences are what else the two differ in, beside their figures.
	Differences []Difference
	// Caution says what keeps the comparison from being one; empty when nothing does.
	Caution string
}

// Part compares one operation, or all calls.
type Part struct {
	// Operation is nil for all calls together.
	Operation *measure.Operation
	A, B      Side
	Findings  []Finding
}

// Figure names what a finding is of.
type Figure string

// The figures, in the order of the findings.
const (
	Throughput Figure = "throughput" // units per second
	P50        Figure = "p50"        // response times in nanoseconds
	P90        Figure = "p90"
	P99        Figure = "p99"
	P999       Figure = "p99.9"
	Max        Figure = "max"
	Errors     Figure = "errors" // as a share of calls
)

// Finding is the judgement on one figure.
type Finding struct {
	Figure  Figure
	A, B    Estimate
	Verdict Verdict
}

// Runs compares two finished runs.
func Runs(a, b *rundir.Folder) *Comparison {
	c := &Comparison{A: a, B: b, Differences: Differences(&a.Run, &b.Run)}
	c.Caution = Caution(&a.Run, &b.Run, c.Differences)
	ops := []*measure.Operation{nil}
	for _, o := range a.Run.Operations {
		for _, p := range b.Run.Operations {
			if o.Track == p.Track && o.Op == p.Op {
				ops = append(ops, &measure.Operation{Track: o.Track, Op: o.Op})
			}
		}
	}
	for _, op := range ops {
		p := Part{Operation: op, A: SideOf(a, op), B: SideOf(b, op)}
		p.Findings = Sides(p.A, p.B)
		c.Parts = append(c.Parts, p)
	}
	return c
}

// Sides judges two sides, figure by figure.
func Sides(a, b Side) []Finding {
	finding := func(f Figure, a, b Estimate, moreIsBetter bool) Finding {
		return Finding{Figure: f, A: a, B: b, Verdict: Judge(a, b, moreIsBetter)}
	}
	out := []Finding{finding(Throughput, a.Throughput(), b.Throughput(), true)}
	for _, q := range []struct {
		figure Figure
		q      float64
	}{{P50, 50}, {P90, 90}, {P99, 99}, {P999, 99.9}} {
		out = append(out, finding(q.figure, a.Percentile(q.q), b.Percentile(q.q), false))
	}
	return append(out,
		Finding{Figure: Max, A: exactly(a.Max), B: exactly(b.Max)},
		finding(Errors, a.ErrorShare(), b.ErrorShare(), false))
}

// exactly is an estimate that is not one.
func exactly(v int64) Estimate { return Estimate{Value: float64(v), Lo: float64(v), Hi: float64(v)} }
