package chart

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Latency returns the curves of p99 and p50 over the levels that a search has tried, each with
// a band from the lowest to the highest of the tries of a level where it has several, with rules
// at the level that holds and the one that does not, and a line at each time that was asked
// for. What is far above that does not set the scale.
func Latency(s *widget.Styles, r *find.Result) Plot {
	p := Plot{Log: true, Across: units.Number, Format: func(ns float64) string { return units.Duration(time.Duration(ns)) }}
	p99 := Curve{Ink: s.Series[1]}
	p50 := Curve{Ink: s.Series[0], Bare: true}
	tries := map[float64][]find.Times{}
	for _, step := range r.Steps {
		tries[step.Level] = append(tries[step.Level], step.Response)
	}
	for _, step := range r.Curve() {
		p99.add(step.Level, tries[step.Level], func(t find.Times) int64 { return t.P99 })
		p50.add(step.Level, tries[step.Level], func(t find.Times) int64 { return t.P50 })
	}
	if len(r.Steps) == len(p99.At) { // no level was tried twice
		p99.Low, p99.High, p50.Low, p50.High = nil, nil, nil, nil
	}
	p.Curves = []Curve{p99, p50}
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
	if low := lowest(p99.Values); p.Most > 0 && finite(low) { // the lowest one is shown
		p.Most = max(p.Most, 2*low)
	}
	return p
}

// farAbove is how many times a limit a time may be to set the scale.
const farAbove = 10

// LatencyLegend names the curves of Latency in their colours.
func LatencyLegend(s *widget.Styles, r *find.Result) string {
	return s.Series[1].On("p99") + s.Muted.On(" and ") + s.Series[0].On("p50") + s.Muted.On(" over "+r.Over)
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

// add adds a level: the time of its last try, and a band over all. What too few calls support is
// a gap.
func (c *Curve) add(level float64, tries []find.Times, of func(find.Times) int64) {
	value, low, high := math.NaN(), math.NaN(), math.NaN()
	for _, t := range tries {
		value = math.NaN()
		if ns := of(t); ns != measure.Hidden && ns > 0 {
			value = float64(ns)
			if math.IsNaN(low) {
				low, high = value, value
			}
			low, high = min(low, value), max(high, value)
		}
	}
	c.At, c.Values, c.Low, c.High = append(c.At, level), append(c.Values, value), append(c.Low, low), append(c.High, high)
}

// Steps returns the table of what a search has tried, newest first, in at most n lines
// of w cells.
func Steps(s *widget.Styles, r *find.Result, w, n int) []string {
	judged := r.Judged()
	g := widget.Grid{Cols: []widget.Column{
		{Head: r.Over, Right: true}, {Head: r.Unit + "/s", Right: true, Spare: 2}, {Head: "p50", Right: true, Spare: 3}, {Head: "p99", Right: true},
	}}
	for _, f := range judged {
		g.Cols = append(g.Cols, widget.Column{Head: f.Name, Right: true})
	}
	g.Cols = append(g.Cols, widget.Column{Head: "threads", Right: true, Spare: 4}, widget.Column{}, widget.Column{Spare: 1, Most: 60})
	var steps []find.Step
	for i := len(r.Steps) - 1; i >= 0 && len(steps) < n-1; i-- {
		step := r.Steps[i]
		steps = append(steps, step)
		sign, why := "✓", "held"
		if !step.Held {
			sign = "✗"
		}
		if why = step.Words(); step.Doubtful {
			sign = "±"
		}
		row := []string{units.Number(step.Level), units.Number(step.Done), widget.Nanos(step.Response.P50), widget.Nanos(step.Response.P99)}
		for _, f := range judged {
			row = append(row, widget.Nanos(f.Of(step)))
		}
		g.Add(append(row, units.Number(float64(step.Threads)), sign, why)...)
	}
	if len(steps) == 0 {
		return nil
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col < 5+len(judged):
			return s.Plain
		case steps[row].Doubtful:
			return s.Warn
		case steps[row].Held:
			return s.OK
		}
		return s.Bad
	}
	head, rows := g.Lines(s, w)
	return append([]string{head}, rows...)
}
