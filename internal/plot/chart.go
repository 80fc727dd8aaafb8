package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Chart is a picture over the time of a run: lines with a value at each moment.
type Chart struct {
	// Title is shown above the chart; like all text here it is plain text.
	Title string
	// Caption says how to read the chart, below its title on a page.
	Caption string
	// At are the moments of the values in seconds; From and To are the time range that
	// is shown. What is before second 0 is warm-up.
	At       []float64
	From, To float64
	Lines    []Line
	Marks    []Mark
	Spans    []Span
	// Levels are values that get a line across, such as a limit; the scale reaches them.
	Levels []Level
	// Format formats a value of the scale.
	Format func(float64) string
	// Across formats a position on the axis if the axis is not time: At, From and To
	// are then in whatever unit it formats. nil: seconds.
	Across func(float64) string
	// Ticks are the labelled positions on an axis that is not time; nil: even steps.
	Ticks []float64
	// LogAcross makes the axis logarithmic; From, and At, are then above 0.
	LogAcross bool
	// Log makes the scale logarithmic, for durations; otherwise it begins at 0.
	Log bool
	// Mean says how to reduce the number of values if there are too many: by mean, for
	// rates; otherwise by maximum, so that peaks survive.
	Mean bool
	// Filled fills the area below the first line. Bands makes every line the upper edge
	// of a band, with the highest line first. Low halves the height of the chart.
	Filled, Bands, Low bool
	// Heat is drawn instead of lines; its scale becomes that of the chart.
	Heat *Heat
	// Axes are further axes below the first, at most mostAxes. Band says in the legend what
	// the bands of lines are.
	Axes []Axis
	Band string
	// Unit is the unit of the values, so that a page can show the one under the
	// pointer: Nanoseconds, Bytes, or "" for plain numbers.
	Unit string
}

// Units of the values of a chart.
const (
	Nanoseconds = "ns"
	Bytes       = "B"
)

// Line has a value for each moment of a chart, NaN if there is none. It may have a band, from
// Low to High, in which each value varied; without one, both are empty. At are its moments.
type Line struct {
	Name      string
	Values    []float64
	Low, High []float64
	// Bars draws a bar at each value instead of a band; bars do not set the scale, and are cut to it.
	Bars bool
	At   []float64 // nil: those of the chart
}

// Moments are those of a line of the chart.
func (c *Chart) Moments(l Line) []float64 {
	if l.At != nil {
		return l.At
	}
	return c.At
}

// banded reports whether a line has a band that can be seen.
func (l Line) banded() bool {
	for i := range min(len(l.Low), len(l.High)) {
		if l.High[i] > l.Low[i] {
			return true
		}
	}
	return false
}

// Axis is a further axis below a chart, which labels positions in another measure.
type Axis struct {
	Name string
	// Line is the index of the line whose colour the axis has.
	Line int
	// At are the positions on the first axis, each with its label.
	At     []float64
	Labels []string
}

// mostAxes is how many further axes have room below a chart, and axisName how many letters of
// their names beside it.
const mostAxes, axisName = 4, 11

// axes returns the further axes for which there is room.
func (c *Chart) axes() []Axis { return c.Axes[:min(len(c.Axes), mostAxes)] }

// short is the end of the name of an axis, by which targets differ.
func (a *Axis) short() string {
	name := []rune(a.Name)
	if len(name) > axisName {
		return "…" + string(name[len(name)-axisName+1:])
	}
	return a.Name
}

// banded reports whether any line has a band.
func (c *Chart) banded() bool { return slices.ContainsFunc(c.Lines, Line.banded) }

// bands returns the parts of a line's band that have no gaps, as indices: from each first one
// up to, but not including, each second.
func (l Line) bands() (out [][2]int) {
	for i := 0; l.banded() && i < len(l.Low); i++ {
		if math.IsNaN(l.Low[i]) || math.IsNaN(l.High[i]) {
			continue
		}
		from := i
		for i < len(l.Low) && !math.IsNaN(l.Low[i]) && !math.IsNaN(l.High[i]) {
			i++
		}
		out = append(out, [2]int{from, i})
	}
	return out
}

// bars returns the ends of each bar, as far as it is on a scale; NaN without one.
func (l Line) bars(s Scale) (out [][2]float64) {
	for i := range min(len(l.Low), len(l.High)) {
		out = append(out, [2]float64{max(l.Low[i], s.Low), min(l.High[i], s.High)})
	}
	return out
}

// Mark is a moment at which something happened, described by Note. If it has a name, it
// is labelled with that if there is room.
type Mark struct {
	At         float64
	Name, Note string
}

// Level is a value with a line across, which is labelled with its name.
type Level struct {
	Value float64
	Name  string
}

// Span is a period during which something was the case, described by Note. Kind is the
// class of its shading.
type Span struct {
	From, To   float64
	Kind, Note string
}

// Kinds of spans.
const (
	Warmup = "warm"
	Fault  = "fault"
	Outage = "outage"
	Stall  = "stall"
	Errors = "errors"
	Range  = "likely" // where a mark may lie
)

// kinds are the kinds of spans, in the order of the legend, with what they are called in it.
var kinds = [][2]string{{Warmup, "warm-up, not counted"}, {Fault, "injected fault"}, {Outage, "outage"}, {Stall, "stall"}, {Errors, "many errors"}, {Range, "where the mark may lie"}}

// maxPoints is how many points a drawn line has at most.
const maxPoints = 900

// Empty reports whether there is nothing to draw.
func (c *Chart) Empty() bool {
	return c.Heat == nil && !slices.ContainsFunc(c.Lines, func(l Line) bool { return Some(l.Values) })
}

// frame is the area of a picture in which the lines are drawn, with the conversion of
// seconds and values into positions.
type frame struct {
	left, right, top, bottom float64
	across                   Scale // of seconds
	scale
}

func (f *frame) x(second float64) float64 {
	return f.left + f.across.Part(second)*(f.right-f.left)
}

func (f *frame) y(v float64) float64 { return f.bottom - f.Part(v)*(f.bottom-f.top) }

// bands draws the band of a line, or its bars. attributes are those of the SVG elements.
func (f *frame) bands(b *strings.Builder, attributes string, at []float64, l Line) {
	if l.Bars {
		for i, ends := range l.bars(f.scale.Scale) {
			if !math.IsNaN(ends[0]) {
				fmt.Fprintf(b, "<path %s d=\"M%.1f %.1fV%.1f\"/>\n", attributes, f.x(at[i]), f.y(ends[1]), f.y(ends[0]))
			}
		}
		return
	}
	for _, part := range l.bands() {
		var points []string
		for i := part[0]; i < part[1]; i++ {
			points = append(points, fmt.Sprintf("%.1f,%.1f", f.x(at[i]), f.y(l.High[i])))
		}
		for i := part[1] - 1; i >= part[0]; i-- {
			points = append(points, fmt.Sprintf("%.1f,%.1f", f.x(at[i]), f.y(l.Low[i])))
		}
		fmt.Fprintf(b, "<polygon %s points=\"%s\"/>\n", attributes, strings.Join(points, " "))
	}
}

// polylines draws a line, with gaps where there are no values. attributes are those of
// the SVG elements.
func (f *frame) polylines(b *strings.Builder, attributes string, at, values []float64, mean bool) {
	at, values = Thin(at, maxPoints, true), Thin(values, maxPoints, mean)
	var points []string
	flush := func() {
		if len(points) == 1 { // a point would not be visible
			points = append(points, points[0])
		}
		if len(points) > 0 {
			fmt.Fprintf(b, "<polyline %s stroke-linecap=\"round\" points=\"%s\"/>\n", attributes, strings.Join(points, " "))
		}
		points = nil
	}
	for i, v := range values {
		if math.IsNaN(v) {
			flush()
			continue
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", f.x(at[i]), f.y(v)))
	}
	flush()
}
