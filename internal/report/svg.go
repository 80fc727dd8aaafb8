package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes of a drawn chart in its own units.
const (
	svgWidth, svgHeight        = 1000.0, 240.0
	svgLeft, svgRight          = 70.0, 990.0
	svgTop, svgBottom          = 30.0, 215.0
	svgPoints                  = 900
	svgGridlines, svgTimeTicks = 4, 8
	svgLines                   = 8 // as many as have a colour of their own
)

// scale maps values to heights: from 0 for rates, by decades for times.
type scale struct {
	lo, hi float64
	log    bool
}

func (g graph) scale() scale {
	lo, hi := math.Inf(1), 0.0
	for _, l := range g.lines {
		for _, v := range l.Values {
			if v > 0 {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	if hi == 0 {
		return scale{0, 1, false}
	}
	if g.mean {
		return scale{0, hi * 1.05, false}
	}
	return scale{math.Pow(10, math.Floor(math.Log10(lo))), math.Pow(10, math.Ceil(math.Log10(hi*1.0001))), true}
}

func (s scale) y(v float64) float64 {
	at := (v - s.lo) / (s.hi - s.lo)
	if s.log {
		at = (math.Log10(max(v, s.lo)) - math.Log10(s.lo)) / (math.Log10(s.hi) - math.Log10(s.lo))
	}
	return svgBottom - at*(svgBottom-svgTop)
}

func (s scale) grid() []float64 {
	var out []float64
	if s.log {
		for v := s.lo; v <= s.hi*1.001; v *= 10 {
			out = append(out, v)
		}
		return out
	}
	for i := range svgGridlines + 1 {
		out = append(out, s.lo+(s.hi-s.lo)*float64(i)/svgGridlines)
	}
	return out
}

// svg draws a graph: the warm-up dimmed, live changes as dashed lines.
func (g graph) svg() string {
	n := len(g.lines[0].Values)
	x := func(second float64) float64 { return svgLeft + (second-float64(g.first))/float64(n)*(svgRight-svgLeft) }
	sc := g.scale()
	var b strings.Builder
	fmt.Fprintf(&b, "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\">\n", svgWidth, svgHeight, html.EscapeString(plain(g.title)))
	if g.first < 0 {
		fmt.Fprintf(&b, "<rect class=\"warm\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\"><title>warm-up, not counted</title></rect>\n",
			svgLeft, svgTop, x(0)-svgLeft, svgBottom-svgTop)
	}
	for _, v := range sc.grid() {
		fmt.Fprintf(&b, "<line class=\"grid\" x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			svgLeft, svgRight, sc.y(v), sc.y(v), svgLeft-6, sc.y(v)+4, g.format(v))
	}
	g.timeTicks(&b, n, x)
	for _, at := range g.changes {
		fmt.Fprintf(&b, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"><title>change at %s</title></line>\n", x(at), x(at), svgTop, svgBottom, length(at))
	}
	g.phaseMarks(&b, x)
	fmt.Fprintf(&b, "<text class=\"title\" x=\"%g\" y=\"16\">%s</text>\n", svgLeft, html.EscapeString(plain(g.title)))
	legend := svgRight
	for i, l := range g.lines[:min(len(g.lines), svgLines)] {
		if name := html.EscapeString(plain(l.Name)); len(g.lines) > 1 && legend > svgLeft+200 {
			fmt.Fprintf(&b, "<text class=\"l%d\" x=\"%g\" y=\"16\" text-anchor=\"end\">%s</text>\n", i, legend, name)
			legend -= max(6.5*float64(len(l.Name))+12, 50)
		}
		skip := min(max(-g.first, 0), n)
		polylines(&b, fmt.Sprintf("l%d dim", i), l.Values[:skip], float64(g.first), g.mean, x, sc)
		polylines(&b, fmt.Sprintf("l%d", i), l.Values[skip:], float64(g.first+skip), g.mean, x, sc)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// phaseMarks draws where each phase began, with its name where there is room.
func (g graph) phaseMarks(b *strings.Builder, x func(float64) float64) {
	free := 0.0
	for _, p := range g.phases {
		at, name := x(p.at), html.EscapeString(plain(p.name))
		fmt.Fprintf(b, "<line class=\"phase\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"><title>phase %s from %s</title></line>\n", at, at, svgTop, svgBottom, name, length(p.at))
		if at >= free {
			fmt.Fprintf(b, "<text class=\"phase\" x=\"%.1f\" y=\"%g\">%s</text>\n", at+3, svgTop+10, name)
			free = at + 6.5*float64(len(p.name)) + 8
		}
	}
}

func (g graph) timeTicks(b *strings.Builder, n int, x func(float64) float64) {
	step := max((n+svgTimeTicks-1)/svgTimeTicks, 1)
	for s := g.first; s <= g.first+n; s++ {
		if s%step == 0 {
			fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%d s</text>\n", x(float64(s)), svgBottom+18, s)
		}
	}
}

// polylines draws values that begin at a second, with gaps where there are none.
func polylines(b *strings.Builder, class string, values []float64, first float64, mean bool, x func(float64) float64, sc scale) {
	thinned := thin(values, svgPoints, mean)
	each := float64(len(values)) / float64(max(len(thinned), 1))
	var points []string
	flush := func() {
		if len(points) == 1 { // a dot would not be seen
			points = append(points, points[0])
		}
		if len(points) > 0 {
			fmt.Fprintf(b, "<polyline class=\"%s\" stroke-linecap=\"round\" points=\"%s\"/>\n", class, strings.Join(points, " "))
		}
		points = nil
	}
	for i, v := range thinned {
		if math.IsNaN(v) {
			flush()
			continue
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(first+(float64(i)+0.5)*each), sc.y(v)))
	}
	flush()
}
