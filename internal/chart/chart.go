// Package chart draws what was measured over the time of a run as SVG: into a page
// that brings its own style sheet, or as a file of its own.
package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Chart is a picture over the time of a run: lines of a value at each moment.
type Chart struct {
	// Title is written above; plain text, as all text here.
	Title string
	// At are the moments of the values in seconds, From and To the stretch of time that
	// is shown. What is before second 0 is warm-up.
	At       []float64
	From, To float64
	Lines    []Line
	Marks    []Mark
	Spans    []Span
	// Format writes a value of the scale.
	Format func(float64) string
	// Across writes a place on the axis when that is no time: then At, From and To are
	// whatever it writes. nil: seconds.
	Across func(float64) string
	// Ticks are the places that the axis names when it is no time; nil: even steps.
	Ticks []float64
	// Log divides the scale by decades, for times; else it begins at 0.
	Log bool
	// Mean says how to thin values of which there are too many: by mean, for rates;
	// else by maximum, so that peaks survive.
	Mean bool
	// Filled says that the space below the first line is, Bands that every line is the
	// upper edge of a band, the highest line first. Low is a chart of half the height.
	Filled, Bands, Low bool
	// Heat is drawn in place of lines; its scale is that of the chart.
	Heat *Heat
	// Unit is what the values are, so that a page can write the one under the pointer:
	// Nanoseconds, Bytes, or "" for plain numbers.
	Unit string
}

// Units of the values of a chart.
const (
	Nanoseconds = "ns"
	Bytes       = "B"
)

// Line is a value at each moment of a chart, NaN where there is none.
type Line struct {
	Name   string
	Values []float64
}

// Mark is a moment at which something happened: Note says what. One with a name is
// labelled with it where there is room.
type Mark struct {
	At         float64
	Name, Note string
}

// Span is a stretch of time in which something was the case: Note says what, Kind is the
// class of its shading.
type Span struct {
	From, To   float64
	Kind, Note string
}

// Kinds of spans.
const (
	Warmup = "warm"
	Stall  = "stall"
	Errors = "errors"
	Range  = "likely" // in which a mark may lie
)

// maxPoints is how many points a drawn line has at most.
const maxPoints = 900

// Empty says that there is nothing to draw.
func (c *Chart) Empty() bool {
	return c.Heat == nil && !slices.ContainsFunc(c.Lines, func(l Line) bool { return Some(l.Values) })
}

// Some says whether any of the values is known.
func Some(values []float64) bool {
	return slices.ContainsFunc(values, func(v float64) bool { return !math.IsNaN(v) })
}

// Thin brings values down to at most n, each the mean or the maximum of as many,
// leaving NaN out.
func Thin(values []float64, n int, mean bool) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		_, middle, top := digest(values[i*len(values)/n : (i+1)*len(values)/n])
		if out[i] = top; mean {
			out[i] = middle
		}
	}
	return out
}

// digest is the lowest value, the mean and the highest; NaN when there are none.
func digest(values []float64) (low, mean, top float64) {
	n, sum := 0, 0.0
	low, top = math.NaN(), math.NaN()
	for _, v := range values {
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

// frame is where in a picture the lines are, and how seconds and values become places
// there.
type frame struct {
	left, right, top, bottom float64
	from, to                 float64 // seconds
	scale
}

func (f *frame) x(second float64) float64 {
	return f.left + (second-f.from)/max(f.to-f.from, 1e-9)*(f.right-f.left)
}

func (f *frame) y(v float64) float64 { return f.bottom - f.part(v)*(f.bottom-f.top) }

// polylines draws a line, with gaps where there are no values. attributes are those of
// an SVG element.
func (f *frame) polylines(b *strings.Builder, attributes string, at, values []float64, mean bool) {
	at, values = Thin(at, maxPoints, true), Thin(values, maxPoints, mean)
	var points []string
	flush := func() {
		if len(points) == 1 { // a dot would not be seen
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
