package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
)

// resultsTab is a page of the results.
type resultsTab int

const (
	tabSummary resultsTab = iota
	tabPercentiles
	tabDistribution
	tabSegments
	tabCourse
	tabFailures
	tabChecks
	tabValues
	resultsTabs
)

// title returns the name of a page, in the short form that narrow screens show.
func (t resultsTab) title(short bool) string {
	if short {
		return [...]string{"Sum", "Times", "Dist", "Segs", "Live", "Errs", "Checks", "Set"}[t]
	}
	return [...]string{"Summary", "Percentiles", "Distribution", "Segments", "Changes", "Errors", "Verification", "Settings"}[t]
}

// tabs lists the pages that have anything to show.
func (r *results) tabs() []resultsTab {
	out := []resultsTab{tabSummary}
	if r.loaded == nil {
		return out
	}
	run := &r.loaded.folder.Run
	out = append(out, tabPercentiles, tabDistribution)
	if len(run.Segments) > 1 {
		out = append(out, tabSegments)
	}
	if len(run.Changes)+len(run.Marks) > 0 {
		out = append(out, tabCourse)
	}
	if len(run.Errors) > 0 {
		out = append(out, tabFailures)
	}
	if len(run.Verification.Checks) > 0 {
		out = append(out, tabChecks)
	}
	return append(out, tabValues)
}

// tabSpot is where a name of a row of names stands: that of number at.
type tabSpot struct {
	at       int
	name     string
	from, to int
}

func (r *results) tabSpots(e env) []tabSpot {
	var out []tabSpot
	lay := func(short bool) int {
		out = out[:0]
		x := 1
		for _, t := range r.tabs() {
			name := " " + t.title(short) + " "
			out = append(out, tabSpot{int(t), name, x, x + len(name)})
			x += len(name) + 1
		}
		return x
	}
	if lay(false) > e.w {
		lay(true)
	}
	return out
}

func (r *results) tabLine(e env) string {
	var b strings.Builder
	b.WriteByte(' ')
	for i, t := range r.tabSpots(e) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.at == int(r.tab) {
			b.WriteString(e.styles.chosen(t.name))
		} else {
			b.WriteString(e.styles.muted.on(t.name))
		}
	}
	return fit(b.String(), e.w)
}

// bodyCache keeps the drawn lines of a page: a finished run does not change.
type bodyCache struct {
	tab    resultsTab
	w, h   int
	styles *styles
	op     int
	lines  []string
}

// draw draws the panel with the page that is chosen, h lines high.
func (r *results) draw(e env, h int) []string {
	c := bodyCache{tab: r.tab, w: e.w, h: h, styles: e.styles, op: r.op}
	if k := r.cache; k.lines == nil || k.tab != c.tab || k.w != c.w || k.h != c.h || k.styles != c.styles || k.op != c.op {
		c.lines = indent(r.body(e, e.w-4, h-2))
		r.cache = c
	}
	p := panel{title: r.tab.title(false), focused: true}
	lines := windowed(r.cache.lines, &r.scroll[r.tab], h-2)
	if n := len(r.cache.lines); n > h-2 {
		p.note = fmt.Sprintf("%d–%d of %d", r.scroll[r.tab]+1, r.scroll[r.tab]+len(lines), n)
	}
	return p.draw(e.styles, e.w, h, lines)
}

// body is what a page shows, in w cells and, if it can choose, h lines.
func (r *results) body(e env, w, h int) []string {
	switch {
	case r.loaded == nil:
		return r.without(e, w)
	case r.tab == tabPercentiles:
		return r.percentiles(e.styles, w)
	case r.tab == tabDistribution:
		return r.distribution(e.styles, w, h)
	case r.tab == tabSegments:
		return r.segments(e.styles, w)
	case r.tab == tabCourse:
		return r.changes(e.styles, w)
	case r.tab == tabFailures:
		return r.failures(e.styles, w)
	case r.tab == tabChecks:
		return r.checks(e.styles, w)
	case r.tab == tabValues:
		return r.values(e.styles, w)
	}
	return r.summary(e, w, h)
}

// without is the page while nothing is loaded: being read, not readable, or a run
// that wrote nothing.
func (r *results) without(e env, w int) []string {
	s := e.styles
	var out []string
	if r.err != nil {
		out = append(out, "", s.bad.on("The run cannot be read"), "")
		out = append(out, sentences(s, r.err, w)...)
	}
	if o := r.outcome; o != nil {
		if o.Err != nil {
			out = append(out, "", s.bad.on("The run has failed"), "")
			out = append(out, sentences(s, o.Err, w)...)
		}
		if o.Summary != "" {
			out = append(out, "")
			for l := range strings.SplitSeq(strings.TrimRight(ansi.Strip(o.Summary), "\n"), "\n") {
				out = append(out, ansi.Truncate(l, w, "…"))
			}
		}
	}
	switch {
	case r.err == nil && r.id != "":
		out = append(out, "", s.muted.on("Reading "+r.id+" …"))
	case r.id == "" && len(out) == 0:
		out = append(out, "", s.muted.on("The run wrote no report."))
	}
	return out
}

// sentences writes an error with its hint below.
func sentences(s *styles, err error, w int) []string {
	var out []string
	out = append(out, wrap(err.Error(), w)...)
	if h := fault.HintOf(err); h != "" {
		for _, l := range wrap(h, w) {
			out = append(out, s.muted.on(l))
		}
	}
	return out
}

func (r *results) percentiles(s *styles, w int) []string {
	run := &r.loaded.folder.Run
	var out []string
	late := false
	for _, o := range run.Operations {
		if o.Calls == 0 {
			out = append(out, s.bold.on(opName(run, o))+s.muted.on("  no call was timed"), "")
			continue
		}
		g := grid{cols: []column{
			{head: "time"},
			{head: "mean", right: true, drop: 2},
			{head: "min", right: true, drop: 5},
			{head: "p50", right: true},
			{head: "p90", right: true, drop: 3},
			{head: "p95", right: true, drop: 4},
			{head: "p99", right: true},
			{head: "p99.9", right: true},
			{head: "p99.99", right: true, drop: 1},
			{head: "max", right: true},
		}}
		add := func(name string, l rundir.Latency) {
			l = l.Shown(o.Calls)
			g.add(name, nanos(int64(l.Mean+0.5)), nanos(l.Min), nanos(l.P50), nanos(l.P90), nanos(l.P95), nanos(l.P99), nanos(l.P999), nanos(l.P9999), nanos(l.Max))
		}
		add("response", o.Response)
		if o.Wait.Max > 0 {
			add("service", o.Service)
			add("wait", o.Wait)
			if o.Late() {
				add("lateness", o.Lateness)
				late = true
			}
		}
		for i := range g.cols {
			g.cols[i].least = 8 // tables below each other align
		}
		head, rows := g.lines(s, w)
		title := s.bold.on(opName(run, o)) + s.muted.on(fmt.Sprintf("  %s calls", whole(o.Calls)))
		if o.Beyond > 0 {
			title += s.warn.on(fmt.Sprintf("  %s over one hour", whole(o.Beyond)))
		}
		out = append(append(out, title, head), rows...)
		if o.Wait.Max == 0 {
			out = append(out, s.muted.on("closed loop: a call is due when it starts, so there is no wait"))
		}
		out = append(out, "")
	}
	out = append(out, mutedLines(s, report.Times, w)...)
	if late {
		out = append(out, mutedLines(s, report.Lateness, w)...)
	}
	return out
}

// mutedLines wraps a remark.
func mutedLines(s *styles, text string, w int) []string {
	out := wrap(text, w)
	for i, l := range out {
		out[i] = s.muted.on(l)
	}
	return out
}

// opName names an operation: with its track when the run has several.
func opName(run *rundir.Run, o rundir.Operation) string {
	for _, p := range run.Operations {
		if p.Track != o.Track {
			return o.Track + " · " + o.Op
		}
	}
	return o.Op
}

// opChoices names what the distributions can be of.
func (r *results) opChoices() []string {
	out := []string{"all calls"}
	run := &r.loaded.folder.Run
	for _, o := range run.Operations {
		out = append(out, opName(run, o))
	}
	return out
}

func (r *results) distribution(s *styles, w, h int) []string {
	d := r.loaded.all
	if r.op >= 0 {
		d = r.loaded.ops[r.op]
	}
	list := r.opChoices()
	head := s.muted.on("Response time of  ") + s.chosen(" "+list[r.op+1]+" ")
	if len(list) > 2 {
		head += s.muted.on(fmt.Sprintf("  %d of %d", r.op+2, len(list)))
	}
	head += s.muted.on(fmt.Sprintf("   %s calls", whole(d.total)))
	return append([]string{head, ""}, d.draw(s, s.series[0], w, max(h-2, 4))...)
}

// opAt returns the operation that a click on the distributions chooses: the next
// one.
func (r *results) opAt(m tea.Mouse, _ env) (int, bool) {
	if r.loaded == nil || r.tab != tabDistribution || m.Y != 3 {
		return 0, false
	}
	return (r.op+2)%(len(r.loaded.ops)+1) - 1, true
}

// headFigures are the numbers that sum a run up.
type headFigures struct {
	rate                float64 // NaN: cannot be said
	p50, p99, p999, max int64   // of the slowest operation
	errors, unstarted   int64
	count               int64
	timed               int // operations that the latencies are of
}

// figuresOf sums a run up: the headline, with what failed of all operations.
func figuresOf(run *rundir.Run) headFigures {
	h := run.Headline()
	f := headFigures{
		rate: h.Rate, count: h.Count, timed: len(h.Timed),
		p50: h.Response.P50, p99: h.Response.P99, p999: h.Response.P999, max: h.Response.Max,
	}
	for _, o := range run.Operations {
		f.errors += o.Errors
		f.unstarted += o.Unstarted
	}
	return f
}
