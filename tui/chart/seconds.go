package chart

import (
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/widget"
)

// AxisWidth is the width of the axis labels of a chart over time.
const AxisWidth = 9

// Spread spreads the values of seconds over n places: each as a step if there are few, the mean or the
// maximum of several if there are many.
func Spread(vals []float64, n int, mean bool) []float64 {
	if len(vals) == 0 || len(vals) > n {
		return plot.Thin(vals, n, mean)
	}
	return Across(vals, n, func(x int) float64 { return (float64(x) + 0.5) * float64(len(vals)) / float64(n) })
}

// Seconds draws one value a second as an area with its axis, in the colour of a series, in w×h cells. Where
// there are more seconds than columns of dots, each shows their mean, or else their maximum.
func Seconds(s *widget.Styles, vals []float64, mean bool, series, w, h int, format func(float64) string) []string {
	scale := plot.Scale{High: plot.TopIn(Settled(vals, 0), h)}
	cells := max(w-AxisWidth, 1)
	dots := Spread(vals, 2*cells, mean)
	parts := make([]float64, len(dots))
	for i, v := range dots {
		parts[i] = scale.Part(v)
	}
	const filled, edge, beyond = Layer(1), Layer(2), Layer(3)
	canvas := NewCanvas(cells, h)
	canvas.Area(nil, parts, filled, edge)
	Beyond(canvas, scale.High, format, beyond, dots)
	rows := Paint(canvas, func(l Layer, _, y int) widget.Ink {
		switch l {
		case filled:
			return s.Shade(series, h-1-y, h)
		case edge:
			return s.Series[series]
		case beyond:
			return s.Warn
		}
		return s.Plain
	})
	return Upright(s, rows, AxisWidth-2, scale, format)
}

// Clocks labels the seconds below a chart over time of w cells with its axis, of which there are n from
// the first one on; empty without any.
func Clocks(s *widget.Styles, first, n, w int) string {
	if n == 0 {
		return ""
	}
	cells := max(w-AxisWidth, 1)
	line := []rune(strings.Repeat(" ", cells))
	for _, t := range plot.Seconds(float64(first), float64(first+n)-1e-6, 1, float64(cells)/14) {
		at := int(math.Floor((t - float64(first)) / float64(n) * float64(cells)))
		text := []rune(plot.Clock(t))
		if at+len(text) <= cells {
			copy(line[at:], text)
		}
	}
	return strings.Repeat(" ", AxisWidth) + s.Muted.On(string(line))
}
