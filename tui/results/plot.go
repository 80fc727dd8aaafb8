package results

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// curves is what the charts of a finished run show: one value per second.
type curves struct {
	// folder is that of the run.
	folder *rundir.Folder
	// first is the second of the first value, negative in warm-up.
	first int
	// rates are units per second of what counts, p99 that of all calls that count in nanoseconds. NaN
	// is a gap.
	rates, p99 []float64
	// errors are how many calls failed.
	errors []int64
	// course is where rates and p99 are from.
	course rundir.Timeline
	// what is the name of rates.
	what string
	// changes are the times at which a setting changed, phases those at which one of
	// several phases began.
	changes, phases []float64
	// idle are the times in which nothing was done, faults those of the faults of the plan.
	idle   []idle
	faults [][2]float64
	// moments are the markers above the charts, and cross is the moment that is read.
	moments []chart.Moment
	cross   chart.Crosshair
}

// curvesOf computes the charts of a run.
func curvesOf(f *rundir.Folder) curves {
	from := rundir.OfCalls(f)
	c := curves{folder: f, first: from.First, rates: from.Rates, p99: from.P99, course: from, errors: from.Errors, what: "Throughput"}
	if from.Unverified {
		c.what = "Acknowledged, not verified"
	}
	for _, a := range report.Faults(f) {
		c.faults = append(c.faults, [2]float64{a.From, a.To})
	}
	for _, act := range f.Run.Did() {
		if _, ok := workload.FaultSetting(act.Name); !ok {
			c.changes = append(c.changes, act.At.Seconds())
		}
	}
	c.idle = idleOf(f)
	if len(f.Run.Phases) > 1 {
		for _, p := range f.Run.Phases {
			c.phases = append(c.phases, p.From)
		}
	}
	c.moments = momentsOf(&f.Run, c.idle)
	return c
}

// few reports whether the p99 of the seconds from one to before another is of too few calls.
func (c *curves) few(from, to int) bool { return c.course.Times(from, to).P99 == measure.Hidden }

// whole returns from which of the values to before which are those of whole seconds that were measured.
func (c *curves) whole() (from, to int) {
	from = min(max(-c.first, 0), len(c.rates))
	return from, min(max(int(c.folder.Run.MeasuredS)-c.first, from), len(c.rates))
}

// drawn returns values without the part of a second at the end of a run that has whole ones: a few calls make it as
// high as they like.
func (c *curves) drawn(vals []float64) []float64 {
	from, to := c.whole()
	if to == from || to >= len(vals) {
		return vals
	}
	out := slices.Clone(vals)
	for i := to; i < len(out); i++ {
		out[i] = math.NaN()
	}
	return out
}

// steep reports whether the chart of times is logarithmic unless the user turns it, as while the run went.
func (c *curves) steep() bool {
	from, to := c.whole()
	return to-from >= chart.Firm && chart.Steep(c.course.P50[:to], c.course.P99[:to], c.course.Max[:to])
}

// fewOf reports of how many of the whole seconds the p99 is of too few calls, and of how many it is known.
func (c *curves) fewOf() (few, known int) {
	from, to := c.whole()
	for i := from; i < to; i++ {
		if math.IsNaN(c.p99[i]) {
			continue
		}
		if known++; c.few(i, i+1) {
			few++
		}
	}
	return few, known
}

// fewIn returns which of so many columns show a p99 of too few calls.
func (c *curves) fewIn(cells int) []bool {
	out, n := make([]bool, cells), len(c.p99)
	for x := range 2 * cells {
		from := int((float64(x) + 0.5) * float64(n) / float64(2*cells))
		to := from + 1
		if n > 2*cells { // a column is of several, as when it is read
			from, to = x/2*n/cells, (x/2+1)*n/cells
		}
		out[x/2] = out[x/2] || c.few(from, to)
	}
	return out
}

// silent reports whether nothing was done at a time: there is nothing to draw, and no line across.
func (c *curves) silent(at float64) bool {
	return slices.ContainsFunc(c.idle, func(o idle) bool { return o.from <= at && at < o.to })
}

// graph is one of the charts.
type graph struct {
	vals []float64
	// low is where the area below vals begins, most the line above it; nil: at 0, and none.
	low, most []float64

	mean   bool // reduce by the mean, else by the maximum
	series int  // whose colour it has
	few    bool // dimmed where too few calls support it
	early  int  // how many of the first values do not set the scale alone
	always bool // drawn where nothing was done, too
	log    bool
	format func(float64) string
}

// The layers of a chart: its area and the edge of that, rules where something changed, and
// the shades over outages and faults.
const (
	filled chart.Layer = iota + 1
	line
	rule
	outage
	broken
	spike
	cross
	above
)

// end returns the highest value that the scale has room for.
func (g graph) end() float64 {
	if g.always {
		return chart.Peak(g.vals)
	}
	return max(chart.Settled(g.vals, g.early), chart.Settled(g.most, g.early))
}

// scale returns the scale of the values in so many rows.
func (g graph) scale(rows int) plot.Scale {
	if g.log {
		low := math.Inf(1)
		for _, v := range slices.Concat(g.vals, g.low) {
			if v > 0 {
				low = min(low, v)
			}
		}
		return plot.LogIn(low, max(chart.Peak(g.vals), chart.Peak(g.most)), rows)
	}
	return plot.Scale{High: plot.TopIn(g.end(), rows)}
}

// draw fills exactly w×h cells: the line, its axis, the warm-up dimmed, a rule at each
// change.
func (g graph) draw(s *widget.Styles, c curves, w, h int) []string {
	cells := max(w-chart.AxisWidth, 1)
	scale := g.scale(h)
	span := float64(max(len(g.vals), 1))
	column := func(at float64) int { return c.column(at, cells) }
	cut := func(o [2]float64) (from, to int) { // in columns, at least one
		return max(column(o[0]), 0), min(max(column(o[1]), column(o[0])+1), cells)
	}
	spread := func(vals []float64) []float64 {
		dots := chart.Spread(vals, 2*cells, g.mean)
		if g.always {
			return dots
		}
		for i := range dots {
			if c.silent(float64(c.first) + (float64(i)+0.5)*span/float64(len(dots))) {
				dots[i] = math.NaN()
			}
		}
		for _, o := range c.idle { // what ended then says nothing about that time
			for x, to := cut([2]float64{o.from, o.to}); x < to; x++ {
				dots[2*x], dots[2*x+1] = math.NaN(), math.NaN()
			}
		}
		return dots
	}
	parts := func(dots []float64) []float64 {
		out := make([]float64, len(dots))
		for i, v := range dots {
			out[i] = scale.Part(v)
		}
		return out
	}
	canvas, dots, most := chart.NewCanvas(cells, h), spread(g.vals), []float64(nil)
	var low []float64
	if g.low != nil {
		low = parts(spread(g.low))
	}
	canvas.Area(low, parts(dots), filled, line)
	if g.most != nil {
		most = spread(g.most)
		canvas.Line(parts(most), above)
	}
	for _, at := range c.changes {
		canvas.Rule(column(at), '┊', rule)
	}
	for _, at := range c.phases {
		canvas.Rule(column(at), '╎', rule)
	}
	chart.Beyond(canvas, scale.High, g.format, spike, dots, most)
	for _, a := range c.faults {
		for x, to := cut(a); x < to; x++ {
			canvas.Rule(x, '▒', broken)
		}
	}
	for _, o := range c.idle {
		for x, to := cut([2]float64{o.from, o.to}); x < to; x++ {
			canvas.Rule(x, o.sign(), outage)
		}
	}
	if x := column((c.cross.At + c.readings(cells).Width/2).Seconds()); c.cross.On && x < cells {
		for y := range h {
			canvas.Put(x, y, "│", cross)
		}
	}
	warm := min(max(column(0), 0), cells)
	few := make([]bool, cells)
	if g.few {
		few = c.fewIn(cells)
	}
	rows := chart.Paint(canvas, func(l chart.Layer, x, y int) widget.Ink {
		switch {
		case l == 0:
			return s.Plain
		case l == outage:
			return s.Muted
		case l == broken: // quiet, as in the live charts: the lane says what it was
			return s.Line
		case l == spike:
			return s.Warn
		case l == cross:
			return s.Accent
		case l == rule:
			return s.Muted
		case l == above:
			return s.Past
		case x < warm:
			return s.Dimmed(l == line)
		case few[x]:
			return s.Unsure(g.series, l == line)
		case l == line:
			return s.Series[g.series]
		}
		return s.Shade(g.series, h-1-y, h)
	})
	return chart.Upright(s, rows, chart.AxisWidth-2, scale, g.format)
}

// column returns the column of so many at which a second of the run lies; it may lie outside.
func (c *curves) column(at float64, cells int) int {
	return int(math.Floor((at - float64(c.first)) / float64(max(len(c.rates), 1)) * float64(cells)))
}

// lane draws the markers above a chart of w cells with its axis, with their names where there is room; empty
// if there is none.
func (c *curves) lane(s *widget.Styles, w int) string {
	cells := max(w-chart.AxisWidth, 1)
	list := slices.Clone(c.moments)
	for i := range list {
		list[i].Cell = c.column(list[i].At.Seconds(), cells)
	}
	line := chart.Lane(s, cells, list)
	if line == "" || s.Spoken { // the page of changes says them, with their times
		return ""
	}
	return strings.Repeat(" ", chart.AxisWidth) + line
}

func durationLabel(v float64) string {
	return units.Duration(time.Duration(v))
}
