package results

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/report/runpage"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// resultsTab is a page of the results.
type resultsTab int

const (
	tabSummary resultsTab = iota
	tabSearch
	tabPercentiles
	tabDistribution
	tabSegments
	tabCourse
	tabFailures
	tabChecks
	tabValues
	resultsTabs
)

// title returns the name of a page, or its short form for narrow screens.
func (t resultsTab) title(short bool) string {
	if short {
		return [...]string{"Sum", "Find", "Times", "Dist", "Segs", "Live", "Errs", "Checks", "Set"}[t]
	}
	return [...]string{"Summary", "Search", "Percentiles", "Distribution", "Segments", "Changes", "Errors", "Verification", "Settings"}[t]
}

// tabs lists the pages that have content.
func (r *Results) tabs() []resultsTab {
	out := []resultsTab{tabSummary}
	if r.loaded == nil {
		return out
	}
	run := &r.loaded.folder.Run
	if r.loaded.found != nil {
		out = append(out, tabSearch)
	}
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

func (r *Results) tabSpots(e screen.Env) []widget.TabSpot {
	var out []widget.TabSpot
	lay := func(short bool) int {
		out = out[:0]
		x := 1
		for _, t := range r.tabs() {
			name := " " + t.title(short) + " "
			out = append(out, widget.TabSpot{At: int(t), Name: name, From: x, To: x + len(name)})
			x += len(name) + 1
		}
		return x
	}
	if lay(false) > e.W {
		lay(true)
	}
	return out
}

func (r *Results) tabLine(e screen.Env) string {
	var b strings.Builder
	b.WriteByte(' ')
	for i, t := range r.tabSpots(e) {
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.At == int(r.tab) {
			b.WriteString(e.Styles.Chosen(t.Name))
		} else {
			b.WriteString(e.Styles.Muted.On(t.Name))
		}
	}
	return widget.Fit(b.String(), e.W)
}

// bodyCache keeps the drawn lines of a page: a finished run does not change.
type bodyCache struct {
	tab    resultsTab
	w, h   int
	styles *widget.Styles
	op     int
	lines  []string
}

// draw draws the panel with the selected page, h lines high.
func (r *Results) draw(e screen.Env, h int) []string {
	c := bodyCache{tab: r.tab, w: e.W, h: h, styles: e.Styles, op: r.op}
	if k := r.cache; k.lines == nil || k.tab != c.tab || k.w != c.w || k.h != c.h || k.styles != c.styles || k.op != c.op {
		c.lines = widget.Indent(r.body(e, e.W-4, h-2))
		r.cache = c
	}
	p := widget.Panel{Title: r.tab.title(false), Focused: true}
	lines := widget.Windowed(r.cache.lines, &r.scroll[r.tab], h-2)
	n := len(r.cache.lines)
	if r.long = n > h-2; r.long {
		p.Note = fmt.Sprintf("%d–%d of %d", r.scroll[r.tab]+1, r.scroll[r.tab]+len(lines), n)
	}
	return p.Draw(e.Styles, e.W, h, lines)
}

// body returns the content of a page, in w cells and, if it can adapt, h lines.
func (r *Results) body(e screen.Env, w, h int) []string {
	switch {
	case r.loaded == nil:
		return r.without(e, w)
	case r.tab == tabSearch && r.loaded.found != nil:
		return searched(e.Styles, r.loaded.found, w, h)
	case r.tab == tabPercentiles:
		return r.percentiles(e.Styles, w)
	case r.tab == tabDistribution:
		return r.distribution(e.Styles, w, h)
	case r.tab == tabSegments:
		return r.segments(e.Styles, w)
	case r.tab == tabCourse:
		return r.changes(e.Styles, w)
	case r.tab == tabFailures:
		return r.failures(e.Styles, w)
	case r.tab == tabChecks:
		return r.checks(e.Styles, w)
	case r.tab == tabValues:
		return r.values(e.Styles, w)
	}
	return r.summary(e, w, h)
}

// without is the page while nothing is loaded: the run is being read, is not readable,
// or has written nothing.
func (r *Results) without(e screen.Env, w int) []string {
	s := e.Styles
	var out []string
	if r.err != nil {
		out = append(out, "", s.Bad.On("The run cannot be read"), "")
		out = append(out, widget.Sentences(s, r.err, w)...)
	}
	if o := r.outcome; o != nil {
		if o.Err != nil {
			out = append(out, "", s.Bad.On("The run has failed"), "")
			out = append(out, widget.Sentences(s, o.Err, w)...)
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
		out = append(out, "", s.Muted.On("Reading "+r.id+" …"))
	case r.id == "" && len(out) == 0:
		out = append(out, "", s.Muted.On("The run wrote no report."))
	}
	return out
}

func (r *Results) percentiles(s *widget.Styles, w int) []string {
	run := &r.loaded.folder.Run
	var out []string
	late := false
	for _, o := range run.Operations {
		if o.Calls == 0 {
			out = append(out, s.Bold.On(widget.OpName(run, o))+s.Muted.On("  no call was timed"), "")
			continue
		}
		g := widget.Grid{Cols: []widget.Column{
			{Head: "time"},
			{Head: "mean", Right: true, Spare: 2},
			{Head: "min", Right: true, Spare: 5},
			{Head: "p50", Right: true},
			{Head: "p90", Right: true, Spare: 3},
			{Head: "p95", Right: true, Spare: 4},
			{Head: "p99", Right: true},
			{Head: "p99.9", Right: true},
			{Head: "p99.99", Right: true, Spare: 1},
			{Head: "max", Right: true},
		}}
		add := func(name string, l rundir.Latency) {
			l = l.Shown(o.Calls)
			g.Add(name, widget.Nanos(int64(l.Mean+0.5)), widget.Nanos(l.Min), widget.Nanos(l.P50), widget.Nanos(l.P90), widget.Nanos(l.P95), widget.Nanos(l.P99), widget.Nanos(l.P999), widget.Nanos(l.P9999), widget.Nanos(l.Max))
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
		for i := range g.Cols {
			g.Cols[i].Least = 8 // to align tables below each other
		}
		head, rows := g.Lines(s, w)
		title := s.Bold.On(widget.OpName(run, o)) + s.Muted.On(fmt.Sprintf("  %s calls", widget.Whole(o.Calls)))
		if o.Beyond > 0 {
			title += s.Warn.On(fmt.Sprintf("  %s over one hour", widget.Whole(o.Beyond)))
		}
		out = append(append(out, title, head), rows...)
		if o.Wait.Max == 0 {
			out = append(out, widget.MutedLines(s, "no target rate: a call is due when it starts, so there is no wait", w)...)
		}
		out = append(out, "")
	}
	out = append(out, widget.MutedLines(s, runpage.Times, w)...)
	if late {
		out = append(out, widget.MutedLines(s, runpage.Lateness, w)...)
	}
	return out
}

// opChoices lists the operations whose distributions can be shown.
func (r *Results) opChoices() []string {
	out := []string{"all calls"}
	run := &r.loaded.folder.Run
	for _, o := range run.Operations {
		out = append(out, widget.OpName(run, o))
	}
	return out
}

func (r *Results) distribution(s *widget.Styles, w, h int) []string {
	d := r.loaded.all
	if r.op >= 0 {
		d = r.loaded.ops[r.op]
	}
	list := r.opChoices()
	head := s.Muted.On("Response time of  ") + s.Chosen(" "+list[r.op+1]+" ")
	if len(list) > 2 {
		head += s.Muted.On(fmt.Sprintf("  %d of %d", r.op+2, len(list)))
	}
	head += s.Muted.On(fmt.Sprintf("   %s calls", widget.Whole(d.Total)))
	return append([]string{head, ""}, d.Draw(s, s.Series[0], w, max(h-2, 4))...)
}

// opAt returns the operation that a click on the distributions selects: the next one.
func (r *Results) opAt(m tea.Mouse, _ screen.Env) (int, bool) {
	if r.loaded == nil || r.tab != tabDistribution || m.Y != 3 {
		return 0, false
	}
	return (r.op+2)%(len(r.loaded.ops)+1) - 1, true
}
