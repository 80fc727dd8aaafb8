package results

import (
	"fmt"
	"image"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// page is a page of a finished run.
type page int

const (
	tabSummary page = iota
	tabSearch
	tabAnswers
	tabVerdict
	tabLatency
	tabChanges
	tabFailures
	tabValues
	pagesOfRun
)

// title returns the name of a page.
func (t page) title() string {
	return [...]string{"Summary", "Search", "Answers", "Verdict", "Latency", "Changes", "Errors", "Settings"}[t]
}

// pages are the pages of a run: which of them is shown, and what of it.
type pages struct {
	of     *subject
	at     page
	scroll [pagesOfRun]int
	op     int   // whose latency is shown, or allOps
	ops    []int // of each line of the page of latency
	follow bool  // the chosen operation, which may be off the screen
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

// move scrolls; on the page of latency it selects the operation.
func (p *pages) move(by int) {
	if p.choosesOp() {
		list := p.of.loaded.choices()
		at := slices.Index(list, p.op)
		p.show(list[min(max(at+by, 0), len(list)-1)])
		return
	}
	p.scroll[p.at] += by
}

// choosesOp reports whether the page is of one of several operations at a time.
func (p *pages) choosesOp() bool {
	return p.at == tabLatency && p.of.loaded != nil && len(p.of.loaded.choices()) > 1
}

// show shows the latency of an operation.
func (p *pages) show(op int) {
	p.op, p.follow = op, true
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
	out = append(out, tabVerdict, tabLatency)
	if len(run.Segments) > 1 || len(run.Changes)+len(run.Marks) > 0 {
		out = append(out, tabChanges)
	}
	if len(run.Errors) > 0 {
		out = append(out, tabFailures)
	}
	return append(out, tabValues)
}

// spots returns the positions of the tabs; where there is little room, neighbours share a space.
func (p *pages) spots(e screen.Env) []widget.TabSpot {
	var out []widget.TabSpot
	lay := func(gap int) bool {
		out = out[:0]
		x := 1
		for _, t := range p.list() {
			name := " " + t.title() + " "
			out = append(out, widget.TabSpot{At: int(t), Name: name, From: x, To: x + len(name)})
			x += len(name) + gap
		}
		return x-gap <= e.W
	}
	_ = lay(1) || e.Styles.Spoken || lay(0) || lay(-1)
	return out
}

// line draws the tabs.
func (p *pages) line(e screen.Env) string {
	names, at := "", widget.TabSpot{}
	for _, t := range p.spots(e) {
		names = names[:min(len(names), t.From)]
		names += strings.Repeat(" ", t.From-len(names)) + t.Name
		if t.At == int(p.at) {
			at = t
		}
	}
	line := e.Styles.Muted.On(names[:at.From]) + e.Styles.Chosen(at.Name) + e.Styles.Muted.On(names[at.To:])
	if e.Styles.Spoken {
		return line
	}
	return widget.Fit(line, e.W)
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
	if at := slices.Index(p.ops, p.op); p.follow && at >= 0 {
		p.scroll[p.at] = max(min(p.scroll[p.at], at), at-h+3)
	}
	p.follow = false
	panel := widget.Panel{Title: p.at.title(), Focused: true}
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
	case p.at == tabLatency:
		if choices := l.choices(); !slices.Contains(choices, p.op) {
			p.op = choices[0]
		}
		lines, ops := l.latency(e.Styles, p.op, w, h)
		p.ops = ops
		return lines
	case p.at == tabChanges:
		return l.aboveCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.changes(e.Styles, w) })
	case p.at == tabFailures:
		return l.besideCharts(e.Styles, p.moment, w, h, func(w int) []string { return l.failures(e.Styles, p.moment, w, h) })
	case p.at == tabValues:
		return l.values(e.Styles, w, h)
	}
	return p.of.loaded.page(e.Styles, p.moment, p.of.outcome, w, h)
}

// inside returns the cell of the page that is at a place of the screen, however far it is scrolled.
func (p *pages) inside(m tea.Mouse) image.Point {
	const left, top = 2, 3 // the frame, and the lines above it
	return image.Pt(m.X-left, m.Y-top+p.scroll[p.at])
}

// click shows the page whose tab was clicked, the moment at which a chart was or the operation whose
// latency is to be shown.
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
	if at := p.inside(m).Y; p.choosesOp() && at >= 0 && at < len(p.ops) && p.ops[at] != noOp {
		p.show(p.ops[at])
	}
}
