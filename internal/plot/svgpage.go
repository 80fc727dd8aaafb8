package plot

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// pageTicks is the greatest number of parts into which an axis is divided.
	pageTicks = 8
	// pageHeight is the height of a chart on a page in steps, lowHeight that of a low
	// one.
	pageHeight, lowHeight = 2000, 400
	// pageSteps is its least width in steps.
	pageSteps = 1000
	// finePoints is the greatest number of points of a line in a filled chart: each
	// second of an hour. Others have as many as a screen shows, and low ones, of which
	// there may be many, half of that.
	finePoints, pagePoints, lowPoints = 3600, 900, 450

	pageLines = 8  // as many as have their own colours
	pageAxis  = 15 // height of an axis in pixels
	pageWidth = 900.0
)

// Page draws the chart as a figure of a page whose style sheet defines the appearance
// of its classes. It needs no script; the attributes data-time, -unit and -scale and
// the positions in the drawing tell a script what is shown.
func (c *Chart) Page() string {
	d := drawing{Chart: c, scale: c.scale(), steps: 1, height: pageHeight, points: pagePoints}
	switch {
	case c.Low:
		d.height, d.points = lowHeight, lowPoints/max(min(len(c.Lines), pageLines), 1) // there may be a line for each of many nodes
	case c.Filled || c.Bands:
		d.points = finePoints
	}
	for c.span()*d.steps < pageSteps {
		d.steps *= 10
	}
	d.steps *= 2 // values are in the middle of their second
	class := "chart"
	if c.Low {
		class += " low"
	}
	if n := len(c.axes()); n > 0 {
		class += fmt.Sprintf(" axes%d", n)
	}
	time := ""
	if c.Across == nil {
		time = fmt.Sprintf(` data-time="%g %g"`, c.From, c.To)
	}
	fmt.Fprintf(&d.b, "<figure class=\"%s\"%s data-unit=\"%s\" data-scale=\"%g %g %t\">\n<figcaption><b>%s</b>", class, time, c.Unit, d.Scale.Low, d.Scale.High, d.Scale.Log, html.EscapeString(c.Title))
	d.legend()
	if c.Caption != "" {
		fmt.Fprintf(&d.b, "<small>%s</small>", html.EscapeString(c.Caption))
	}
	fmt.Fprintf(&d.b, "</figcaption>\n<svg class=\"plot\" role=\"img\" aria-label=\"%s\">\n", html.EscapeString(c.Describe()))
	fmt.Fprintf(&d.b, "<svg class=\"data\" width=\"100%%\" height=\"100%%\" preserveAspectRatio=\"none\" viewBox=\"0 0 %.0f %d\">\n", c.span()*d.steps, d.height)
	if c.Heat != nil {
		d.heat()
	}
	d.lines()
	d.spans()
	d.marks()
	d.b.WriteString("</svg>\n")
	d.axes()
	d.b.WriteString("</svg>\n</figure>\n")
	return d.b.String()
}

func (c *Chart) span() float64 { return max(c.To-c.From, 1e-9) }

// axis is the scale of positions.
func (c *Chart) axis() Scale { return axisOf(c.From, c.To, c.LogAcross) }

// axisOf is the scale of positions from one to another, which has a length in any case.
func axisOf(from, to float64, log bool) Scale {
	return Scale{Low: from, High: max(to, from+1e-9), Log: log}
}

// Describe says in a sentence what is drawn, for those who cannot see it.
func (c *Chart) Describe() string {
	parts := []string{c.Title}
	if c.Across == nil {
		parts[0] += ", " + Clock(c.From) + " to " + Clock(c.To)
	}
	for _, l := range c.Lines {
		if low, _, top := Digest(l.Values); !math.IsNaN(top) {
			parts = append(parts, strings.TrimSpace(l.Name+" from "+c.Format(low)+" to "+c.Format(top)))
		}
	}
	for _, l := range c.Levels {
		parts = append(parts, "a line at "+l.Name)
	}
	return strings.Join(parts, "; ")
}

// drawing is a chart being drawn for a page: steps per second, height in steps, and the
// greatest number of points per line.
type drawing struct {
	*Chart
	scale
	steps          float64
	height, points int
	b              strings.Builder
}

func (d *drawing) x(at float64) float64 {
	if d.LogAcross {
		at = d.From + d.axis().Part(at)*d.span()
	}
	return math.Round((at - d.From) * d.steps)
}

func (d *drawing) y(v float64) float64 { return math.Round((1 - d.Part(v)) * float64(d.height)) }

// legend names the lines if there are several, and what is shaded; a line without values
// is not drawn.
func (d *drawing) legend() {
	key := func(class, name string) {
		fmt.Fprintf(&d.b, " <span class=\"key\"><i class=\"%s\"></i>%s</span>", class, html.EscapeString(name))
	}
	for i, l := range d.Lines[:min(len(d.Lines), pageLines)] {
		if len(d.Lines) > 1 && Some(l.Values) {
			key(d.class(i), l.Name)
		}
	}
	if d.banded() {
		key("shade range", d.Band)
	}
	spans := d.shaded()
	for _, kind := range kinds {
		if slices.ContainsFunc(spans, func(s Span) bool { return s.Kind == kind[0] }) {
			key("shade "+kind[0], kind[1])
		}
	}
}

// shaded returns the spans, with the warm-up first.
func (d *drawing) shaded() []Span {
	if d.From < 0 && d.Across == nil {
		return append([]Span{{d.From, 0, Warmup, kinds[0][1]}}, d.Spans...)
	}
	return d.Spans
}

// class returns the class of a line.
func (d *drawing) class(i int) string {
	switch {
	case d.Bands:
		return fmt.Sprintf("b%d", i)
	case d.Filled && i == 0:
		return "l0 filled"
	}
	return fmt.Sprintf("l%d", i)
}

func (d *drawing) lines() {
	for i, l := range d.Lines[:min(len(d.Lines), pageLines)] {
		if l.Bars {
			for k, ends := range l.bars(d.Scale) {
				if !math.IsNaN(ends[0]) {
					fmt.Fprintf(&d.b, "<path class=\"l%d\" d=\"M%.0f %.0fV%.0f\"/>\n", i, d.x(d.Moments(l)[k]), d.y(ends[1]), d.y(ends[0]))
				}
			}
			continue
		}
		for _, part := range l.bands() {
			fmt.Fprintf(&d.b, "<path class=\"band l%d\" d=\"%s\"/>\n", i, d.band(l, part[0], part[1]))
		}
	}
	for i, l := range d.Lines[:min(len(d.Lines), pageLines)] {
		at, values := Thin(d.Moments(l), d.points, true), Thin(l.Values, d.points, d.Mean)
		path := d.path(at, values, d.Bands || d.Filled && i == 0)
		if path != "" {
			fmt.Fprintf(&d.b, "<path class=\"%s\" data-name=\"%s\" d=\"%s\"/>\n", d.class(i), html.EscapeString(l.Name), path)
		}
	}
}

// path returns a line with gaps where there are no values, as the start of each part
// followed by relative steps. If closed, the area below is closed for filling.
func (d *drawing) path(at, values []float64, closed bool) string {
	var b strings.Builder
	for i := 0; i < len(values); i++ {
		if math.IsNaN(values[i]) {
			continue
		}
		first, x, y := d.x(at[i]), d.x(at[i]), d.y(values[i])
		fmt.Fprintf(&b, "M%.0f %.0fl", x, y)
		n := 0
		for ; i+1 < len(values) && !math.IsNaN(values[i+1]); i++ {
			nx, ny := d.x(at[i+1]), d.y(values[i+1])
			step(&b, nx-x, ny-y)
			x, y = nx, ny
			n++
		}
		if n == 0 { // a point would not be visible
			b.WriteString("1 0")
			x++
		}
		if closed {
			fmt.Fprintf(&b, "V%dH%.0fz", d.height, first)
		}
	}
	return b.String()
}

// band returns a part of the band of a line, as its outline.
func (d *drawing) band(l Line, from, to int) string {
	var b strings.Builder
	at := d.Moments(l)
	for i := from; i < to; i++ {
		letter := 'L'
		if i == from {
			letter = 'M'
		}
		fmt.Fprintf(&b, "%c%.0f %.0f", letter, d.x(at[i]), d.y(l.High[i]))
	}
	for i := to - 1; i >= from; i-- {
		fmt.Fprintf(&b, "L%.0f %.0f", d.x(at[i]), d.y(l.Low[i]))
	}
	return b.String() + "z"
}

// step writes a pair of numbers in as few characters as possible.
func step(b *strings.Builder, dx, dy float64) {
	if dx >= 0 && !strings.HasSuffix(b.String()[b.Len()-1:], "l") {
		b.WriteByte(' ')
	}
	fmt.Fprintf(b, "%.0f", dx)
	if dy >= 0 {
		b.WriteByte(' ')
	}
	fmt.Fprintf(b, "%.0f", dy)
}

func (d *drawing) spans() {
	for _, s := range d.shaded() {
		from := d.x(max(s.From, d.From))
		fmt.Fprintf(&d.b, "<rect class=\"%s\" x=\"%.0f\" width=\"%.0f\" height=\"%d\"><title>%s</title></rect>\n",
			s.Kind, from, max(d.x(min(s.To, d.To))-from, 1), d.height, html.EscapeString(s.Note))
	}
}

func (d *drawing) marks() {
	for _, m := range d.Marks {
		class := "mark"
		if m.Name != "" {
			class = "phase"
		}
		fmt.Fprintf(&d.b, "<path class=\"%s\" d=\"M%.0f 0V%d\"><title>%s</title></path>\n", class, d.x(m.At), d.height, html.EscapeString(m.Note))
	}
}

// axes draws the scale, the axis below, and the names of marks where there is room.
// Positions are in per cent, so that letters keep their size.
func (d *drawing) axes() {
	grid := d.grid()
	if d.Low {
		grid = []float64{grid[0], grid[len(grid)-1]}
	}
	for _, v := range grid {
		y := (1 - d.Part(v)) * 100
		fmt.Fprintf(&d.b, "<line class=\"grid\" x2=\"100%%\" y1=\"%.1f%%\" y2=\"%.1f%%\"/><text x=\"-6\" y=\"%.1f%%\" dy=\"4\" text-anchor=\"end\">%s</text>\n", y, y, y, html.EscapeString(d.Format(v)))
	}
	for _, l := range d.Levels {
		y := (1 - d.Part(l.Value)) * 100
		fmt.Fprintf(&d.b, "<line class=\"level\" x2=\"100%%\" y1=\"%.1f%%\" y2=\"%.1f%%\"/><text class=\"level\" x=\"100%%\" y=\"%.1f%%\" dy=\"-4\" text-anchor=\"end\">%s</text>\n", y, y, y, html.EscapeString(l.Name))
	}
	free := 0.0
	for _, m := range d.Marks {
		if part := d.axis().Part(m.At); m.Name != "" && part*pageWidth >= free {
			fmt.Fprintf(&d.b, "<text class=\"name\" data-at=\"%g\" x=\"%.2f%%\" dx=\"3\" dy=\"10\">%s</text>\n", m.At, part*100, html.EscapeString(m.Name))
			free = part*pageWidth + 6.5*float64(len(m.Name)) + 8
		}
	}
	d.b.WriteString("<g class=\"ticks\">")
	for i, at := range d.places() {
		class := ""
		if i%2 == 1 {
			class = ` class="odd"`
		}
		part, label := d.axis().Part(at), d.across(at)
		fmt.Fprintf(&d.b, "<text%s x=\"%.2f%%\" y=\"100%%\" dy=\"15\" text-anchor=\"%s\">%s</text>", class, part*100, anchor(part, label, false), html.EscapeString(label))
	}
	d.b.WriteString("</g>\n")
	for i, a := range d.Chart.axes() {
		dy := pageAxis * (i + 2)
		fmt.Fprintf(&d.b, "<g class=\"measure l%d\"><text x=\"-6\" y=\"100%%\" dy=\"%d\" text-anchor=\"end\">%s<title>%s</title></text>", a.Line, dy, html.EscapeString(a.short()), html.EscapeString(a.Name))
		for k, at := range a.At {
			part := d.axis().Part(at)
			fmt.Fprintf(&d.b, "<text x=\"%.2f%%\" y=\"100%%\" dy=\"%d\" text-anchor=\"%s\">%s</text>", part*100, dy, anchor(part, a.Labels[k], true), html.EscapeString(a.Labels[k]))
		}
		d.b.WriteString("</g>\n")
	}
}

// anchor returns which end of a label is at its position, a part of the axis: of a long one at the
// right edge the last, where it would be cut, and where the name of the axis ends the first.
func anchor(part float64, label string, named bool) string {
	const edge, long = 0.02, 7
	switch {
	case named && part < edge:
		return "start"
	case part > 1-edge && utf8.RuneCountInString(label) > long:
		return "end"
	}
	return "middle"
}

// across formats a position on the axis.
func (d *drawing) across(at float64) string {
	if d.Across != nil {
		return d.Across(at)
	}
	return Clock(at)
}

// places returns the labelled positions on the axis.
func (d *drawing) places() []float64 {
	switch {
	case d.Across == nil:
		return Seconds(d.From, d.To, 0, pageTicks)
	case d.Ticks != nil:
		return slices.Clone(d.Ticks)
	}
	var out []float64
	for i := range pageTicks + 1 {
		out = append(out, d.axis().At(float64(i)/pageTicks))
	}
	return out
}
