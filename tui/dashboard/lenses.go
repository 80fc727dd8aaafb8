package dashboard

import (
	"context"
	"fmt"
	"image"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// tab is what the lower panel shows.
type tab int

const (
	tabOps tab = iota
	tabTracks
	tabErrors
	tabChanges
	tabVerdict
	tabBoth
	tabHeat
	tabCurve
	tabs
)

// tall reports whether a tab needs more room than the others.
func (t tab) tall() bool { return t >= tabBoth && t < tabs }

// drawn reports whether a tab is a picture, which needs room, rather than a table.
func (t tab) drawn() bool { return t >= tabHeat && t < tabs }

// String returns the title of the panel.
func (t tab) String() string {
	return [...]string{"Operations", "Tracks", "Errors", "Changes", "Verdict", "Store and perfbench", "Heat map", "Percentiles"}[t]
}

// lens draws a tab that is a picture; note is shown in its upper border.
func (d *Dashboard) lens(e screen.Env, r image.Rectangle, t tab, note string) []string {
	p := d.rects(e)
	pane := widget.Panel{Title: t.String() + d.ofOp(), Note: note}
	lw := labelWidth(p)
	if t == tabHeat {
		a := d.axis(chartCells(p, r))
		h := NewHeat(a, r.Dy()-2, d.spreads(true))
		if h == nil {
			return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{"  No call was timed yet."})
		}
		pane.Under = d.timeline(a, r.Dx(), lw)
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), scaled(e.Styles, lw, h.Ticks(latencyLabel), h.Draw(e.Styles)))
	}
	spreads, series := d.distributions()
	c := NewCurve(r.Dx()-5-lw, r.Dy()-3, spreads, series, latencyLabel)
	if c == nil {
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{fmt.Sprintf("  p90 takes %d calls: there are fewer.", measure.Needs(90))})
	}
	lines := scaled(e.Styles, lw, c.Ticks(), c.Draw(e.Styles))
	lines = append(lines, strings.Repeat(" ", lw+2)+e.Styles.Muted.On(c.Foot()))
	return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
}

// distributions returns the response times of the measured part, and the colours of the
// operations: those shown separately, or all as one.
func (d *Dashboard) distributions() (spreads []measure.Spread, series []int) {
	ops := d.apart()
	if ops == nil {
		return []measure.Spread{sum(d.spreads(false))}, []int{d.hue(d.op)}
	}
	for _, op := range ops {
		spreads, series = append(spreads, sum(d.measured(op))), append(series, d.hue(op))
	}
	return spreads, series
}

// histogram draws how many calls took how long.
func (d *Dashboard) histogram(e screen.Env, r image.Rectangle) []string {
	pane := widget.Panel{Title: "Histogram" + d.ofOp(), Note: "all of the run"}
	lw := labelWidth(d.rects(e))
	spreads, series := d.distributions()
	h := NewHistogram(r.Dx()-5-lw, r.Dy()-3, spreads, series)
	if h == nil {
		return pane.Draw(e.Styles, r.Dx(), r.Dy(), []string{"  No call was timed yet."})
	}
	lines := scaled(e.Styles, lw, h.Ticks(), h.Draw(e.Styles))
	lines = append(lines, strings.Repeat(" ", lw+2)+e.Styles.Muted.On(h.Foot(latencyLabel)))
	return pane.Draw(e.Styles, r.Dx(), r.Dy(), lines)
}

// leastPicture is the minimum height of a picture of the wall, leastTable that of a
// table.
const leastPicture, leastTable = 10, 4

// wall draws what the lower panel does not show, stacked vertically: histogram and
// percentiles, and every table.
func (d *Dashboard) wall(e screen.Env, r image.Rectangle) []string {
	key := panelKey{number: d.snap.Number, rect: r, styles: e.Styles, op: d.op, tab: d.lower, changes: len(d.snap.Changes)}
	return d.cache.wall.get(key, func() []string {
		pictures := []func(image.Rectangle) []string{func(r image.Rectangle) []string { return d.histogram(e, r) }}
		if d.lower != tabCurve {
			pictures = append(pictures, func(r image.Rectangle) []string { return d.lens(e, r, tabCurve, "all of the run") })
		}
		var titles []string
		var tables [][]string
		for _, t := range []tab{tabBoth, tabTracks, tabErrors, tabChanges, tabVerdict} {
			if t == d.lower {
				continue
			}
			head, body := d.table(e, t, r.Dx()-4)
			lines := []string{" " + e.Styles.Muted.On(head)}
			for _, l := range body {
				lines = append(lines, " "+l)
			}
			titles, tables = append(titles, t.String()), append(tables, lines)
		}
		heights, rest := shares(tables, r.Dy()-leastPicture*len(pictures))
		rest += leastPicture * len(pictures)
		var out []string
		for i, draw := range pictures {
			h := rest / (len(pictures) - i)
			out = append(out, draw(image.Rect(0, 0, r.Dx(), h))...)
			rest -= h
		}
		for i, lines := range tables {
			pane := widget.Panel{Title: titles[i]}
			if shown := heights[i] - 2; shown < len(lines) {
				pane.Foot = fmt.Sprintf("%d of %d", shown-1, len(lines)-1)
			}
			out = append(out, pane.Draw(e.Styles, r.Dx(), heights[i], lines)...)
		}
		return out
	})
}

// shares distributes rows over tables, borders included: each gets what it needs; if
// that is too much, the highest ones are reduced, as little as possible. rest is what
// they leave.
func shares(tables [][]string, rows int) (heights []int, rest int) {
	rest = rows
	for _, lines := range tables {
		heights = append(heights, len(lines)+2)
		rest -= len(lines) + 2
	}
	for rest < 0 {
		highest := 0
		for i, h := range heights {
			if h > heights[highest] {
				highest = i
			}
		}
		if heights[highest] <= leastTable {
			break
		}
		heights[highest]--
		rest++
	}
	return heights, rest
}

// table returns the head and the rows of a tab that is a table, in w cells.
func (d *Dashboard) table(e screen.Env, t tab, w int) (head string, body []string) {
	switch t {
	case tabTracks:
		return d.trackRows(e, w)
	case tabErrors:
		return d.errorRows(e, w)
	case tabChanges:
		return d.changeRows(e, w)
	case tabBoth:
		return Table(e.Styles, d.run.Samples(), &d.course, d.info.Store, d.verdict, w)
	case tabVerdict:
		return d.verdictRows(e, w)
	}
	return d.opRows(e, w)
}

// scaled puts the scale labels to the left of the rows of a plot.
func scaled(s *widget.Styles, width int, ticks []Tick, rows []string) []string {
	labels := make([]string, len(rows))
	for _, t := range ticks {
		labels[t.Row] = t.Text
	}
	out := make([]string, len(rows))
	for y, row := range rows {
		edge := " │"
		if labels[y] != "" {
			edge = " ┤"
		}
		out[y] = s.Muted.On(widget.FitRight(labels[y], width)) + s.Line.On(edge) + row
	}
	return out
}

// spreads returns those of the selected operation, or of all that count; of the
// measured part only unless warm-up is requested too.
func (d *Dashboard) spreads(warmup bool) []measure.Spread {
	var out []measure.Spread
	for op := range d.snap.Spreads {
		switch {
		case d.op >= 0 && op != d.op || d.op < 0 && !d.snap.Counts(op):
		case warmup:
			out = append(out, d.snap.Spreads[op]...)
		default:
			out = append(out, d.measured(op)...)
		}
	}
	return out
}

// measured returns the spreads of an operation after the warm-up.
func (d *Dashboard) measured(op int) []measure.Spread {
	if op >= len(d.snap.Spreads) {
		return nil
	}
	list := d.snap.Spreads[op]
	for len(list) > 0 && list[0].T < 0 {
		list = list[1:]
	}
	return list
}

func sum(list []measure.Spread) (all measure.Spread) {
	for _, s := range list {
		all = all.Plus(s)
	}
	return all
}

// earlierMsg delivers the run to compare this one with.
type earlierMsg struct {
	run *Run
	err error
}

// pressEarlier asks which run to compare this one with, or ends the comparison.
func (d *Dashboard) pressEarlier() tea.Cmd {
	if d.earlier != nil {
		d.earlier = nil
		return nil
	}
	d.chooser.Ask()
	return screen.ReadHistory(d.bench)
}

// load reads the chosen run in the background.
func (d *Dashboard) load(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	return func() tea.Msg {
		f, err := d.bench.Load(id)
		if err != nil {
			return earlierMsg{err: err}
		}
		return earlierMsg{run: Of(f)}
	}
}

func (d *Dashboard) hold(e screen.Env, msg earlierMsg) {
	if msg.err != nil {
		d.say(e, "the earlier run cannot be read: "+msg.err.Error(), true)
		return
	}
	d.earlier = msg.run
	d.say(e, "compared with "+msg.run.ID+", dimmed behind the charts; b drops it", false)
}

// Bench is what the screens of a run in progress need.
type Bench interface {
	screen.Archive
	// Profiles lists the profiles.
	Profiles() []workload.Profile
	// Start connects and begins a run, which then sets up in the background. The
	// context cancels connecting only.
	Start(ctx context.Context, r request.Request) (screen.Run, error)
	// SavePreset saves a run as a preset of the user and returns its path.
	SavePreset(name string, r request.Request) (path string, err error)
}
