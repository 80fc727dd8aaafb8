package results

import (
	"fmt"
	"image"
	"slices"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// A page of wideFrom cells and tallFrom lines has room for two columns, one of widerFrom for three;
// leastText and mostText are how wide the first is, gutter is between two.
const (
	wideFrom, tallFrom, widerFrom = 160, 38, 210
	leastText, mostText, gutter   = 76, 96, 3
)

// wide reports whether a page has room for columns.
func wide(s *widget.Styles, w, h int) bool { return w >= wideFrom && h >= tallFrom && !s.Spoken }

// textWidth is the width of the first column of a page of w cells.
func textWidth(w int) int { return min(max(w*2/5, leastText), mostText) }

// columns puts a column of text of w cells beside others.
func columns(text []string, w int, beside ...string) []string {
	left := make([]string, max(len(text), len(beside)))
	for i := range left {
		line := ""
		if i < len(text) {
			line = text[i]
		}
		left[i] = widget.Fit(line, w+gutter)
	}
	return widget.Beside(left, beside)
}

// wall is the first page where there is room: the text and all percentiles at the left, the charts of
// the run as high as the page at the right, and between them, or below, how many calls took how long.
func (l *loadedRun) wall(s *widget.Styles, m *moment, o *screen.Outcome, w, h int) []string {
	lw := textWidth(w)
	text := l.text(s, o, lw, false)
	if len(text) > h {
		text = l.text(s, o, lw, true)
	}
	if more, _, notes := l.times(s, noOp, true, lw); len(text)+len(more)+1 <= h {
		text = append(append(text, ""), more...)
		text = append(text, muted(s, notes[:min(len(notes), h-len(text))])...)
	}
	return columns(text, lw, l.pictures(s, m, image.Pt(lw+gutter, 0), w-lw-gutter, h)...)
}

// pictures draws the charts of the run and the distribution of its calls in w cells and h lines from a place
// of the page on, and below them, where there is room, both sides.
func (l *loadedRun) pictures(s *widget.Styles, m *moment, at image.Point, w, h int) []string {
	if len(l.samples) > 0 && h >= tallFrom {
		both := l.both(s, w)
		above := l.courseAndSpread(s, m, at, w, h-min(len(both), h/3-1)-1)
		if room := max(h-len(above)-1, 1); len(both) > room {
			rest := fmt.Sprintf("  and %s: a higher terminal shows them", widget.Plural(int64(len(both)-room+1), "more line"))
			both = append(both[:room-1:room-1], s.Muted.On(widget.Fit(rest, w)))
		}
		return slices.Concat(above, []string{""}, both)
	}
	return l.courseAndSpread(s, m, at, w, h)
}

// both is what perfbench, the store and the machine used, and what the store counted.
func (l *loadedRun) both(s *widget.Styles, w int) []string {
	head, lines := chart.Sides(s, "mean of the run", l.samples, &l.counters, l.folder.Run.Store.Name, l.folder.Run.Verdict, w, true)
	return append([]string{s.Muted.On(head)}, lines...)
}

// howLong is the title of the distribution of the calls that the headline is of.
func (l *loadedRun) howLong() string {
	if of := l.folder.Run.Covered(); of != measure.AllCalls {
		return "How many calls of " + of + " took how long"
	}
	return "How many calls took how long"
}

// courseAndSpread draws the charts of the run and the distribution of its calls.
func (l *loadedRun) courseAndSpread(s *widget.Styles, m *moment, at image.Point, w, h int) []string {
	spread := func(w, h int) []string {
		return append([]string{s.Muted.On(widget.Fit(l.howLong(), w))}, l.all.Draw(s, s.Series[0], w, h-1)...)
	}
	switch {
	case len(l.course.rates) < 2:
		return spread(w, h)
	case w >= widerFrom-mostText:
		third := w * 2 / 5
		charts := w - third - gutter
		return columns(l.charts(s, m, at, charts, h-1), charts, spread(third, h-1)...)
	}
	most := h * 3 / 5
	return slices.Concat(l.charts(s, m, at, w, most), []string{""}, spread(w, h-most-2))
}

// besideCharts is a page of tables where there is room for the charts of the run beside them.
func (l *loadedRun) besideCharts(s *widget.Styles, m *moment, w, h int, table func(w int) []string) []string {
	if !wide(s, w, h) || len(l.course.rates) < 2 {
		return table(w)
	}
	lw := max(w/2, 100)
	return columns(table(lw), lw, l.charts(s, m, image.Pt(lw+gutter, 0), w-lw-gutter, h-1)...)
}

// aboveCharts is besideCharts, or a page with the charts below the tables where only there is room for them.
func (l *loadedRun) aboveCharts(s *widget.Styles, m *moment, w, h int, table func(w int) []string) []string {
	out := l.besideCharts(s, m, w, h, table)
	if room := h - len(out) - 1; room >= leastBoth+1 && len(l.course.rates) > 1 && m.plots.Empty() && !s.Spoken {
		out = append(append(out, ""), l.charts(s, m, image.Pt(0, len(out)+1), w, min(room, mostBoth))...)
	}
	return out
}

// foundBeside is the page of a search where there is room for its curve beside the text; nil if there is
// no curve.
func foundBeside(s *widget.Styles, text []string, lw int, r *find.Result, w, h int) []string {
	rw := w - lw - gutter
	legend := widget.Indent(chart.LatencyLegend(s, r, rw-2))
	drawn := chart.Latency(s, r).Draw(s, rw, h-1-len(legend))
	if drawn == nil {
		return nil
	}
	return columns(text, lw, slices.Concat(legend, drawn)...)
}
