package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// axis is the time axis shared by all charts of a run, with what happened on it.
type axis struct {
	first, n int
	marks    []plot.Mark
	spans    []plot.Span
}

func axisOf(f *rundir.Folder, c rundir.Timeline, events []event, done []effect.Effect) axis {
	a := axis{first: c.First, n: len(c.Rates), marks: marks(&f.Run, done)}
	for _, e := range events {
		if e.shade != "" && len(a.spans) < mostShaded {
			a.spans = append(a.spans, plot.Span{From: e.at, To: e.until, Kind: e.shade, Note: e.what})
		}
	}
	return a
}

// mostShaded is how many periods are shaded; the table lists the others.
const mostShaded = 100

// graph returns a chart of lines with one value per second; caption says how to read it.
func (a *axis) graph(title, caption string, format func(float64) string, lines ...rundir.Line) Graph {
	g := Graph{Chart: plot.Chart{
		Title: Plain(title), Caption: Plain(caption), From: float64(a.first), To: float64(a.first + a.n), Marks: a.marks, Spans: a.spans, Format: format,
	}}
	for i := range a.n {
		g.At = append(g.At, float64(a.first+i)+0.5)
	}
	for _, l := range lines {
		g.Lines = append(g.Lines, plot.Line{Name: Plain(l.Name), Values: l.Values})
	}
	return g
}

// duration formats nanoseconds.
func duration(v float64) string { return units.Duration(time.Duration(v)) }

// graphs draws the course of a run: units per second of what counts, the response times
// of all calls that count as bands and as a heat map, errors, and the other operations.
func graphs(f *rundir.Folder, c rundir.Timeline, m moments, a axis) []Graph {
	var out []Graph
	if plot.Some(c.Rates) {
		title, what := f.Run.Unit+" per second", rundir.Line{Name: "throughput", Values: c.Rates}
		note := "Throughput: what counts, in each second of the run."
		if c.Unverified {
			title, what.Name = f.Run.Unit+" acknowledged per second, not verified", "acknowledged"
			note = "What was acknowledged in each second of the run; as its verification failed, this is no throughput."
		}
		g := a.graph(title, note, units.Number, what)
		g.Mean, g.Filled = true, true
		out = append(out, g)
	}
	if plot.Some(c.P99) {
		out = append(out, a.bands(f, c, m))
	}
	if heat := m.heat(); heat != nil {
		g := a.graph("spread of response times"+ofWhich(&f.Run), "The stronger the colour, the more calls of that second took that long.", duration)
		g.Heat, g.Unit = heat, plot.Nanoseconds
		out = append(out, g)
	}
	if failed := failuresBySecond(f, a); plot.Some(failed) {
		g := a.graph("errors per second", "Calls that failed, in each second.", units.Number, rundir.Line{Name: "errors", Values: failed})
		g.Low, g.Filled = true, true
		out = append(out, g)
	}
	if len(c.Others) > 0 {
		g := a.graph("other operations per second", "They are timed, but do not count as throughput.", units.Number, c.Others...)
		g.Mean, g.Apart = true, true
		out = append(out, g)
	}
	return out
}

// bands returns percentiles of the response time: those of all calls that count in each
// second and, during warm-up, for which no log is kept, those of the slowest operation.
func (a *axis) bands(f *rundir.Folder, c rundir.Timeline, m moments) Graph {
	p50, p99, most := slices.Clone(c.P50), slices.Clone(c.P99), slices.Clone(c.Max)
	p90 := rundir.Gaps(a.n)
	if m.known() {
		for i := range m.most {
			if at := i - a.first; at >= 0 && at < a.n && !(math.IsNaN(c.P99[at]) && !math.IsNaN(c.Max[at])) {
				p50[at], p90[at], p99[at], most[at] = m.p50[i], m.p90[i], m.p99[i], m.most[i]
			}
		}
	}
	for i := range most {
		if math.IsNaN(p99[i]) { // nothing was done: what was given up is no response
			most[i] = math.NaN()
		}
	}
	lines := []rundir.Line{{Name: "max", Values: most}, {Name: "p99", Values: p99}, {Name: "p90", Values: p90}, {Name: "p50", Values: p50}}
	if !plot.Some(p90) {
		lines = slices.Delete(lines, 2, 3)
	}
	g := a.graph("response time"+ofWhich(&f.Run), "The upper edge of a band is that percentile of the calls of each second: of 100 calls, 99 are below the edge of p99.", duration, lines...)
	g.Log, g.Bands, g.Main, g.Unit = true, true, 1, plot.Nanoseconds
	return g
}

// failuresBySecond returns the errors in each second; all NaN if there were none.
func failuresBySecond(f *rundir.Folder, a axis) []float64 {
	out, some := make([]float64, a.n), false
	within := map[[2]string]bool{}
	for _, o := range f.Run.Operations {
		within[[2]string{o.Track, o.Op}] = !f.Run.Fails(o)
	}
	for _, r := range f.Series {
		if i := r.T - a.first; i >= 0 && i < a.n && !within[[2]string{r.Track, r.Op}] {
			out[i] += float64(r.Errors)
			some = some || r.Errors > 0
		}
	}
	if !some {
		return rundir.Gaps(a.n)
	}
	return out
}

// stretches describes the course in some rows, for readers who cannot see the charts.
func stretches(f *rundir.Folder, c rundir.Timeline, m moments, a axis) Section {
	parts := m.stretches()
	n := len(parts)
	if n < 2 {
		return Section{}
	}
	failed := failuresBySecond(f, a)
	t := Table{Left: 2, Columns: []string{"from", "to", f.Run.Unit + " per second", "p50", "p90", "p99", "max", "errors"}}
	for i, h := range parts {
		from, to := (i*len(m.p50)+n-1)/n, ((i+1)*len(m.p50)+n-1)/n
		cells := []string{plot.Clock(float64(from)), plot.Clock(float64(min(to, len(m.p50))))}
		lo, hi := min(max(from-a.first, 0), a.n), min(max(to-a.first, 0), a.n)
		cells = append(cells, units.Number(mean(c.Rates[lo:hi])))
		if h == nil {
			cells = append(cells, "–", "–", "–", "–")
		} else {
			s := measure.Summarize(h).Shown()
			cells = append(cells, Nanos(s.P50), Nanos(s.P90), Nanos(s.P99), Nanos(s.Max))
		}
		errors := int64(0)
		for _, v := range failed[lo:hi] {
			if v > 0 {
				errors += int64(v)
			}
		}
		t.Add(append(cells, Whole(errors))...)
	}
	return Section{Heading: "The course in figures", Weight: Detail, Table: t}
}

// mean returns the mean of the known rates, NaN if there are none.
func mean(rates []float64) float64 {
	sum, n := 0.0, 0.0
	for _, v := range rates {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}

// marks returns the live changes (for a ramp the first), the users' notes and, in a run
// of several phases, where each phase began.
func marks(r *rundir.Run, done []effect.Effect) []plot.Mark {
	var out []plot.Mark
	for i := range done {
		if e := &done[i]; !isFault(e.Name) { // those are shaded
			out = append(out, plot.Mark{At: e.At.Seconds(), Note: change(e)})
		}
	}
	for _, m := range r.Marks {
		out = append(out, plot.Mark{At: m.At, Note: Plain(m.Note)})
	}
	if len(r.Phases) < 2 {
		return out
	}
	phases := slices.Clone(r.Phases)
	slices.SortStableFunc(phases, func(a, b rundir.Phase) int { return cmp.Compare(a.From, b.From) })
	for _, p := range phases {
		name := Plain(p.Name)
		out = append(out, plot.Mark{At: p.From, Name: name, Note: "phase " + name + " from " + plot.Clock(p.From)})
	}
	return out
}

// ofWhich says which operations the times are for, unless that is obvious.
func ofWhich(r *rundir.Run) string {
	timed := r.Headline().Timed
	switch what := r.Covered(); {
	case what == measure.AllCalls:
		return ""
	case len(timed) != 1:
		return " of " + what
	}
	return " of " + timed[0].Op
}

// resources draws what perfbench, the store and the machine used, and what the store's
// servers report about themselves, over the time of the run.
func resources(f *rundir.Folder, a axis) Section {
	s := Section{Heading: "Client, store and machine"}
	cores := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	if lines := used(f, a, "cpu_cores"); len(lines) > 0 {
		g := a.graph("processors in use", "1 is one processor that is busy all the time.", cores, lines...)
		g.Mean, g.Apart = true, true
		s.Charts = append(s.Charts, g)
	}
	if lines := used(f, a, "memory_bytes"); len(lines) > 0 {
		g := a.graph("memory in use", "What is held in memory, second by second.", size, lines...)
		g.Apart, g.Unit = true, plot.Bytes
		s.Charts = append(s.Charts, g)
	}
	var still []string
	for _, c := range countersOf(f) {
		if c.source == rundir.OfMachine && c.name == "memory_bytes" {
			continue // the machine's own is far larger than all others
		}
		lines := c.lines(f, a)
		if !slices.ContainsFunc(lines, func(l rundir.Line) bool {
			return slices.ContainsFunc(l.Values, func(v float64) bool { return v > 0 || v < 0 })
		}) {
			still = append(still, c.title())
			continue
		}
		if len(s.Charts) == mostCounters {
			s.Text = []string{"store.csv has more than is drawn here."}
			break
		}
		s.Charts = append(s.Charts, c.graph(a, lines))
	}
	if len(still) > 0 {
		s.Text = append(s.Text, "Always 0: "+strings.Join(still, ", ")+".")
	}
	return s
}

// used returns the samples of perfbench and of the store: of its processes if they are
// on this machine, otherwise as reported by its servers.
func used(f *rundir.Folder, a axis, name string) (out []rundir.Line) {
	add := func(label, source string) bool {
		values := rundir.Sampled(f, source, name, a.first, a.n)
		if !plot.Some(values) {
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
