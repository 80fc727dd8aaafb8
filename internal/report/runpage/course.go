package runpage

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/chart"
	"github.com/perfbench/perfbench/internal/report/page"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// graphs draws the whole run: units per second of what counts, the other operations
// beside it, and the response time of the slowest that counts.
func graphs(f *rundir.Folder) []page.Graph {
	c := f.Course()
	marks := marks(&f.Run)
	var out []page.Graph
	add := func(title string, format func(float64) string, lines ...rundir.Line) *page.Graph {
		g := page.Graph{Chart: chart.Chart{
			Title: page.Plain(title), From: float64(c.First), To: float64(c.First + len(lines[0].Values)), Marks: marks, Format: format,
		}}
		for i := range lines[0].Values {
			g.At = append(g.At, float64(c.First+i)+0.5)
		}
		for _, l := range lines {
			g.Lines = append(g.Lines, chart.Line{Name: page.Plain(l.Name), Values: l.Values})
		}
		out = append(out, g)
		return &out[len(out)-1]
	}
	if chart.Some(c.Rates) {
		add(f.Run.Unit+" per second", units.Number, rundir.Line{Name: "throughput", Values: c.Rates}).Mean = true
	}
	if len(c.Others) > 0 {
		g := add("beside it, per second", units.Number, c.Others...)
		g.Mean, g.Apart = true, true
	}
	if chart.Some(c.P99) {
		duration := func(v float64) string { return units.Duration(time.Duration(v)) }
		g := add("response time"+ofWhich(&f.Run), duration, rundir.Line{Name: "p99", Values: c.P99}, rundir.Line{Name: "p50", Values: c.P50}, rundir.Line{Name: "max", Values: c.Max})
		g.Log = true
	}
	if lines := used(f, c.First, len(c.Rates), "cpu_cores"); len(lines) > 0 {
		g := add("processors in use", func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }, lines...)
		g.Mean, g.Apart = true, true
	}
	if lines := used(f, c.First, len(c.Rates), "memory_bytes"); len(lines) > 0 {
		add("memory in use", func(v float64) string { return units.Size(int64(v)) }, lines...).Apart = true
	}
	return out
}

// used is what was sampled of perfbench and of the store: its processes where they are
// on this machine, otherwise as its servers tell it.
func used(f *rundir.Folder, first, n int, name string) (out []rundir.Line) {
	add := func(label, source string) bool {
		values := f.Sampled(source, name, first, n)
		if !chart.Some(values) {
			return false
		}
		out = append(out, rundir.Line{Name: label, Values: values})
		return true
	}
	add("perfbench", rundir.OfClient)
	if !add(f.Run.Store.Name, rundir.OfProcess) {
		add(f.Run.Store.Name, rundir.OfStore)
	}
	return out
}

// marks are the live changes, of a ramp the first, and where each phase began in a run of several.
func marks(r *rundir.Run) []chart.Mark {
	var out []chart.Mark
	for _, m := range r.Moves() {
		out = append(out, chart.Mark{At: m.At, Note: "change at " + page.Length(m.At)})
	}
	if len(r.Phases) < 2 {
		return out
	}
	phases := slices.Clone(r.Phases)
	slices.SortStableFunc(phases, func(a, b rundir.Phase) int { return cmp.Compare(a.From, b.From) })
	for _, p := range phases {
		name := page.Plain(p.Name)
		out = append(out, chart.Mark{At: p.From, Name: name, Note: "phase " + name + " from " + page.Length(p.From)})
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
