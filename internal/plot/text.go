package plot

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// signs mark the values of lines in text, two for each side of a comparison.
var signs = []rune("●○■□▲△◆◇")

// What is drawn in text beside the signs: the way from one value to the next, a band, and a mark.
const (
	textWay, textBand, textMark = '·', '░', '┊'
	textTicks                   = 5
)

// Text draws the chart in letters, its area with so many columns and rows: a sign for each
// value, dots in between, and bands shaded. Below it are its axes and what the signs mean.
// It is empty if there is nothing to draw.
func (c *Chart) Text(width, height int) string {
	if c.Empty() || c.Heat != nil || len(c.At) == 0 {
		return ""
	}
	of := c.scale().Scale
	switch least, most := c.ends(); {
	case of.Log:
		of = LogIn(least, most, height)
	case c.Unit != Bytes:
		of.High = TopIn(most, height)
	}
	d := letters{c, of, width, height, make([][]rune, height)}
	for i := range d.cells {
		d.cells[i] = []rune(strings.Repeat(" ", width))
	}
	d.draw()
	labels, wide := make([]string, height), 0
	for _, t := range d.of.Ticks(height) {
		labels[t.Row] = c.Format(t.Value)
		wide = max(wide, utf8.RuneCountInString(labels[t.Row]))
	}
	var b strings.Builder
	line := func(parts ...string) { b.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n") }
	line(c.Title)
	for i, row := range d.cells {
		edge := " │"
		if labels[i] != "" {
			edge = " ┤"
		}
		line(strings.Repeat(" ", wide-utf8.RuneCountInString(labels[i])), labels[i], edge, string(row))
	}
	indent := strings.Repeat(" ", wide+2)
	ticks := c.Ticks
	for i := 0; c.Ticks == nil && i < textTicks; i++ {
		ticks = append(ticks, c.axis().At(float64(i)/(textTicks-1)))
	}
	var names []string
	for _, at := range ticks {
		names = append(names, c.tick(at))
	}
	line(indent, d.labels(ticks, names))
	for _, a := range c.axes() {
		line(indent, d.labels(a.At, a.Labels), "  ", a.Name)
	}
	for _, row := range d.legend(wide + 2 + width) {
		line(row)
	}
	return b.String()
}

// letters is a chart being drawn as text.
type letters struct {
	*Chart
	of            Scale
	width, height int
	cells         [][]rune
}

// column returns where a position is, row where a value is; -1 if it is nowhere.
func (d *letters) column(at float64) int {
	const near = 1e-9
	if d.LogAcross && (at < d.From*(1-near) || at > d.To*(1+near)) { // Part has it at an end
		return -1
	}
	if x := int(math.Round(d.axis().Part(at) * float64(d.width-1))); x >= 0 && x < d.width {
		return x
	}
	return -1
}

// place returns the position of a column.
func (d *letters) place(x int) float64 { return d.axis().At(float64(x) / float64(d.width-1)) }

func (d *letters) row(v float64) int {
	return d.of.Row(v, d.height)
}

// draw draws marks, bands and lines; of lines that meet, the first is seen.
func (d *letters) draw() {
	for _, m := range d.Marks {
		if x := d.column(m.At); x >= 0 {
			for y := range d.cells {
				d.cells[y][x] = textMark
			}
		}
	}
	for _, l := range slices.Backward(d.Lines) {
		for x := range d.width {
			at := d.place(x)
			if high, low := d.row(d.between(l, l.High, at)), d.row(d.between(l, l.Low, at)); l.banded() && high >= 0 && low >= 0 {
				for y := high; y <= low; y++ {
					d.cells[y][x] = textBand
				}
			}
		}
	}
	for _, l := range slices.Backward(d.Lines) {
		last := -1
		for x := range d.width {
			y := d.row(d.between(l, l.Values, d.place(x)))
			if y >= 0 {
				d.way(x, last, y)
			}
			last = y
		}
	}
	for i, l := range slices.Backward(d.Lines) {
		for k, v := range l.Values {
			if x, y := d.column(d.Moments(l)[k]), d.row(v); x >= 0 && y >= 0 {
				d.cells[y][x] = signs[i%len(signs)]
			}
		}
	}
}

// way draws the way of a line into a column: from the row that it had in the one before, -1 if
// in none.
func (d *letters) way(x, from, to int) {
	d.cells[to][x] = textWay
	for y := min(from, to) + 1; from >= 0 && y < max(from, to); y++ {
		d.cells[y][x] = textWay
	}
}

// between returns the value of a line at a position between two that are known, NaN if it is
// between none: as straight as axis and scale are.
func (d *letters) between(l Line, values []float64, at float64) float64 {
	moments := d.Moments(l)
	for i := 1; i < len(values); i++ {
		a, b := moments[i-1], moments[i]
		if at < a || at > b || b <= a {
			continue
		}
		part := Scale{a, b, d.LogAcross}.Part(at)
		if d.of.Log {
			return values[i-1] * math.Pow(values[i]/values[i-1], part)
		}
		return values[i-1] + (values[i]-values[i-1])*part
	}
	return math.NaN()
}

// labels puts labels below their positions, first those of the ends, as far as there is room.
func (d *letters) labels(at []float64, labels []string) string {
	row, taken := []rune(strings.Repeat(" ", d.width)), make([]bool, d.width+1)
	put := func(i int) {
		text := []rune(labels[i])
		x := d.column(at[i])
		if x < 0 || len(text) > d.width {
			return
		}
		x = min(max(x-len(text)/2, 0), d.width-len(text))
		if slices.Contains(taken[max(x-1, 0):x+len(text)+1], true) {
			return
		}
		copy(row[x:], text)
		for k := range text {
			taken[x+k] = true
		}
	}
	for i := range at {
		put((i + len(at) - 1) % len(at)) // the last one comes first
	}
	return string(row)
}

// legend says what the signs mean, in lines of at most so many letters where that can be.
func (d *letters) legend(width int) (out []string) {
	var parts []string
	for i, l := range d.Lines {
		if Some(l.Values) {
			parts = append(parts, string(signs[i%len(signs)])+" "+l.Name)
		}
	}
	if d.banded() {
		parts = append(parts, string(textBand)+" "+d.Band)
	}
	for _, m := range d.Marks {
		if m.Note != "" && d.column(m.At) >= 0 {
			parts = append(parts, string(textMark)+" "+m.Note)
		}
	}
	for _, p := range parts {
		if n := len(out); n > 0 && utf8.RuneCountInString(out[n-1])+2+utf8.RuneCountInString(p) <= width {
			out[n-1] += "  " + p
			continue
		}
		out = append(out, p)
	}
	return out
}
