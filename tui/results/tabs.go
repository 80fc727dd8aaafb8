package results

import (
	"fmt"
	"image"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// page is a page of a finished run.
type page int

const (
	tabSummary page = iota
	tabVerdict
	tabSearch
	tabAnswers
	tabPercentiles
	tabDistribution
	tabSegments
	tabCourse
	tabFailures
	tabChecks
	tabValues
	pagesOfRun
)

// naming is how long the names of the pages are.
type naming int

const (
	longNames naming = iota
	// wholeNames are short words, for 80 columns.
	wholeNames
	// cutNames are for smaller screens, and for runs with many pages.
	cutNames
)

// title returns the name of a page.
func (t page) title(n naming) string {
	switch n {
	case wholeNames:
		return [...]string{"Summary", "Verdict", "Search", "Answers", "Times", "Dist", "Segments", "Changes", "Errors", "Check", "Settings"}[t]
	case cutNames:
		return [...]string{"Sum", "Verd", "Find", "Ans", "Times", "Dist", "Segs", "Live", "Errs", "Chk", "Set"}[t]
	}
	return [...]string{"Summary", "Verdict", "Search", "Answers", "Percentiles", "Distribution", "Segments", "Changes", "Errors", "Check", "Settings"}[t]
}

// pages are the pages of a run: which of them is shown, and what of it.
type pages struct {
	of     *subject
	at     page
	scroll [pagesOfRun]int
	op     int // whose distribution is shown; -1 for all together
	moment *moment
	cache  bodyCache
	long   bool // what was drawn last is longer than the screen
}

// begin shows the page that the run was for, now that it has been read.
func (p *pages) begin() {
	p.cache = bodyCache{}
	if p.of.loaded != nil && p.of.loaded.found != nil && p.of.loaded.found.Tried() && p.at == tabSummary {
		p.at = tabSearch
	}
}

// turn shows the next page that has content.
func (p *pages) turn(by int) {
	list := p.list()
	for i, t := range list {
		if t == p.at {
			p.at = list[(i+by+len(list))%len(list)]
			return
		}
	}
	p.at = tabSummary
}

// move scrolls; on the distributions it selects the operation.
func (p *pages) move(by int) {
	if p.choosesOp() {
		p.show(min(max(p.op+by, -1), len(p.of.loaded.ops)-1))
		return
	}
	p.scroll[p.at] += by
}

// choosesOp reports whether the page is of one operation at a time.
func (p *pages) choosesOp() bool { return p.at == tabDistribution && p.of.loaded != nil }

// show shows the distribution of an operation.
func (p *pages) show(op int) {
	p.op = op
	p.cache = bodyCache{}
}

// list returns the pages that have content.
func (p *pages) list() []page {
	out := []page{tabSummary}
	if p.of.loaded == nil {
		return out
	}
	run := &p.of.loaded.folder.Run
	if p.of.loaded.found != nil {
		out = append(out, tabSearch)
	}
	if p.of.loaded.answers != nil {
		out = append(out, tabAnswers)
	}
	out = append(out, tabVerdict, tabPercentiles, tabDistribution)
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

// spots returns the positions of the tabs.
func (p *pages) spots(e screen.Env) []widget.TabSpot {
	var out []widget.TabSpot
	lay := func(names naming, gap int) bool {
		out = out[:0]
		x := 1
		for _, t := range p.list() {
			name := " " + t.title(names) + " "
			out = append(out, widget.TabSpot{At: int(t), Name: name, From: x, To: x + len(name)})
			x += len(name) + gap
		}
		return x-gap <= e.W
	}
	if e.Styles.Spoken {
		lay(longNames, 1)
		return out
	}
	_ = lay(longNames, 1) || lay(wholeNames, 1) || lay(wholeNames, 0) || lay(cutNames, 1) || lay(cutNames, 0)
	return out
}

// line draws the tabs.
func (p *pages) line(e screen.Env) string {
	var b strings.Builder
	b.WriteByte(' ')
	at := 1
	for _, t := range p.spots(e) {
		b.WriteString(strings.Repeat(" ", t.From-at))
		at = t.To
		if t.At == int(p.at) {
			b.WriteString(e.Styles.Chosen(t.Name))
		} else {
			b.WriteString(e.Styles.Muted.On(t.Name))
		}
	}
	if e.Styles.Spoken {
		return b.String()
	}
	return widget.Fit(b.String(), e.W)
}

// bodyCache keeps the drawn lines of a page: a finished run does not change.
type bodyCache struct {
	page   page
	w, h   int
	styles *widget.Styles
	op     int
	cross  chart.Crosshair
	turned bool
	lines  []string
}

// reveal scrolls to the charts, of which h lines are seen at once.
func (p *pages) reveal(h int) {
	at := p.moment.plots
	if scroll := &p.scroll[p.at]; at.Min.Y < *scroll || at.Max.Y > *scroll+h {
		*scroll = max(min(at.Min.Y, at.Max.Y-h), 0)
	}
}

// draw draws the panel with the selected page, h lines high. The page is laid out for room lines, so that it
// stays as it is while something is said below it.
func (p *pages) draw(e screen.Env, h, room int) []string {
	c := bodyCache{page: p.at, w: e.W, h: room, styles: e.Styles, op: p.op, cross: p.moment.cross, turned: p.moment.turned}
	if k := p.cache; k.lines == nil || k.page != c.page || k.w != c.w || k.h != c.h || k.styles != c.styles || k.op != c.op || k.cross != c.cross || k.turned != c.turned {
		p.moment.plots, p.moment.timed = image.Rectangle{}, false
		c.lines = widget.Indent(p.body(e, e.Styles.TextWidth(e.W-4), room-2))
		p.cache = c
	}
	panel := widget.Panel{Title: p.at.title(longNames), Focused: true}
	lines := widget.Windowed(p.cache.lines, &p.scroll[p.at], h-2)
	n := len(p.cache.lines)
	if p.long = n > h-2; p.long {
		panel.Note = fmt.Sprintf("%d–%d of %d", p.scroll[p.at]+1, p.scroll[p.at]+len(lines), n)
	}
	return panel.Draw(e.Styles, e.W, h, lines)
}

// body returns the content of a page, in w cells and, if it can adapt, h lines.
func (p *pages) body(e screen.Env, w, h int) []string {
	l := p.of.loaded
	switch {
	case l == nil:
		return p.of.instead(e.Styles, w)
	case p.at == tabSearch && p.of.loaded.found != nil:
		return searched(e.Styles, p.of.loaded.found, w, h)
	case p.at == tabAnswers && p.of.loaded.answers != nil:
		return answered(e.Styles, p.of.loaded.answers, w)
	case p.at == tabVerdict:
		return l.besideCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.judged(e.Styles, w) })
	case p.at == tabPercentiles:
		return p.of.loaded.besideCalls(e.Styles, w, h)
	case p.at == tabDistribution:
		return p.distribution(e.Styles, w, h)
	case p.at == tabSegments:
		return l.besideCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.segments(e.Styles, w) })
	case p.at == tabCourse:
		return l.besideCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.changes(e.Styles, w) })
	case p.at == tabFailures:
		return l.besideCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.failures(e.Styles, p.moment, w) })
	case p.at == tabChecks:
		return l.besideCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.checks(e.Styles, w) })
	case p.at == tabValues:
		return l.besideCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.values(e.Styles, w) })
	}
	return p.of.loaded.page(e.Styles, p.moment, p.of.outcome, w, h)
}

func (l *loadedRun) percentiles(s *widget.Styles, w int) []string {
	run := &l.folder.Run
	var out []string
	late, unlimited, few := false, false, false
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
		few = few || o.Response.Shown(o.Calls).P9999 == measure.Hidden
		if o.Wait.Max > 0 {
			add("service", o.Service)
			add("wait", o.Wait)
			if o.Late() {
				add("lateness", o.Lateness)
				late = true
			}
		}
		for _, several := range measure.SlowestOf(l.folder.Histograms[hlog.Tag(o.Track, o.Op, hlog.Response)]) {
			if several.Calls > 0 {
				g.Add(fmt.Sprintf("slowest of %d", several.Calls), "", "", widget.Nanos(several.P50), "", "", widget.Nanos(several.P99), "", "", "")
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
		out = append(out, "")
		unlimited = unlimited || o.Wait.Max == 0
	}
	out = append(out, widget.MutedLines(s, report.Times, w)...)
	if unlimited {
		out = append(out, widget.MutedLines(s, "Without a target rate a call is due when it starts: there is no wait.", w)...)
	}
	out = append(out, widget.MutedLines(s, "Slowest of 5: "+report.IfIndependent, w)...)
	if few {
		out = append(out, widget.MutedLines(s, "A dash stands where fewer than ten calls are beyond that percentile.", w)...)
	}
	if late {
		out = append(out, widget.MutedLines(s, report.Lateness, w)...)
	}
	return out
}

// opChoices lists the operations whose distributions can be shown.
func (p *pages) opChoices() []string {
	run := &p.of.loaded.folder.Run
	out := []string{run.Covered()}
	for _, o := range run.Operations {
		out = append(out, widget.OpName(run, o))
	}
	return out
}

func (p *pages) distribution(s *widget.Styles, w, h int) []string {
	d := p.of.loaded.all
	if p.op >= 0 {
		d = p.of.loaded.ops[p.op]
	}
	list := p.opChoices()
	head := s.Muted.On("Response time of  ") + s.Chosen(" "+list[p.op+1]+" ")
	if len(list) > 2 {
		head += s.Muted.On(fmt.Sprintf("  %d of %d", p.op+2, len(list)))
	}
	head += s.Muted.On(fmt.Sprintf("   %s calls", widget.Whole(d.Total)))
	return append([]string{head, ""}, d.Draw(s, s.Series[0], w, max(h-2, 4))...)
}

// inside returns the cell of the page that is at a place of the screen, however far it is scrolled.
func (p *pages) inside(m tea.Mouse) image.Point {
	const left, top = 2, 3 // the frame, and the lines above it
	return image.Pt(m.X-left, m.Y-top+p.scroll[p.at])
}

// click shows the page whose tab was clicked, the moment at which a chart was or, on the distributions, the
// next operation.
func (p *pages) click(m tea.Mouse, e screen.Env) {
	if m.Y == 1 {
		for _, t := range p.spots(e) {
			if m.X >= t.From && m.X < t.To {
				p.at = page(t.At)
			}
		}
		return
	}
	if m.Button == tea.MouseLeft && m.Y > 2 && m.Y < e.H-3 && p.moment.point(p.inside(m)) {
		return
	}
	if p.of.loaded != nil && p.at == tabDistribution && m.Y == 3 {
		p.show((p.op+2)%(len(p.of.loaded.ops)+1) - 1)
	}
}
