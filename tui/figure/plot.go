// Package figure draws the results of searches and sweeps: curves over a knob, and the
// tables of their points. It knows no screen.
package figure

import (
	"math"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/tui/chart"
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

// span returns the range of the knob and of the values; ok is false if there is nothing
// to draw.
func (p Plot) span() (from, to, low, top float64, ok bool) {
	from, to, low, top = math.Inf(1), math.Inf(-1), math.Inf(1), 0
	for _, c := range p.Curves {
		for i, v := range c.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) || p.Log && v <= 0 {
				continue
			}
			from, to = min(from, c.At[i]), max(to, c.At[i])
			low, top = min(low, v), max(top, v)
		}
	}
	return from, to, low, chart.Nice(top), to > from && top > 0
}

// Draw fills exactly w×h cells, the last line being the axis along the knob; nil if
// there are fewer than two points to draw, or no room.
func (p Plot) Draw(s *widget.Styles, w, h int) []string {
	from, to, low, top, ok := p.span()
	cells, rows := w-labels-2, h-1
	if !ok || cells < 8 || rows < 2 {
		return nil
	}
	bottom := 0.0
	if p.Log {
		bottom = math.Pow(10, math.Floor(math.Log10(low)))
		for _, f := range []float64{5, 2} {
			if f*bottom <= low {
				bottom *= f
				break
			}
		}
	}
	scale := func(v float64) float64 {
		if p.Log {
			return chart.Log(v, bottom, top)
		}
		return v / top
	}
	column := func(x float64, n int) int { return min(int((x-from)/(to-from)*float64(n-1)+0.5), n-1) }
	grid := newGrid(cells, rows)
	for _, c := range p.Curves {
		grid.line(c, 2*cells, func(i int) float64 { return from + (to-from)*float64(i)/float64(2*cells-1) }, scale)
		for i, x := range c.At {
			if v := scale(c.Values[i]); !c.Bare && !math.IsNaN(v) {
				grid.put(column(x, cells), rows-1-int(math.Round(v*float64(4*rows-1)))/4, '•', c.Ink)
			}
		}
	}
	for _, x := range p.Marks {
		if x >= from && x <= to {
			grid.rule(column(x, cells), s.Warn)
		}
	}
	value := func(part float64) string {
		if p.Log {
			return p.Format(bottom * math.Pow(top/bottom, part))
		}
		return p.Format(top * part)
	}
	out := make([]string, 0, h)
	for y := range rows {
		label := ""
		switch {
		case y == 0:
			label = value(1)
		case y == rows-1 && p.Log:
			label = value(0)
		case y == rows-1:
			label = "0"
		case rows >= 5 && rows%2 == 1 && y == rows/2:
			label = value(0.5)
		}
		out = append(out, s.Muted.On(widget.FitRight(ansi.Truncate(label, labels, ""), labels))+s.Line.On(" ┤")+grid.text(y))
	}
	return append(out, p.axis(s, from, to, cells, column))
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

// cellGrid is the plot area: a character and its ink for each cell.
type cellGrid struct {
	w     int
	cells []rune
	inks  []widget.Ink
}

func newGrid(w, h int) *cellGrid {
	g := &cellGrid{w: w, cells: make([]rune, w*h), inks: make([]widget.Ink, w*h)}
	for i := range g.cells {
		g.cells[i] = ' '
	}
	return g
}

// line draws a curve, straight from point to point, in n columns of dots.
func (g *cellGrid) line(c Curve, n int, at func(int) float64, scale func(float64) float64) {
	dots := make([]float64, n)
	for i := range dots {
		dots[i] = scale(between(c, at(i)))
	}
	for y, row := range chart.Braille(dots, g.w, len(g.cells)/g.w, 1) {
		for x, r := range []rune(row) {
			i := y*g.w + x
			switch {
			case r == ' ':
			case g.cells[i] == ' ':
				g.cells[i], g.inks[i] = r, c.Ink
			case g.cells[i] >= blank && g.cells[i] <= blank+0xff:
				g.cells[i] |= r // the dots of both
			}
		}
	}
}

// blank is a braille character without dots.
const blank = 0x2800

func (g *cellGrid) put(x, y int, r rune, k widget.Ink) {
	if i := y*g.w + x; g.cells[i] != '•' {
		g.cells[i], g.inks[i] = r, k
	}
}

// rule draws a line from top to bottom where cells are empty.
func (g *cellGrid) rule(x int, k widget.Ink) {
	for i := x; i < len(g.cells); i += g.w {
		if g.cells[i] == ' ' {
			g.cells[i], g.inks[i] = '┊', k
		}
	}
}

// text returns a row, inked.
func (g *cellGrid) text(y int) string {
	out := ""
	row, inks := g.cells[y*g.w:(y+1)*g.w], g.inks[y*g.w:(y+1)*g.w]
	for x := 0; x < g.w; {
		from := x
		for x < g.w && inks[x] == inks[from] {
			x++
		}
		out += inks[from].On(string(row[from:x]))
	}
	return out
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
