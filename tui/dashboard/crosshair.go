package dashboard

import (
	"image"
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// crossAt returns the column of the crosshair on an axis, and whether it is there.
func crossAt(c chart.Crosshair, a Axis) (int, bool) {
	x := a.Cell((c.At + a.Bucket/2).Seconds())
	return x, c.On && x >= 0 && x < a.Cells
}

// readings returns the points of a chart of those panes that can be read.
func (ch *charts) readings(p panes) chart.Readings {
	a := ch.now.axis(chartCells(p, p.throughput))
	s := a.Rate(ch.now.snap, ch.sel.op)
	return chart.Readings{First: s.First, N: s.Whole, Width: a.Bucket}
}

// moments returns those that can be read.
func (ch *charts) moments() []chart.Moment { return chart.Named(ch.now.moments()) }

// moments returns what stands in the lane, but for what has not come yet.
func (r *reading) moments() []chart.Moment {
	out := chart.Moments(r.snap.Ran, r.snap.Marks, r.snap.Changes, r.commands())
	for _, o := range r.watch.outages {
		name := "outage"
		if o.own {
			name = chart.OwnPause
		}
		out = append(out, chart.Moment{Sign: chart.Outage, Name: name, At: o.from.Round(100 * time.Millisecond)})
	}
	return out
}

// point puts the crosshair where a chart was clicked; false if that is beside its data.
func (ch *charts) point(p panes, r image.Rectangle, x int) bool {
	a := ch.now.axis(chartCells(p, r))
	cell := x - r.Min.X - 1 - labelWidth(p) - 2
	if cell < 0 || cell >= a.Cells {
		return false
	}
	return ch.cross.Point(ch.readings(p), time.Duration(a.at(2*cell+1)*float64(time.Second)))
}

// then returns a value of a series at the crosshair; NaN where there is none.
func (ch *charts) then(a Axis, series Series) float64 {
	if n := (chart.Readings{First: series.First, Width: a.Bucket}).Index(ch.cross.At); n >= 0 && n < len(series.Vals) {
		return series.Vals[n]
	}
	return math.NaN()
}

// figuresThen returns the figures of an operation, or of all, at the crosshair: of one point of a
// chart. What a point does not have is 0, and a percentile that too few calls support is hidden, as it is
// in the figures of now.
func (ch *charts) figuresThen(a Axis, op int) (rate float64, times measure.Summary) {
	s := ch.now.snap
	rate = ch.then(a, a.Rate(s, op))
	time := func(of func(measure.Point) int64) int64 { return nanos(ch.then(a, a.Times(s, op, of))) }
	most := time(func(p measure.Point) int64 { return p.ResponseMax })
	if most == 0 {
		return rate, times
	}
	p50, p99 := time(func(p measure.Point) int64 { return p.ResponseP50 }), time(func(p measure.Point) int64 { return p.ResponseP99 })
	return rate, measure.Moment(ch.callsThen(a, op), p50, p99, most).Shown()
}

// callsThen returns how many calls of an operation, or of all that count, ended at the crosshair.
func (ch *charts) callsThen(a Axis, op int) int64 { return nanos(ch.then(a, a.Calls(ch.now.snap, op))) }

// short reports whether too few calls support the p99 of an operation at the crosshair.
func (ch *charts) short(a Axis) bool {
	for op := range ch.now.snap.Ops {
		if _, l := ch.figuresThen(a, op); l.P99 == measure.Hidden {
			return true
		}
	}
	return false
}

// read says what every series was at the crosshair, in w cells and at most rows lines. The settings stand
// in the line of knobs.
func (ch *charts) read(s *widget.Styles, p panes, w, rows int) []string {
	a := ch.now.axis(chartCells(p, p.throughput))
	snap, op := ch.now.snap, ch.sel.op
	t := chart.Then{Unit: ch.sel.unit(), Errors: nanos(ch.then(a, a.Failures(snap, op))), Oldest: nanos(ch.then(a, a.Pending(snap, op)))}
	t.Rate, t.Times = ch.figuresThen(a, op)
	t.Meanwhile = chart.Meanwhile(measure.SettingsAt(snap.Segments, snap.Changes, ch.cross.At+chart.Soon), ch.now.commands())
	for _, op := range ch.sel.apart() {
		rate, times := ch.figuresThen(a, op)
		t.More = append(t.More, ch.now.opName(snap.Ops[op].Operation)+" "+units.Number(rate)+", p99 "+widget.Nanos(times.P99))
	}
	if ch.against.earlier != nil && op < 0 {
		middle := []float64{(ch.cross.At + a.Bucket/2).Seconds()}
		t.More = append(t.More, "earlier "+units.Number(ch.against.earlier.Rates(middle)[0])+", p99 "+widget.Nanos(nanos(ch.against.earlier.P99(middle)[0])))
	}
	return ch.cross.Read(s, &t, ch.now.moments(), a.Bucket, w, rows)
}

// nanos returns a number that is not negative as a whole one, 0 for none.
func nanos(v float64) int64 {
	if !(v > 0) {
		return 0
	}
	return int64(v)
}
