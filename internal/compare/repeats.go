package compare

import (
	"math"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
)

// Spread says how a figure of all calls varies between repeats of a run.
type Spread struct {
	Figure Figure
	// Range is the mean of the runs with its confidence interval.
	Range
	// Least and Most are the extremes among the runs.
	Least, Most float64
	// Deviation is the standard deviation between runs: relative to the figure or, for
	// errors, as a fraction of all calls. NaN for a single run, and of outages.
	Deviation float64
}

// Repeats returns how the figures of all calls vary over the runs of a set.
func Repeats(s Set) []Spread { return RepeatsOf(s, nil) }

// RepeatsOf is Repeats for the calls of one operation; nil stands for all that count.
func RepeatsOf(s Set, op *measure.Operation) []Spread {
	all, only := s.part(op), searched(s)
	var out []Spread
	for _, f := range figures {
		if f != only && (only != "" || f.bySearch()) {
			continue
		}
		es := of(f, all)
		r := Spread{Figure: f, Range: f.side(es), Least: math.Inf(1), Most: math.Inf(-1)}
		if math.IsNaN(r.Value) {
			continue
		}
		for _, e := range es {
			r.Least, r.Most = min(r.Least, e.Value), max(r.Most, e.Value)
		}
		if r.Deviation = stat.Independent(f.values(es)).SE * math.Sqrt(float64(len(es))); f == Outage {
			r.Deviation = math.NaN()
		}
		if f == Outage && r.Most == 0 {
			continue
		}
		out = append(out, r)
	}
	return out
}

// Texts formats the figure, the range, the least, the most and the deviation; unit is
// the unit of throughput.
func (s Spread) Texts(unit string) []string {
	f := Finding{Figure: s.Figure}
	at := func(v float64) string { return f.Text(Range{Value: v, Lo: v, Hi: v, Vague: s.Vague}, true) }
	return []string{f.Label(unit), f.Text(s.Range, false), at(s.Least), at(s.Most), share(s.Deviation, s.Vague)}
}

// Parts formats the figure, and its range, which may be empty.
func (s Spread) Parts() (value, by string) {
	f := Finding{Figure: s.Figure}
	return f.figure(s.Range), f.RangeOf(s.Range)
}
