package dashboard

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// Plot is what a chart shows. All values are by column of dots, two per cell; NaN is a
// gap.
type Plot struct {
	// Cells and Rows are the size of the plot area.
	Cells, Rows int
	// Areas are drawn in order, each over the one before. Where one with a lower edge is hidden, its upper edge is seen.
	Areas []Area
	// Lined draws only the edges of areas, as lines: those of several may lie on each other.
	Lined bool
	// Above is a line above the areas, Ghost one behind them.
	Above, Ghost []float64
	// Pending is a line that is highlighted from where it reaches Alarm.
	Pending []float64
	Alarm   float64
	// Failed are the columns of cells in which operations failed.
	Failed []int
	// Broken are the columns of cells, from one to the one after the last, in which a fault of the
	// plan was in force.
	Broken [][2]int
	// Coming are those in which a fault of the timetable will be in force.
	Coming [][2]int
	// Limits are values that get a line across.
	Limits []chart.Limit
	// Moments are marked in the lane above the chart, with their names if there is room.
	Moments []chart.Moment
	// Cross says that the values in column CrossAt are being read.
	Cross   bool
	CrossAt int
	// Scale is that of the values, Label formats one of them.
	plot.Scale
	Label func(float64) string
	// most is the most that the scale is to show, least the least above 0 of a logarithmic one.
	least, most float64
	// Cells before Warm and from Fresh on are dimmed: warm-up, what the figures are not
	// of, and the bucket in progress.
	Warm, Fresh int
}

// Area is an area in the colour of a series; a nil From is the bottom of the chart.
type Area struct {
	From, To []float64
	Series   int
	// Few are the columns of cells in which it is of too few calls, and dimmed.
	Few []bool
}

// The layers of a plot, from back to front; areas and their edges have one for each
// series.
const (
	ghost chart.Layer = iota + 1
	broken
	above
	pending
	alarm
	failed
	rule
	coming
	limit
	spike
	cross
	area             // and the next three
	edge chart.Layer = area + 4
)

// scaled maps values to the scale; values beyond its end stay beyond it.
func (p *Plot) scaled(vals []float64) []float64 {
	out := make([]float64, len(vals))
	for i, v := range vals {
		out[i] = p.Part(v)
	}
	return out
}

// fit ends the scale as its rows need it.
func (p *Plot) fit() {
	if p.Log {
		p.Scale = plot.LogIn(p.least, p.most, p.Rows)
		return
	}
	p.High = plot.TopIn(p.most, p.Rows)
}

// canvas draws everything of a plot.
func (p *Plot) canvas() *chart.Canvas {
	c := chart.NewCanvas(p.Cells, p.Rows)
	for _, a := range p.Areas {
		if p.Lined {
			break
		}
		from := []float64(nil)
		if a.From != nil {
			from = p.scaled(a.From)
		}
		c.Area(from, p.scaled(a.To), area+chart.Layer(a.Series%4), edge+chart.Layer(a.Series%4))
	}
	for _, a := range p.Areas[:max(len(p.Areas)-1, 0)] { // nothing hides the last
		if a.From != nil && !p.Lined {
			c.Edge(p.scaled(a.To), edge+chart.Layer(a.Series%4))
		}
	}
	for x, v := range p.scaled(p.Ghost) {
		if y := c.Row(v); x%2 == 0 && y >= 0 {
			c.Put(x/2, y, earlierSign, ghost) // a character, which is visible in an area even without colours
		}
	}
	if p.Lined {
		p.lines(c)
	}
	c.Line(p.scaled(p.Above), above)
	p.ages(c)
	for _, x := range p.Failed {
		c.Put(x, p.Rows-1, "✗", failed)
	}
	for _, l := range p.Limits {
		if l.Value <= p.High*(1+1e-9) {
			c.Level(c.Row(p.Part(l.Value)), l.Text, limit)
		}
	}
	for _, m := range chart.InLane(p.Cells, p.Moments) {
		l := rule
		if m.Coming {
			l = coming
		}
		c.Rule(m.Cell, '┊', l)
	}
	ends := [][]float64{p.Above, p.Pending}
	for _, a := range p.Areas {
		ends = append(ends, a.To)
	}
	chart.Beyond(c, p.High, p.Label, spike, ends...)
	shade := func(parts [][2]int, l chart.Layer) {
		for _, b := range parts {
			for x := max(b[0], 0); x < min(max(b[1], b[0]+1), p.Cells); x++ {
				c.Rule(x, '▒', l) // as in the charts of a finished run
			}
		}
	}
	shade(p.Broken, broken)
	shade(p.Coming, coming)
	if p.Cross {
		for y := range p.Rows {
			c.Put(p.CrossAt, y, "│", cross)
		}
	}
	return c
}

// overlaps reports whether several areas lie over the same cells: more than two of these, since one phase may end in the
// cell in which the next begins.
func (p *Plot) overlaps() bool {
	both := 0
	for x := range 2 * p.Cells {
		n := 0
		for _, a := range p.Areas {
			if x < len(a.To) && !math.IsNaN(a.To[x]) {
				n++
			}
		}
		if n > 1 {
			both++
		}
	}
	return both > 4
}

// lines draws the edges of areas, the lower ones thin.
func (p *Plot) lines(c *chart.Canvas) {
	var list []chart.Stroke
	for _, a := range p.Areas {
		l := edge + chart.Layer(a.Series%4)
		list = append(list, chart.Stroke{Vals: p.scaled(a.From), Layer: l, Thin: true}, chart.Stroke{Vals: p.scaled(a.To), Layer: l})
	}
	c.Strokes(list)
}

// marks say what the marks of values above the scale are, the longest first, and of an area or the line above it,
// which key makes the axis one that has room for them; nil if all is within the scale.
func (p *Plot) marks() []string {
	most, end := chart.Peak(p.Above), p.High*(1+1e-9)
	for _, a := range p.Areas {
		most = max(most, chart.Peak(a.To))
	}
	switch {
	case most > end:
		return []string{"▲▔ above the scale: l for log", "▲ above: l for log"}
	case chart.Peak(p.Pending) > end:
		return []string{"▲▔ above the scale", "▲ above"}
	}
	return nil
}

// ages draws the line of pending calls; values beyond the scale run along its end.
func (p *Plot) ages(c *chart.Canvas) {
	calm, loud := slices.Clone(p.Pending), slices.Clone(p.Pending)
	for i, v := range p.Pending {
		if v >= p.Alarm {
			calm[i] = math.NaN()
		} else {
			loud[i] = math.NaN()
		}
	}
	c.Line(p.scaled(calm), pending)
	c.Line(p.scaled(loud), alarm)
}

// Lane is a row above a chart with a sign for each of its moments; empty if none lies on the chart.
func (p *Plot) Lane(s *widget.Styles) string { return chart.Lane(s, p.Cells, p.Moments) }

// ink returns the ink for a cell of a layer.
func (p *Plot) ink(s *widget.Styles, l chart.Layer, x, y int) widget.Ink {
	switch {
	case l == 0:
		return s.Plain
	case l == spike || l == alarm:
		return s.Warn
	case l == failed:
		return s.Bad
	case l == cross || l == limit:
		return s.Accent
	case l == rule:
		return s.Muted
	case l == coming || l == broken:
		return s.Line
	case l == ghost:
		return s.Earlier
	case l == above || l == pending:
		return s.Past
	case (x < p.Warm || x >= p.Fresh) && p.Lined: // grey lines would be nobody's
		return s.Ramp[l-edge][1]
	case x < p.Warm || x >= p.Fresh:
		return s.Dimmed(l >= edge)
	case p.few(l, x):
		return s.Unsure(int(l-area)%4, l >= edge)
	case l >= edge:
		return s.Series[l-edge]
	}
	return s.Shade(int(l-area), p.Rows-1-y, p.Rows)
}

// few reports whether the area of a layer is of too few calls in a column.
func (p *Plot) few(l chart.Layer, x int) bool {
	return slices.ContainsFunc(p.Areas, func(a Area) bool { return chart.Layer(a.Series%4) == (l-area)%4 && x < len(a.Few) && a.Few[x] })
}

// Draw returns the rows of the plot area, styled.
func (p *Plot) Draw(s *widget.Styles) []string {
	return chart.Paint(p.canvas(), func(l chart.Layer, x, y int) widget.Ink { return p.ink(s, l, x, y) })
}

// Tick is a value of the scale in a row.
type Tick struct {
	Row  int
	Text string
}

// empty reports whether nothing is drawn yet.
func (p *Plot) empty() bool {
	for _, a := range p.Areas {
		if plot.Some(a.To) {
			return false
		}
	}
	return !plot.Some(p.Above) && !plot.Some(p.Ghost) && !plot.Some(p.Pending)
}

// Ticks returns the values labelled on the scale.
func (p *Plot) Ticks() []Tick {
	var out []Tick
	for _, t := range p.Scale.Ticks(p.Rows) {
		text := "0"
		if t.Value != 0 {
			text = p.Label(t.Value)
		}
		out = append(out, Tick{t.Row, text})
	}
	return out
}
