package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/guptarohit/asciigraph"

	"github.com/perfbench/perfbench/internal/plot"
)

// Graph is one chart, usually over the seconds of a run with one value per second.
type Graph struct {
	plot.Chart
	// Apart means that the lines have different units: as text, each is drawn
	// separately.
	Apart bool
	// Main is the index of the line to draw as text, if only one is drawn.
	Main int
	// Over means that the axis is not time: as text, the graph is omitted in favour of
	// its table, unless it is Drawn with a sign for each value.
	Over, Drawn bool
}

// Size of a chart in the text report, in characters, without its labels.
const (
	ChartWidth  = 70
	ChartHeight = 8
)

// Text draws a graph without its warm-up: its main line, or, if the graph is low or its
// lines have different units, each line in a row.
func (g *Graph) Text(width, height int) string {
	switch {
	case len(g.Lines) == 0:
		return ""
	case g.Low:
		return g.row(width)
	case g.Apart:
		return g.rows(width)
	}
	values := g.Measured(g.Lines[g.Main])
	if len(values) == 0 || !plot.Some(values) {
		return ""
	}
	title := g.Title
	if len(g.Lines) > 1 {
		title += ", " + g.Lines[g.Main].Name
	}
	seconds := float64(len(values))
	values = plot.Thin(values, width, g.Mean)
	if len(values) == 1 {
		return fmt.Sprintf("%s: %s\n", title, g.Format(values[0]))
	}
	rows, top := ruled(values, height, g.Unit == plot.Bytes)
	picture := asciigraph.Plot(values,
		asciigraph.Height(rows), asciigraph.Width(width), asciigraph.LowerBound(0), asciigraph.UpperBound(top),
		asciigraph.YAxisValueFormatter(g.Format),
		asciigraph.XAxisRange(0, seconds),
		asciigraph.XAxisValueFormatter(Length),
	)
	var b strings.Builder
	b.WriteString(title + "\n")
	for line := range strings.Lines(picture) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	first, _, _ := strings.Cut(picture, "\n")
	if axis := strings.IndexAny(first, "┤┼"); axis >= 0 {
		b.WriteString(g.phaseRow(ansi.StringWidth(first[:axis])+1, width, seconds))
	}
	return b.String()
}

// ruled returns how many lines above 0 a chart of values has, about as many as usual, and the value
// of the highest: each is a multiple of 1, 2 or 5, or of a power of 2 if the values are bytes.
func ruled(values []float64, usual int, bytes bool) (rows int, top float64) {
	peak := 0.0
	for _, v := range values {
		if v > peak && !math.IsInf(v, 0) { // not NaN
			peak = v
		}
	}
	if peak <= 0 {
		return usual, float64(usual)
	}
	least := peak / float64(usual+usual/2)
	step := plot.Nice(least)
	if bytes {
		step = math.Pow(2, math.Ceil(math.Log2(least)))
	}
	rows = int(math.Ceil(peak/step - 1e-9))
	return rows, float64(rows) * step
}

// phaseRow writes, below a chart, the names of the phases where they began. A name for
// which there is no room is left out, but its mark stays.
func (g *Graph) phaseRow(indent, width int, seconds float64) string {
	phases := g.phases()
	if len(phases) == 0 {
		return ""
	}
	row := []rune(strings.Repeat(" ", width))
	for _, p := range phases {
		if x := int(p.At / seconds * float64(width)); x < width {
			row[x] = '|'
		}
	}
	for i, p := range phases {
		x := int(p.At/seconds*float64(width)) + 1
		end := width
		if i+1 < len(phases) {
			end = int(phases[i+1].At / seconds * float64(width))
		}
		if name := []rune(p.Name); x+len(name) < min(end+1, width+1) {
			copy(row[x:], name)
		}
	}
	return strings.TrimRight(strings.Repeat(" ", indent)+string(row), " ") + "\n"
}

// rowLines is how many lines are drawn as rows of text; series.csv has all of them.
const rowLines = 12

// rows draws each line in a row of its own, scaled to its own maximum.
func (g *Graph) rows(width int) string {
	name := 0
	lines := g.Lines[:min(len(g.Lines), rowLines)]
	for _, l := range lines {
		name = max(name, min(ansi.StringWidth(l.Name), width/3))
	}
	var b strings.Builder
	b.WriteString(g.Title + ", each line to its own peak\n")
	for _, l := range lines {
		label := ansi.Truncate(l.Name, name, "…")
		line, peak := sparkline(plot.Thin(g.Measured(l), width-name, g.Mean))
		fmt.Fprintf(&b, "  %s%s  %s  peak %s\n", label, strings.Repeat(" ", name-ansi.StringWidth(label)), line, g.Format(peak))
	}
	if n := len(g.Lines) - len(lines); n > 0 {
		fmt.Fprintf(&b, "  and %d more, which are in %s\n", n, "series.csv")
	}
	return b.String()
}

// lowTitle is the width of a low graph's title.
const lowTitle = 34

// row draws the first line of a low graph next to its title.
func (g *Graph) row(width int) string {
	title := ansi.Truncate(g.Title, lowTitle, "…")
	line, peak := sparkline(plot.Thin(g.Measured(g.Lines[0]), max(width-lowTitle+10, 10), g.Mean))
	return fmt.Sprintf("%s%s  %s  peak %s\n", title, strings.Repeat(" ", lowTitle-ansi.StringWidth(title)), line, g.Format(peak))
}

var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws one value per column, scaled to the largest, which it returns; a gap
// is a space.
func sparkline(values []float64) (string, float64) {
	peak := 0.0
	for _, v := range values {
		if v > peak {
			peak = v
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v) || peak == 0:
			b.WriteByte(' ')
		default:
			b.WriteRune(sparks[int(math.Round(max(v, 0)/peak*float64(len(sparks)-1)))])
		}
	}
	return b.String(), peak
}

// Measured returns a line without its warm-up.
func (g *Graph) Measured(l plot.Line) []float64 {
	skip := min(max(int(-g.From), 0), len(l.Values))
	return l.Values[skip:]
}

// phases returns the marks at which phases began.
func (g *Graph) phases() []plot.Mark {
	return slices.DeleteFunc(slices.Clone(g.Marks), func(m plot.Mark) bool { return m.Name == "" })
}
