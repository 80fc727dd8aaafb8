package chart

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Latency returns what a search has tried: a point for the figure that is sought of each step, p99 or
// what the condition is on, which shows whether it held, and lines through the medians of that and of
// p50 at each level; with rules at the level that holds and the one that does not, and a line at each
// time that was asked for. What is far above that does not set the scale.
func Latency(s *widget.Styles, r *find.Result) Plot {
	p := Plot{Log: true, Across: units.Number, Format: func(ns float64) string { return units.Duration(time.Duration(ns)) }}
	name, of := r.Sought()
	sought, p50 := Curve{Ink: s.Series[1], Bare: true}, Curve{Ink: s.Series[0], Bare: true}
	for _, level := range r.Levels() {
		for _, step := range level.Steps {
			p.Points = append(p.Points, Point{At: step.Level, Value: shownTime(of(step)), Good: step.Held})
		}
		sought.add(level.Level, level.Median(of))
		p50.add(level.Level, level.Median(func(t find.Step) int64 { return t.Response.P50 }))
	}
	if p.Curves = []Curve{sought}; name != "p50" {
		p.Curves = append(p.Curves, p50)
	}
	low, high := r.Bracket()
	for _, v := range []float64{low, high} {
		if v > 0 {
			p.Marks = append(p.Marks, v)
		}
	}
	for _, e := range r.Limits() {
		p.Limits = append(p.Limits, Limit{e.Limit, e.Text})
		p.Most = max(p.Most, farAbove*e.Limit)
	}
	if low := lowest(sought.Values); p.Most > 0 && finite(low) { // the lowest one is shown
		p.Most = max(p.Most, 2*low)
	}
	return p
}

// farAbove is how many times a limit a time may be to set the scale.
const farAbove = 10

// LatencyLegend names what Latency draws, in its colours.
func LatencyLegend(s *widget.Styles, r *find.Result) string {
	name, _ := r.Sought()
	text := s.Series[1].On(name)
	if name != "p50" {
		text += s.Muted.On(" and ") + s.Series[0].On("p50")
	}
	text += s.Muted.On(" over " + r.Over)
	if len(r.Steps) > len(r.Levels()) {
		text += s.Muted.On(", lines through medians")
	}
	return text + "   " + s.OK.On(signGood) + s.Muted.On(" held") + "  " + s.Bad.On(signBad) + s.Muted.On(" did not")
}

// lowest returns the smallest value above 0; infinity if there is none.
func lowest(values []float64) float64 {
	low := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			low = min(low, v)
		}
	}
	return low
}

// add adds a level with a time; what too few calls support is a gap.
func (c *Curve) add(level float64, ns int64) {
	c.At, c.Values = append(c.At, level), append(c.Values, shownTime(ns))
}

// shownTime is a time as a value of a chart, NaN if there is none.
func shownTime(ns int64) float64 {
	if ns == measure.Hidden || ns <= 0 {
		return math.NaN()
	}
	return float64(ns)
}

// Steps returns the table of the levels that a search has tried, the one that was tried last first, in
// at most n lines of w cells. Several tries of a level are one row, with their medians.
func Steps(s *widget.Styles, r *find.Result, w, n int) []string {
	judged := r.Judged()
	g := widget.Grid{Cols: []widget.Column{
		{Head: r.Over, Right: true}, {Head: r.Unit + "/s", Right: true, Spare: 2}, {Head: "p50", Right: true, Spare: 4}, {Head: "p99", Right: true},
	}}
	for _, f := range judged {
		g.Cols = append(g.Cols, widget.Column{Head: f.Name, Right: true})
	}
	threads := r.Over != find.OverThreads // else the first column has them
	if threads {
		g.Cols = append(g.Cols, widget.Column{Head: "threads", Right: true, Spare: 3})
	}
	plain := len(g.Cols)
	g.Cols = append(g.Cols, widget.Column{}, widget.Column{Spare: 1, Most: 60})
	var inks []widget.Ink
	seen := map[float64]bool{}
	for i := len(r.Steps) - 1; i >= 0 && len(inks) < n-1; i-- {
		step := r.Steps[i]
		if seen[step.Level] {
			continue
		}
		seen[step.Level] = true
		words, held, doubtful := r.Told(step.Level)
		sign, ink := "✗", s.Bad
		switch {
		case doubtful:
			sign, ink = "±", s.Warn
		case held:
			sign, ink = "✓", s.OK
		}
		inks = append(inks, ink)
		tries := r.Of(step.Level)
		median := func(of func(find.Step) int64) string { return widget.Nanos(tries.Median(of)) }
		row := []string{
			units.Number(step.Level), units.Number(step.Done),
			median(func(s find.Step) int64 { return s.Response.P50 }), median(func(s find.Step) int64 { return s.Response.P99 }),
		}
		for _, f := range judged {
			row = append(row, median(f.Of))
		}
		if threads {
			row = append(row, units.Number(float64(step.Threads)))
		}
		g.Add(append(row, sign, words)...)
	}
	if len(inks) == 0 {
		return nil
	}
	g.Ink = func(row, col int) widget.Ink {
		if col < plain {
			return s.Plain
		}
		return inks[row]
	}
	head, rows := g.Lines(s, w)
	return append([]string{head}, rows...)
}
