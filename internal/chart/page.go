package chart

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// Sizes of a chart within a page in its own units.
const (
	pageWidth, pageHeight = 1000.0, 240.0
	pageLeft, pageRight   = 70.0, 990.0
	pageTop, pageBottom   = 30.0, 215.0
	pageTicks             = 8
	pageLines             = 8 // as many as have a colour of their own
)

// Page draws the chart as an element of a page whose style sheet says how its classes
// look: the warm-up is dimmed, marks are dashed lines.
func (c *Chart) Page() string {
	f := frame{pageLeft, pageRight, pageTop, pageBottom, c.From, c.To, c.scale()}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\">\n", pageWidth, pageHeight, html.EscapeString(c.Title))
	if c.From < 0 {
		fmt.Fprintf(&b, "<rect class=\"warm\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\"><title>warm-up, not counted</title></rect>\n",
			f.left, f.top, f.x(0)-f.left, f.bottom-f.top)
	}
	for _, v := range f.grid() {
		fmt.Fprintf(&b, "<line class=\"grid\" x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			f.left, f.right, f.y(v), f.y(v), f.left-6, f.y(v)+4, c.Format(v))
	}
	c.pageTicks(&b, &f)
	c.pageMarks(&b, &f)
	fmt.Fprintf(&b, "<text class=\"title\" x=\"%g\" y=\"16\">%s</text>\n", f.left, html.EscapeString(c.Title))
	legend := f.right
	warm, _ := slices.BinarySearch(c.At, 0)
	for i, l := range c.Lines[:min(len(c.Lines), pageLines)] {
		if len(c.Lines) > 1 && legend > f.left+200 {
			fmt.Fprintf(&b, "<text class=\"l%d\" x=\"%g\" y=\"16\" text-anchor=\"end\">%s</text>\n", i, legend, html.EscapeString(l.Name))
			legend -= max(6.5*float64(len(l.Name))+12, 50)
		}
		f.polylines(&b, fmt.Sprintf("class=\"l%d dim\"", i), c.At[:warm], l.Values[:warm], c.Mean)
		f.polylines(&b, fmt.Sprintf("class=\"l%d\"", i), c.At[warm:], l.Values[warm:], c.Mean)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// pageTicks writes the axis: whole seconds, or whatever is on it in even steps.
func (c *Chart) pageTicks(b *strings.Builder, f *frame) {
	write := func(at float64, text string) {
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%s</text>\n", f.x(at), f.bottom+18, html.EscapeString(text))
	}
	if c.Across != nil {
		for i := range pageTicks + 1 {
			at := c.From + (c.To-c.From)*float64(i)/pageTicks
			write(at, c.Across(at))
		}
		return
	}
	step := max((int(c.To-c.From)+pageTicks-1)/pageTicks, 1)
	for s := int(c.From); s <= int(c.To); s++ {
		if s%step == 0 {
			write(float64(s), fmt.Sprintf("%d s", s))
		}
	}
}

// pageMarks draws the marks, names where there is room.
func (c *Chart) pageMarks(b *strings.Builder, f *frame) {
	free := 0.0
	for _, m := range c.Marks {
		class, at := "mark", f.x(m.At)
		if m.Name != "" {
			class = "phase"
		}
		fmt.Fprintf(b, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"><title>%s</title></line>\n", class, at, at, f.top, f.bottom, html.EscapeString(m.Note))
		if m.Name != "" && at >= free {
			fmt.Fprintf(b, "<text class=\"phase\" x=\"%.1f\" y=\"%g\">%s</text>\n", at+3, f.top+10, html.EscapeString(m.Name))
			free = at + 6.5*float64(len(m.Name)) + 8
		}
	}
}
