package chart

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/widget"
)

// Curve is one line of a plot.
type Curve struct {
	// At and Values are its points, ordered by At; NaN is a gap.
	At, Values []float64
	// Low and High are the edges of a band around it, or if Bars is set the ends of a bar at each point, which
	// do not set the scale and are cut to it; without any they are empty.
	Low, High []float64
	Bars      bool
	Ink       widget.Ink
	// Bare omits the dots at the points, for values that are computed rather than
	// measured.
	Bare bool
}

// Point is a value at a position along a knob, which was good or bad, or either by chance.
type Point struct {
	At, Value float64
	Good      bool
	Doubt     bool
}

// signGood, signBad and signDoubt are the signs of points.
const signGood, signBad, signDoubt = "●", "✗", "±"

// Plot holds curves over a knob. Where they meet, the first one determines the colour.
type Plot struct {
	Curves []Curve
	// Points are drawn over the curves; a bad one is seen where two meet.
	Points []Point
	// Marks are positions along the knob that get a rule.
	Marks []float64
	// Limits are values that get a line across.
	Limits []Limit
	// Most is where the scale ends at the latest: a point above it is a ▲ at the upper edge, and the
	// highest of them has its value beside it. 0: the scale has room for all.
	Most float64
	// Axes are further axes along the knob, each in the colour of a curve.
	Axes []plot.Axis
	// Log makes the vertical axis logarithmic.
	Log bool
	// Format formats a value, Across a position along the knob.
	Format, Across func(float64) string
}

// Limit is a value that others are to stay below, or above, with what is written on its line.
type Limit struct {
	Value float64
	Text  string
}

// labels is the width of the labels of the vertical axis.
const labels = 8

// span returns the range of the knob and the scale of the values in so many rows; ok is false
// if there is nothing to draw.
func (p Plot) span(rows int) (from, to float64, scale plot.Scale, ok bool) {
	from, to = math.Inf(1), math.Inf(-1)
	low, top := math.Inf(1), 0.0
	for _, c := range p.Curves {
		all := [][]float64{c.Values, c.Low, c.High}
		if c.Bars {
			all = all[:1]
		}
		for _, values := range all {
			for i, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) || p.Log && v <= 0 {
					continue
				}
				from, to = min(from, c.At[i]), max(to, c.At[i])
				low, top = min(low, v), max(top, v)
			}
		}
	}
	for _, v := range p.Points {
		if finite(v.Value) && (!p.Log || v.Value > 0) {
			from, to = min(from, v.At), max(to, v.At)
			low, top = min(low, v.Value), max(top, v.Value)
		}
	}
	if p.Most > 0 {
		low, top = min(low, p.Most), min(top, p.Most)
	}
	for _, l := range p.Limits {
		if !p.Log || l.Value > 0 {
			low, top = min(low, l.Value), max(top, l.Value)
		}
	}
	switch {
	case !(to > from && top > 0):
		return from, to, plot.Scale{}, false
	case p.Log:
		return from, to, plot.LogIn(low, top, rows), true
	}
	return from, to, plot.Scale{High: plot.TopIn(top, rows)}, true
}

// sign returns the sign of a point and its layer.
func (v Point) sign() (string, Layer) {
	switch {
	case v.Doubt:
		return signDoubt, doubt
	case v.Good:
		return signGood, good
	}
	return signBad, bad
}

// leastRows is how many rows a plot keeps when its further axes take some.
const leastRows = 6

// Draw fills exactly w×h cells, the last lines being the axes along the knob; nil if
// there are fewer than two points to draw, or no room. Further axes need room.
func (p Plot) Draw(s *widget.Styles, w, h int) []string {
	cells, rows := w-labels-2, h-1
	axes := p.Axes[:max(min(len(p.Axes), rows-leastRows), 0)]
	rows -= len(axes)
	from, to, scale, ok := p.span(rows)
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
		case l == limit:
			return s.Accent
		case l == good:
			return s.OK
		case l == bad:
			return s.Bad
		case l == doubt:
			return s.Warn
		}
		return p.Curves[l-first].Ink
	})
	out := append(Upright(s, picture, labels, scale, p.Format), p.axis(s, from, to, cells, column))
	for _, a := range axes {
		out = append(out, p.further(a, from, to, cells, column))
	}
	return out
}

// further draws a further axis, with the end of its name at the left.
func (p Plot) further(a plot.Axis, from, to float64, cells int, column func(float64, int) int) string {
	r := newRow(cells)
	for i := range a.At { // the last one comes first
		if k := (i + len(a.At) - 1) % len(a.At); a.At[k] >= from && a.At[k] <= to {
			r.put(column(a.At[k], cells), a.Labels[k])
		}
	}
	text := a.Name
	for _, rest, more := strings.Cut(text, " "); more && utf8.RuneCountInString(text) > labels; _, rest, more = strings.Cut(text, " ") {
		text = rest // whole words, as long as there are any
	}
	name := []rune(text)
	if len(name) > labels {
		name = append([]rune("…"), name[len(name)-labels+1:]...)
	}
	return p.Curves[a.Line].Ink.On(widget.FitRight(string(name), labels) + "  " + string(r.line))
}

// row is a line of labels that stand apart.
type row struct {
	line  []rune
	taken []bool
}

func newRow(cells int) *row { return &row{[]rune(widget.Fit("", cells)), make([]bool, cells)} }

// put puts a label around a column, unless another is in its way.
func (r *row) put(column int, label string) { r.putAside(column, label, 0) }

// putAside puts a label around a column, or up to so many cells beside that if another is in its way.
func (r *row) putAside(column int, label string, most int) {
	text := []rune(label)
	for off := 0; off <= most; off++ {
		for _, by := range []int{-off, off} {
			at := min(max(column-len(text)/2+by, 0), len(r.line)-len(text))
			if at < 0 || slices.Contains(r.taken[max(at-1, 0):min(at+len(text)+1, len(r.line))], true) {
				continue
			}
			copy(r.line[at:], text)
			for i := range text {
				r.taken[at+i] = true
			}
			return
		}
	}
}

// axis labels positions along the knob: marks, of which one may give way to the side for another, both ends, and
// between them the points that fit.
func (p Plot) axis(s *widget.Styles, from, to float64, cells int, column func(float64, int) int) string {
	r := newRow(cells)
	for _, x := range p.Marks {
		if x >= from && x <= to {
			label := p.Across(x)
			r.putAside(column(x, cells), label, len(label))
		}
	}
	put := func(x float64) { r.put(column(x, cells), p.Across(x)) }
	put(from)
	put(to)
	if len(p.Curves) > 0 {
		for _, x := range slices.Backward(p.Curves[0].At) {
			put(x)
		}
	}
	return widget.Fit("", labels+2) + s.Muted.On(string(r.line))
}

// The layers of a plot: rules, and each curve with its points, from first on.
const (
	rule Layer = iota + 1
	limit
	good
	bad
	doubt
	first
)

// canvas draws the curves, the points on them, and rules and limits where nothing is drawn.
func (p Plot) canvas(cells, rows int, from, to float64, scale plot.Scale, column func(float64, int) int) *Canvas {
	canvas := NewCanvas(cells, rows)
	for i, c := range slices.Backward(p.Curves) {
		dots, parts := make([]float64, 2*cells), partsOf(scale, c.Values)
		for x := range dots {
			dots[x] = between(c.At, parts, from+(to-from)*float64(x)/float64(2*cells-1))
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
	for _, isGood := range []bool{true, false} { // bad ones are in front
		for _, v := range p.Points {
			if y := canvas.Row(scale.Part(v.Value)); v.Good == isGood && y >= 0 {
				sign, l := v.sign()
				canvas.Put(column(v.At, cells), y, sign, l)
			}
		}
	}
	p.beyond(canvas, scale, func(x float64) int { return column(x, cells) })
	for _, l := range p.Limits {
		canvas.Level(canvas.Row(scale.Part(l.Value)), l.Text, limit)
	}
	for i, c := range p.Curves {
		if c.Bars {
			c.bars(canvas, scale, func(x float64) int { return column(x, cells) }, first+Layer(i))
		} else {
			c.shade(canvas, from, to, scale, first+Layer(i))
		}
	}
	for _, x := range p.Marks {
		if x >= from && x <= to {
			canvas.Rule(column(x, cells), '┊', rule)
		}
	}
	return canvas
}

// beyond marks the points above the end of the scale, and writes the value of the highest one.
func (p Plot) beyond(canvas *Canvas, scale plot.Scale, column func(float64) int) {
	highest, at, of := scale.High*(1+1e-9), -1, first
	look := func(position, v float64, l Layer) {
		if !finite(v) || v <= scale.High*(1+1e-9) {
			return
		}
		x := column(position)
		canvas.Put(x, 0, "▲", l)
		if v > highest {
			highest, at, of = v, x, l
		}
	}
	for i, c := range p.Curves {
		for k, v := range c.Values {
			look(c.At[k], v, first+Layer(i))
		}
	}
	for _, v := range p.Points {
		_, l := v.sign()
		look(v.At, v.Value, l)
	}
	if at < 0 {
		return
	}
	text := p.Format(highest)
	n := ansi.StringWidth(text)
	marked := func(x int) bool {
		return slices.ContainsFunc(p.Marks, func(m float64) bool { c := column(m); return x <= c && c < x+n })
	}
	for y := range min(2, canvas.h) { // beside it or below, over no sign
		for _, x := range []int{at - n, at + 1} {
			if x >= 0 && x+n <= canvas.w && !marked(x) && !slices.ContainsFunc(canvas.text[y*canvas.w+x:y*canvas.w+x+n], func(r rune) bool { return r != 0 }) {
				canvas.Put(x, y, text, of)
				return
			}
		}
	}
}

// shade shades the band of a curve where nothing is drawn.
func (c Curve) shade(canvas *Canvas, from, to float64, scale plot.Scale, l Layer) {
	cells, _ := canvas.Size()
	low, high := partsOf(scale, c.Low), partsOf(scale, c.High)
	for x := 0; x < cells && len(c.Low) == len(c.At) && len(c.High) == len(c.At); x++ {
		at := from + (to-from)*float64(x)/float64(cells-1)
		top, foot := canvas.Row(between(c.At, high, at)), canvas.Row(between(c.At, low, at))
		for y := top; y >= 0 && y <= foot; y++ {
			if canvas.Free(x, y, 1) {
				canvas.Put(x, y, "░", l)
			}
		}
	}
}

// bars draws the bar of each point, as far as it is on the chart, over lines but not over signs.
func (c Curve) bars(canvas *Canvas, scale plot.Scale, column func(float64) int, l Layer) {
	for k := range min(len(c.Low), len(c.High)) {
		top, foot := canvas.Row(min(scale.Part(c.High[k]), 1)), canvas.Row(max(scale.Part(c.Low[k]), 0))
		for y := top; y >= 0 && y <= foot; y++ {
			if x := column(c.At[k]); !canvas.Signed(x, y) {
				canvas.Put(x, y, "│", l)
			}
		}
	}
}

// partsOf returns how high values are on a scale, between which lines are straight whatever the scale is.
func partsOf(scale plot.Scale, values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = scale.Part(v)
	}
	return out
}

// between returns a curve's value at x, interpolated linearly between its known
// neighbours; NaN beyond its ends.
func between(positions, values []float64, x float64) float64 {
	last := -1
	for i, at := range positions {
		if math.IsNaN(values[i]) {
			continue
		}
		switch {
		case at < x:
			last = i
			continue
		case at == x:
			return values[i]
		case last < 0:
			return math.NaN()
		}
		part := (x - positions[last]) / (at - positions[last])
		return values[last]*(1-part) + values[i]*part
	}
	return math.NaN()
}
