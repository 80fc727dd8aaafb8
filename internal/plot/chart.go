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
	// Format formats a value of the scale.
	Format func(float64) string
	// Across formats a position on the axis if the axis is not time: At, From and To
	// are then in whatever unit it formats. nil: seconds.
	Across func(float64) string
	// Ticks are the labelled positions on an axis that is not time; nil: even steps.
	Ticks []float64
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
	// Unit is the unit of the values, so that a page can show the one under the
	// pointer: Nanoseconds, Bytes, or "" for plain numbers.
	Unit string
}

// Units of the values of a chart.
const (
	Nanoseconds = "ns"
	Bytes       = "B"
)

// Line has a value for each moment of a chart, NaN if there is none.
type Line struct {
	Name   string
	Values []float64
}

// Mark is a moment at which something happened, described by Note. If it has a name, it
// is labelled with that if there is room.
type Mark struct {
	At         float64
	Name, Note string
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
	Stall  = "stall"
	Errors = "errors"
	Range  = "likely" // where a mark may lie
)

// kinds are the kinds of spans, in the order of the legend, with what they are called in it.
var kinds = [][2]string{{Warmup, "warm-up, not counted"}, {Fault, "fault of the plan"}, {Stall, "stall"}, {Errors, "errors"}, {Range, "where the mark may lie"}}

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
	from, to                 float64 // seconds
	scale
}

func (f *frame) x(second float64) float64 {
	return f.left + (second-f.from)/max(f.to-f.from, 1e-9)*(f.right-f.left)
}

func (f *frame) y(v float64) float64 { return f.bottom - f.Part(v)*(f.bottom-f.top) }

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
