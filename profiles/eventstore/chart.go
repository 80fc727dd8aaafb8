package eventstore

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// chart is a picture over the time of a run: lines of a value at each moment, NaN
// where there is none.
type chart struct {
	// file is the name without its end, title what is above.
	file, title string
	// at are the moments in seconds, format writes a value of the scale.
	at     []float64
	format func(float64) string
	lines  []chartLine
	// marks are the beginnings of steps in seconds.
	marks []float64
}

type chartLine struct {
	name   string
	values []float64
}

// Sizes of a chart in its own units.
const (
	chartWidth, chartHeight = 1000.0, 300.0
	chartLeft, chartRight   = 80.0, 985.0
	chartTop, chartBottom   = 30.0, 220.0
	chartGrid, chartTicks   = 4, 8
	maxChartPoints          = 600
)

// chartColours are told apart by those who see no red or no green, too.
var chartColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// empty says that there is nothing to draw.
func (c *chart) empty() bool {
	for _, l := range c.lines {
		if !math.IsNaN(l.top()) {
			return false
		}
	}
	return true
}

// top is the highest value; NaN when there is none.
func (l chartLine) top() float64 { _, _, top := l.digest(); return top }

// digest is the lowest value, the mean and the highest.
func (l chartLine) digest() (low, mean, top float64) {
	n, sum := 0, 0.0
	low, top = math.NaN(), math.NaN()
	for _, v := range l.values {
		if math.IsNaN(v) {
			continue
		}
		n, sum = n+1, sum+v
		if !(v >= low) {
			low = v
		}
		if !(v <= top) {
			top = v
		}
	}
	return low, sum / float64(n), top
}

// svg draws the chart, legends with lowest, mean and highest below.
func (c *chart) svg() []byte {
	high := 0.0
	for _, l := range c.lines {
		if t := l.top(); t > high {
			high = t
		}
	}
	if high == 0 {
		high = 1
	}
	high *= 1.05
	last := c.at[len(c.at)-1]
	first := min(c.at[0], 0)
	x := func(s float64) float64 { return chartLeft + (s-first)/max(last-first, 1e-9)*(chartRight-chartLeft) }
	y := func(v float64) float64 { return chartBottom - v/high*(chartBottom-chartTop) }
	var b strings.Builder
	height := chartHeight + 18*float64(max(len(c.lines)-2, 0))
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<title>%s</title>\n",
		chartWidth, height, html.EscapeString(c.title))
	fmt.Fprintf(&b, "<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n<text x=\"%g\" y=\"18\" font-size=\"14\">%s</text>\n", chartWidth, height, chartLeft, html.EscapeString(c.title))
	for i := range chartGrid + 1 {
		v := high * float64(i) / chartGrid
		fmt.Fprintf(&b, "<path d=\"M%g %.1fH%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			chartLeft, y(v), chartRight, chartLeft-6, y(v)+4, html.EscapeString(c.format(v)))
	}
	for i := range chartTicks + 1 {
		s := first + (last-first)*float64(i)/chartTicks
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s s</text>\n", x(s), chartBottom+16, tick(s, last-first))
	}
	for i, s := range c.marks {
		if s > first && s < last {
			fmt.Fprintf(&b, "<path d=\"M%.1f %gV%g\" stroke=\"#999\" stroke-dasharray=\"4 3\"><title>step %d</title></path>\n", x(s), chartTop, chartBottom, i+1)
		}
	}
	for i, l := range c.lines {
		c.draw(&b, l, chartColours[i%len(chartColours)], x, y)
		low, mean, top := l.digest()
		at := chartBottom + 40 + 18*float64(i)
		if math.IsNaN(top) {
			continue
		}
		fmt.Fprintf(&b, "<rect x=\"%g\" y=\"%g\" width=\"12\" height=\"4\" fill=\"%s\"/><text x=\"%g\" y=\"%g\">%s: min %s, mean %s, max %s</text>\n",
			chartLeft, at-6, chartColours[i%len(chartColours)], chartLeft+18, at, html.EscapeString(l.name), c.format(low), c.format(mean), c.format(top))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func tick(s, span float64) string {
	if span < 8 {
		return fmt.Sprintf("%.1f", s)
	}
	return fmt.Sprintf("%.0f", s)
}

// draw draws a line with gaps where there is no value; of too many values the
// highest of each stretch, so that peaks are seen.
func (c *chart) draw(b *strings.Builder, l chartLine, colour string, x, y func(float64) float64) {
	each := (len(l.values) + maxChartPoints - 1) / maxChartPoints
	var points []string
	flush := func() {
		if len(points) == 1 {
			points = append(points, points[0]) // a dot would not be seen
		}
		if len(points) > 0 {
			fmt.Fprintf(b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" stroke-linecap=\"round\" points=\"%s\"/>\n", colour, strings.Join(points, " "))
		}
		points = nil
	}
	for from := 0; from < len(l.values); from += max(each, 1) {
		to := min(from+max(each, 1), len(l.values))
		v := chartLine{values: l.values[from:to]}.top()
		if math.IsNaN(v) {
			flush()
			continue
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(c.at[to-1]), y(v)))
	}
	flush()
}
