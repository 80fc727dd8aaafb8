package dashboard

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// crosshair is the moment whose values are read; the zero value reads none.
type crosshair struct {
	on bool
	at time.Duration
	// marker is which marker it was sent to, in words; empty if to none.
	marker string
}

// cell returns the column of the crosshair on an axis, and whether it is there.
func (c crosshair) cell(a Axis) (int, bool) {
	x := a.Cell((c.at + a.Bucket/2).Seconds())
	return x, c.on && x >= 0 && x < a.Cells
}

// step moves the crosshair by so many points of a chart of those panes; from none it begins
// at the newest one.
func (ch *charts) step(p panes, by int) {
	r := p.throughput
	a := ch.now.axis(chartCells(p, r))
	s := a.Rate(ch.now.snap, ch.sel.op)
	if s.Whole == 0 {
		return
	}
	n := s.Whole - 1
	if ch.cross.on {
		n = floorDiv(ch.cross.at, a.Bucket) - s.First + by
	}
	ch.cross = crosshair{on: true, at: time.Duration(s.First+min(max(n, 0), s.Whole-1)) * a.Bucket}
}

// moments returns those of the lane that have a name, in order of time.
func (ch *charts) moments() []chart.Moment {
	out := slices.DeleteFunc(ch.plotted(ch.now.axis(1), 1, units.Number).Moments, func(m chart.Moment) bool { return m.Name == "" || m.Coming })
	slices.SortStableFunc(out, func(x, y chart.Moment) int { return cmp.Compare(x.At, y.At) })
	return out
}

// leap moves the crosshair to the next named moment in a direction: from none to the newest,
// or forwards to the first.
func (ch *charts) leap(p panes, by int) {
	a := ch.now.axis(chartCells(p, p.throughput))
	s := a.Rate(ch.now.snap, ch.sel.op)
	list := ch.moments()
	bucket := func(at time.Duration) int { return min(max(floorDiv(at, a.Bucket)-s.First, 0), s.Whole-1) }
	at := s.Whole
	if by > 0 {
		at = -1
	}
	if ch.cross.on {
		at = bucket(ch.cross.at)
	}
	for i := range list {
		if by < 0 {
			i = len(list) - 1 - i
		}
		if b := bucket(list[i].At); s.Whole > 0 && (b-at)*by > 0 {
			m := list[i]
			ch.cross = crosshair{true, time.Duration(s.First+b) * a.Bucket, fmt.Sprintf("%s %s (marker %d of %d)", string(m.Sign), m.Name, i+1, len(list))}
			return
		}
	}
	if ch.cross.on {
		ch.cross.marker = "no further marker"
	}
}

// point puts the crosshair where a chart was clicked; false if that is beside its data.
func (ch *charts) point(p panes, r image.Rectangle, x int) bool {
	a := ch.now.axis(chartCells(p, r))
	s := a.Rate(ch.now.snap, ch.sel.op)
	cell := x - r.Min.X - 1 - labelWidth(p) - 2
	at := time.Duration(a.at(2*cell+1) * float64(time.Second))
	n := floorDiv(at, a.Bucket) - s.First
	if cell < 0 || cell >= a.Cells || n < 0 || n >= s.Whole {
		return false
	}
	ch.cross = crosshair{on: true, at: time.Duration(s.First+n) * a.Bucket}
	return true
}

// then returns a value of a series at the crosshair; NaN where there is none.
func (ch *charts) then(a Axis, series Series) float64 {
	if n := floorDiv(ch.cross.at, a.Bucket) - series.First; n >= 0 && n < len(series.Vals) {
		return series.Vals[n]
	}
	return math.NaN()
}

// figuresThen returns the figures of an operation, or of all, at the crosshair: of one point of a
// chart. What a point does not have is 0.
func (ch *charts) figuresThen(a Axis, op int) (rate float64, times measure.Summary) {
	s := ch.now.snap
	time := func(of func(measure.Point) int64) int64 { return nanos(ch.then(a, a.Times(s, op, of))) }
	return ch.then(a, a.Rate(s, op)), measure.Summary{
		P50: time(func(p measure.Point) int64 { return p.ResponseP50 }),
		P99: time(func(p measure.Point) int64 { return p.ResponseP99 }),
		Max: time(func(p measure.Point) int64 { return p.ResponseMax }),
	}
}

// moment names the moment that is read, and how long it is if that is no second; "" if none is.
func (ch *charts) moment(a Axis) string {
	switch {
	case !ch.cross.on:
		return ""
	case a.Bucket > time.Second:
		return widget.Clock(ch.cross.at) + " to " + widget.Clock(ch.cross.at+a.Bucket)
	}
	return "at " + widget.Clock(ch.cross.at)
}

// read says what every series was at the crosshair, in w cells and at most rows lines.
func (ch *charts) read(s *widget.Styles, p panes, w, rows int) []string {
	a := ch.now.axis(chartCells(p, p.throughput))
	value := func(series Series) float64 { return ch.then(a, series) }
	snap, op := ch.now.snap, ch.sel.op
	rate, times := ch.figuresThen(a, op)
	parts := []string{
		units.Number(rate) + " " + ch.sel.unit() + "/s",
		"p50 " + widget.Nanos(times.P50), "p99 " + widget.Nanos(times.P99), "max " + widget.Nanos(times.Max),
	}
	if n := value(a.Failures(snap, op)); n > 0 {
		parts = append(parts, widget.Plural(int64(n), "error"))
	}
	if age := value(a.Pending(snap, op)); age > 0 {
		parts = append(parts, "oldest in flight "+widget.Nanos(nanos(age)))
	}
	for _, op := range ch.sel.apart() {
		parts = append(parts, ch.now.opName(snap.Ops[op].Operation)+" "+units.Number(value(a.Rate(snap, op)))+", p99 "+widget.Nanos(nanos(value(a.Latency(snap, op)))))
	}
	if ch.against.earlier != nil && op < 0 {
		middle := []float64{(ch.cross.at + a.Bucket/2).Seconds()}
		parts = append(parts, "earlier "+units.Number(ch.against.earlier.Rates(middle)[0])+", p99 "+widget.Nanos(nanos(ch.against.earlier.Slowest(middle)[0])))
	}
	for _, m := range ch.plotted(a, 1, units.Number).Moments {
		if cell, ok := ch.cross.cell(a); ok && m.Cell == cell && m.Name != "" && !m.Coming && ch.cross.marker == "" {
			parts = append(parts, string(m.Sign)+" "+m.Name)
		}
	}
	clock := widget.Clock(ch.cross.at)
	if ch.cross.marker != "" {
		parts = slices.Insert(parts, 0, ch.cross.marker)
	}
	return chart.Read(s, clock, parts, w, rows)
}

// nanos returns a time as a whole number, 0 for none.
func nanos(v float64) int64 {
	if !(v > 0) {
		return 0
	}
	return int64(v)
}
