package chart

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/widget"
)

// Curve is one line of a plot.
type Curve struct {
	// At and Values are its points, ordered by At; NaN is a gap.
	At, Values []float64
	Ink        widget.Ink
	// Bare omits the dots at the points, for values that are computed rather than
	// measured.
	Bare bool
}

// Plot holds curves over a knob. Where they meet, the first one determines the colour.
type Plot struct {
	Curves []Curve
	// Marks are positions along the knob that get a rule.
	Marks []float64
	// Log makes the vertical axis logarithmic.
	Log bool
	// Format formats a value, Across a position along the knob.
	Format, Across func(float64) string
}

// labels is the width of the labels of the vertical axis.
const labels = 8

// span returns the range of the knob and the scale of the values; ok is false if there is
// nothing to draw.
func (p Plot) span() (from, to float64, scale plot.Scale, ok bool) {
	from, to = math.Inf(1), math.Inf(-1)
	low, top := math.Inf(1), 0.0
	for _, c := range p.Curves {
		for i, v := range c.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) || p.Log && v <= 0 {
				continue
			}
			from, to = min(from, c.At[i]), max(to, c.At[i])
			low, top = min(low, v), max(top, v)
		}
	}
	switch {
	case !(to > from && top > 0):
		return from, to, plot.Scale{}, false
	case p.Log:
		return from, to, plot.Around(low, top), true
	}
	return from, to, plot.Scale{High: plot.Nice(top)}, true
}

// Draw fills exactly w×h cells, the last line being the axis along the knob; nil if
// there are fewer than two points to draw, or no room.
func (p Plot) Draw(s *widget.Styles, w, h int) []string {
	from, to, scale, ok := p.span()
	cells, rows := w-labels-2, h-1
	if !ok || cells < 8 || rows < 2 {
		return nil
	}
	column := func(x float64, n int) int { return min(int((x-from)/(to-from)*float64(n-1)+0.5), n-1) }
	canvas := p.canvas(cells, rows, from, to, scale, column)
	picture := Paint(canvas, func(l Layer, _, _ int) widget.Ink {
		switch {
		case l == 0:
			return widget.Ink{}
		case l == rule:
			return s.Warn
		}
		return p.Curves[l-first].Ink
	})
	return append(Upright(s, picture, labels, scale, p.Format), p.axis(s, from, to, cells, column))
}

// axis labels positions along the knob: both ends, and between them the points that
// fit.
func (p Plot) axis(s *widget.Styles, from, to float64, cells int, column func(float64, int) int) string {
	line := []rune(widget.Fit("", cells))
	taken := make([]bool, cells)
	put := func(x float64) {
		text := []rune(p.Across(x))
		at := min(max(column(x, cells)-len(text)/2, 0), cells-len(text))
		if at < 0 || slices.Contains(taken[max(at-1, 0):min(at+len(text)+1, cells)], true) {
			return
		}
		copy(line[at:], text)
		for i := range text {
			taken[at+i] = true
		}
	}
	put(from)
	put(to)
	for _, x := range p.Marks {
		if x >= from && x <= to {
			put(x)
		}
	}
	if len(p.Curves) > 0 {
		for _, x := range slices.Backward(p.Curves[0].At) {
			put(x)
		}
	}
	return widget.Fit("", labels+2) + s.Muted.On(string(line))
}

// The layers of a plot: rules, and each curve with its points, from first on.
const (
	rule Layer = iota + 1
	first
)

// canvas draws the curves, the points on them, and rules where nothing is drawn.
func (p Plot) canvas(cells, rows int, from, to float64, scale plot.Scale, column func(float64, int) int) *Canvas {
	canvas := NewCanvas(cells, rows)
	for i, c := range slices.Backward(p.Curves) {
		dots := make([]float64, 2*cells)
		for x := range dots {
			dots[x] = scale.Part(between(c, from+(to-from)*float64(x)/float64(2*cells-1)))
		}
		canvas.Line(dots, first+Layer(i))
	}
	for i, c := range slices.Backward(p.Curves) {
		for k, x := range c.At {
			if y := canvas.Row(scale.Part(c.Values[k])); !c.Bare && y >= 0 {
				canvas.Put(column(x, cells), y, "•", first+Layer(i))
			}
		}
	}
	for _, x := range p.Marks {
		if x >= from && x <= to {
			canvas.Rule(column(x, cells), '┊', rule)
		}
	}
	return canvas
}

// between returns a curve's value at x, interpolated linearly between its known
// neighbours; NaN beyond its ends.
func between(c Curve, x float64) float64 {
	last := -1
	for i, at := range c.At {
		if math.IsNaN(c.Values[i]) {
			continue
		}
		switch {
		case at < x:
			last = i
			continue
		case at == x:
			return c.Values[i]
		case last < 0:
			return math.NaN()
		}
		part := (x - c.At[last]) / (at - c.At[last])
		return c.Values[last]*(1-part) + c.Values[i]*part
	}
	return math.NaN()
}
