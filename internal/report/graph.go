package report

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// graph is one chart over the seconds of a run: a line or more, a value each
// second, NaN where there is none.
type graph struct {
	title string
	// first is the second of the first value, negative in warm-up.
	first int
	lines []rundir.Line
	// changes are the seconds of live changes, phases the moments at which a phase
	// began, where the run had several.
	changes []float64
	phases  []moment
	format  func(float64) string
	// mean says how to thin: by mean, for throughput; else by maximum, so that
	// peaks survive.
	mean bool
	// apart says that the lines have units of their own: text draws each for itself.
	apart bool
}

// moment is a named second.
type moment struct {
	at   float64
	name string
}

// graphs draws the whole run: units per second of what counts, the other operations
// beside it, and the response time of the slowest that counts.
func graphs(f *rundir.Folder) []graph {
	c := f.Course()
	base := graph{first: c.First}
	for _, ch := range f.Run.Changes {
		base.changes = append(base.changes, ch.At)
	}
	if len(f.Run.Phases) > 1 {
		for _, p := range f.Run.Phases {
			base.phases = append(base.phases, moment{p.From, p.Name})
		}
		slices.SortStableFunc(base.phases, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	}
	var out []graph
	add := func(title string, format func(float64) string, lines ...rundir.Line) *graph {
		g := base
		g.title, g.format, g.lines = title, format, lines
		out = append(out, g)
		return &out[len(out)-1]
	}
	if some(c.Rates) {
		add(f.Run.Unit+" per second", units.Number, rundir.Line{Name: "throughput", Values: c.Rates}).mean = true
	}
	if len(c.Others) > 0 {
		g := add("beside it, per second", units.Number, c.Others...)
		g.mean, g.apart = true, true
	}
	if some(c.P99) {
		duration := func(v float64) string { return units.Duration(time.Duration(v)) }
		add("response time"+ofWhich(&f.Run), duration, rundir.Line{Name: "p99", Values: c.P99}, rundir.Line{Name: "p50", Values: c.P50}, rundir.Line{Name: "max", Values: c.Max})
	}
	return out
}

// ofWhich says whose times they are where that does not go without saying.
func ofWhich(r *rundir.Run) string {
	timed := r.Headline().Timed
	switch {
	case len(timed) == len(r.Operations):
		return ""
	case len(timed) == 1:
		return " of " + timed[0].Op
	}
	return " of what counts"
}

func some(values []float64) bool {
	return slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) })
}

// thin brings values down to at most n, each the mean or the maximum of as many,
// leaving NaN out.
func thin(values []float64, n int, mean bool) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		from, to := i*len(values)/n, (i+1)*len(values)/n
		sum, top, count := 0.0, math.NaN(), 0
		for _, v := range values[from:to] {
			if math.IsNaN(v) {
				continue
			}
			sum, count = sum+v, count+1
			if !(v <= top) {
				top = v
			}
		}
		switch {
		case count == 0:
			out[i] = math.NaN()
		case mean:
			out[i] = sum / float64(count)
		default:
			out[i] = top
		}
	}
	return out
}

// measured is a line without its warm-up.
func (g graph) measured(l rundir.Line) []float64 {
	skip := min(max(-g.first, 0), len(l.Values))
	return l.Values[skip:]
}
