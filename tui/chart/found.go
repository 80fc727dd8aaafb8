package chart

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Latency returns the curves of p99 and p50 over the levels that a search has tried,
// with rules at the level that holds and the one that does not.
func Latency(s *widget.Styles, r *find.Result) Plot {
	p := Plot{Log: true, Across: units.Number, Format: func(ns float64) string { return units.Duration(time.Duration(ns)) }}
	var at, p50, p99 []float64
	known := func(ns int64) float64 {
		if ns == measure.Hidden || ns <= 0 {
			return math.NaN()
		}
		return float64(ns)
	}
	for _, step := range r.Curve() {
		at = append(at, step.Level)
		p50, p99 = append(p50, known(step.Response.P50)), append(p99, known(step.Response.P99))
	}
	p.Curves = []Curve{{At: at, Values: p99, Ink: s.Series[1]}, {At: at, Values: p50, Ink: s.Series[0], Bare: true}}
	low, high := r.Bracket()
	for _, v := range []float64{low, high} {
		if v > 0 {
			p.Marks = append(p.Marks, v)
		}
	}
	return p
}

// Steps returns the table of what a search has tried, newest first, in at most n lines
// of w cells.
func Steps(s *widget.Styles, r *find.Result, w, n int) []string {
	g := widget.Grid{Cols: []widget.Column{
		{Head: r.Over, Right: true}, {Head: r.Unit + "/s", Right: true, Spare: 2}, {Head: "p50", Right: true, Spare: 3}, {Head: "p99", Right: true},
		{Head: "threads", Right: true, Spare: 4}, {Head: ""}, {Head: "", Spare: 1, Most: 60},
	}}
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
		g.Add(units.Number(step.Level), units.Number(step.Done), widget.Nanos(step.Response.P50), widget.Nanos(step.Response.P99), units.Number(float64(step.Threads)), sign, why)
	}
	if len(steps) == 0 {
		return nil
	}
	g.Ink = func(row, col int) widget.Ink {
		switch {
		case col < 5:
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
