package plot

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sizes of a chart drawn as a file, in its own units.
const (
	fileWidth, fileHeight = 1000.0, 300.0
	fileLeft, fileRight   = 80.0, 985.0
	fileTop, fileBottom   = 30.0, 220.0
	fileTicks             = 8
	fileLegend            = 18.0 // height of a line of the legend
	fileName              = 60.0 // room for the name of a mark
	fileAxis              = 18.0 // height of a further axis
	fileLetter            = 7.0  // room for a letter
)

// colours can be told apart with colour blindness, too.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}

// File draws the chart as a separate file, with a legend giving lowest, mean and
// highest below. It shows the time up to the last moment, from the start or from the
// first moment, whichever is earlier; from the first moment on a logarithmic axis.
func (c *Chart) File() []byte {
	from, to := min(c.At[0], 0), c.At[len(c.At)-1]
	if c.LogAcross {
		from = c.At[0]
	}
	f := frame{fileLeft, fileRight, fileTop, fileBottom, axisOf(from, to, c.LogAcross), c.scale()}
	lines := len(c.Lines)
	if c.banded() {
		lines++
	}
	below := fileAxis * float64(len(c.axes()))
	height := fileHeight + below + fileLegend*float64(max(lines-2, 0))
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<title>%s</title>\n",
		fileWidth, height, html.EscapeString(c.Title))
	fmt.Fprintf(&b, "<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n<text x=\"%g\" y=\"18\" font-size=\"14\">%s</text>\n", fileWidth, height, f.left, html.EscapeString(c.Title))
	for _, v := range f.grid() {
		fmt.Fprintf(&b, "<path d=\"M%g %.1fH%g\" stroke=\"#ddd\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			f.left, f.y(v), f.right, f.left-6, f.y(v)+4, html.EscapeString(c.Format(v)))
	}
	ticks := c.Ticks
	for i := 0; c.Ticks == nil && i <= fileTicks; i++ {
		ticks = append(ticks, f.across.At(float64(i)/fileTicks))
	}
	for _, s := range ticks {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", labelled(f.x(s), c.tick(s)), f.bottom+16, html.EscapeString(c.tick(s)))
	}
	for i, a := range c.axes() {
		y, colour := f.bottom+16+fileAxis*float64(i+1), colours[a.Line%len(colours)]
		fmt.Fprintf(&b, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\" fill=\"%s\">%s<title>%s</title></text>\n", f.left-6, y, colour, html.EscapeString(a.short()), html.EscapeString(a.Name))
		for k, at := range a.At {
			fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\" fill=\"%s\">%s</text>\n", labelled(f.x(at), a.Labels[k]), y, colour, html.EscapeString(a.Labels[k]))
		}
	}
	for _, s := range c.Spans {
		from := f.x(max(s.From, f.across.Low))
		fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\" fill=\"#000\" fill-opacity=\"0.06\"><title>%s</title></rect>\n",
			from, f.top, max(f.x(min(s.To, f.across.High))-from, 1), f.bottom-f.top, html.EscapeString(s.Note))
	}
	var named []float64
	for _, m := range c.Marks {
		if m.At > f.across.Low && m.At < f.across.High {
			if x := f.x(m.At); m.Name != "" && !slices.ContainsFunc(named, func(o float64) bool { return math.Abs(o-x) < fileName }) {
				named = append(named, x)
				fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%g\" fill=\"#777\">%s</text>\n", f.x(m.At)+4, f.top+10, html.EscapeString(m.Name))
			}
			fmt.Fprintf(&b, "<path d=\"M%.1f %gV%g\" stroke=\"#999\" stroke-dasharray=\"4 3\"><title>%s</title></path>\n", f.x(m.At), f.top, f.bottom, html.EscapeString(m.Note))
		}
	}
	for _, l := range c.Levels {
		fmt.Fprintf(&b, "<path d=\"M%g %.1fH%g\" stroke=\"#333\" stroke-dasharray=\"6 3\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			f.left, f.y(l.Value), f.right, f.right, f.y(l.Value)-4, html.EscapeString(l.Name))
	}
	for i, l := range c.Lines {
		edge := 0.3
		if l.Bars { // they have nothing but edges
			edge = 0.8
		}
		f.bands(&b, fmt.Sprintf("fill=\"%[1]s\" fill-opacity=\"0.15\" stroke=\"%[1]s\" stroke-opacity=\"%[2]g\"", colours[i%len(colours)], edge), c.Moments(l), l)
	}
	for i, l := range c.Lines {
		colour := colours[i%len(colours)]
		f.polylines(&b, fmt.Sprintf("fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"", colour), c.Moments(l), l.Values, c.Mean)
		low, mean, top := Digest(l.Values)
		if math.IsNaN(top) {
			continue
		}
		at := f.bottom + 40 + below + fileLegend*float64(i)
		fmt.Fprintf(&b, "<rect x=\"%g\" y=\"%g\" width=\"12\" height=\"4\" fill=\"%s\"/><text x=\"%g\" y=\"%g\">%s: min %s, mean %s, max %s</text>\n",
			f.left, at-6, colour, f.left+18, at, html.EscapeString(l.Name), c.Format(low), c.Format(mean), c.Format(top))
	}
	if c.banded() {
		at := f.bottom + 40 + below + fileLegend*float64(len(c.Lines))
		fmt.Fprintf(&b, "<rect x=\"%g\" y=\"%g\" width=\"12\" height=\"8\" fill-opacity=\"0.15\" stroke=\"#333\" stroke-opacity=\"0.3\"/><text x=\"%g\" y=\"%g\">%s</text>\n",
			f.left, at-8, f.left+18, at, html.EscapeString(c.Band))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// labelled returns where the middle of a label is, below a position: as far left as it needs room.
func labelled(x float64, text string) float64 {
	return min(x, fileWidth-fileLetter/2*float64(utf8.RuneCountInString(text)))
}

// tick formats a position on the axis.
func (c *Chart) tick(s float64) string {
	if c.Across != nil {
		return c.Across(s)
	}
	return Clock(s)
}
