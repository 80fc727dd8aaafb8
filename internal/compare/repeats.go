package compare

import (
	"math"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Spread is how a figure of all calls varies over repeats of a run.
type Spread struct {
	Figure Figure
	// Range is the mean of the runs and what chance may do to it.
	Range
	// Least and Most are those of the runs.
	Least, Most float64
	// Deviation is the standard deviation from run to run: a share of the figure, of errors
	// of all calls. NaN of a single run.
	Deviation float64
}

// Repeats tells how the figures of all calls vary over the runs of a set.
func Repeats(s Set) []Spread {
	all := s.part(nil)
	var out []Spread
	for _, f := range figures {
		es := of(f, all)
		r := Spread{Figure: f, Range: f.side(es), Least: math.Inf(1), Most: math.Inf(-1)}
		if math.IsNaN(r.Value) {
			continue
		}
		for _, e := range es {
			r.Least, r.Most = min(r.Least, e.Value), max(r.Most, e.Value)
		}
		r.Deviation = stat.Independent(f.values(es)).SE * math.Sqrt(float64(len(es)))
		out = append(out, r)
	}
	return out
}

// Texts writes the figure, the range, the least, the most and the deviation; unit is what
// throughput counts.
func (s Spread) Texts(unit string) []string {
	f := Finding{Figure: s.Figure}
	at := func(v float64) string { return f.Text(Range{Value: v, Lo: v, Hi: v, Vague: s.Vague}, true) }
	return []string{f.Label(unit), f.Text(s.Range, false), at(s.Least), at(s.Most), share(s.Deviation, s.Vague)}
}
