package dashboard

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// agrees checks that what a frame says is of one window: no rate above the peak, none of the
// columns that are not dimmed either, the mean no lower than all of its points, percentiles in
// their order, and no latency of an operation above that of all.
func agrees(t *testing.T, d *Dashboard) {
	t.Helper()
	segment := slices.IndexFunc(d.now.snap.Segments, func(s measure.Segment) bool { return s.From == digest(d.now.snap, -1).from })
	for op := -1; op < len(d.now.snap.Ops); op++ {
		d.sel.op, d.sel.fig = op, digest(d.now.snap, op)
		f := d.sel.fig
		for _, cells := range []int{20, 44, 85, 140} {
			a := d.now.axis(cells)
			c := d.charts.rates(a, 8)
			peak := math.Inf(1)
			if best, ok := d.sel.peak(); ok {
				peak = best.rate
				at, _ := rateIn(d.now.snap, op, best.second)
				require.True(t, math.IsNaN(at) || at == peak, "the second has the rate: it is remembered")
			}
			at := fmt.Sprintf("operation %d at %v, %d cells, window %v to %v", op, d.now.snap.At, cells, f.from, f.to)
			require.False(t, f.mean > peak*(1+1e-9) && f.from%time.Second == 0, "mean %v, peak %v: %s", f.mean, peak, at)
			require.False(t, f.rate > peak*(1+1e-9), "now %v, peak %v: %s", f.rate, peak, at)
			require.False(t, f.mean < least(d.now.snap, op, segment)*(1-1e-9), "mean %v, and no point below %v: %s", f.mean, least(d.now.snap, op, segment), at)
			for x, v := range a.Dots(a.Rate(d.now.snap, op)) {
				if x/2 >= c.Warm && x/2 < c.Fresh {
					require.False(t, v > peak*(1+1e-9), "column %d %v, peak %v: %s", x, v, peak, at)
				}
			}
			b := d.charts.bands(a, 8)
			for x, v := range b.Above {
				if x/2 >= b.Warm && x/2 < b.Fresh && f.latency.Count > 0 {
					require.False(t, v > float64(f.latency.Max)*(1+1e-9), "column %d %v, max %v: %s", x, v, f.latency.Max, at)
				}
			}
		}
	}
	d.sel.op, d.sel.fig = -1, digest(d.now.snap, -1)
	l := d.sel.fig.latency
	require.True(t, slices.IsSorted(slices.DeleteFunc([]int64{l.P50, l.P90, l.P99, l.P999, l.Max}, func(v int64) bool { return v == measure.Hidden })), "%+v", l)
	for op := range d.now.snap.Ops {
		if one := digest(d.now.snap, op).latency; one.Count > 0 && d.sel.fig.latency.Count > 0 && d.now.snap.Counts(op) && d.sel.fig.latency.P99 != measure.Hidden {
			require.LessOrEqual(t, one.P99, d.sel.fig.latency.P99)
			require.LessOrEqual(t, one.Max, d.sel.fig.latency.Max)
		}
	}
}

// least is the lowest rate of all operations together, or of one, in a segment.
func least(s *measure.Snapshot, op, segment int) float64 {
	sums, longest := map[time.Duration]int64{}, map[time.Duration]float64{}
	for i, line := range s.Timeline {
		for _, p := range line {
			if p.Segment == segment && !p.Warmup && (op == i || op < 0 && s.Counts(i)) {
				sums[p.At], longest[p.At] = sums[p.At]+p.Count, max(longest[p.At], p.Seconds)
			}
		}
	}
	out := math.Inf(1)
	for at, n := range sums {
		out = min(out, float64(n)/longest[at])
	}
	if math.IsInf(out, 1) {
		return 0
	}
	return out
}

// Every frame of a run as those of the pictures, of one whose knobs are turned at odd
// moments, up and down, and which is paused, and of one whose rate a timetable ramps up.
func TestFiguresAndBarsAreOfOneWindow(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for _, tracks := range []int{1, 3} {
		run := tuitest.NewRun(tracks)
		d := New(Bench{}, run.Access())
		set := func(f func(*workload.Settings)) {
			run.Change("workbench", screen.All, func(s workload.Settings) workload.Settings {
				f(&s)
				return s
			})
		}
		ramp := func(last bool, rate float64) {
			run.Ramp(1, last, func(s workload.Settings) workload.Settings {
				s.Rate = rate
				return s
			})
		}
		turn := func(threads int) func() { return func() { set(func(s *workload.Settings) { s.Threads = threads }) } }
		pause := func(p bool) func() { return func() { set(func(s *workload.Settings) { s.Paused = p }) } }
		moments := map[int]func(){
			310: turn(96), 352: turn(3), 353: turn(6), 356: turn(60), 401: pause(true), 433: pause(false), 455: turn(3),
			480: func() { run.Gone = true }, 510: func() { run.Gone = false }, 540: func() { run.Hang = 100 * time.Millisecond }, 570: func() { run.Hang = 0 },
		}
		for step := range 40 { // a quarter of a second each, from 60 s on
			moments[600+5*step/2] = func() { ramp(step == 39, 300*float64(step+1)) }
		}
		for tick := -50; tick < 760; tick++ {
			if do := moments[tick]; do != nil {
				do()
			}
			run.Tick(100 * time.Millisecond)
			d.refresh()
			agrees(t, d)
		}
		require.Equal(t, 9, len(run.Snapshot().Segments), "a ramp is one, and what it came to is the next")
		last, held := run.Snapshot().Segments[7], run.Snapshot().Segments[8]
		assert.Equal(t, []time.Duration{60 * time.Second, 69700 * time.Millisecond}, []time.Duration{last.From, held.From})
	}
}

// Threads went down at 10 s: what came before is neither in a figure nor in colour, and
// until a second has passed the figures are of what came before, and say so.
func TestAChangeBeginsAWindow(t *testing.T) {
	run := tuitest.NewRun(1)
	d := New(Bench{}, run.Access())
	tick := func(to time.Duration) {
		run.Tick(to - run.At)
		d.refresh()
	}
	tick(10 * time.Second)
	whole := d.sel.fig
	assert.Equal(t, "figures since the start", d.sel.since())
	run.Change("workbench", screen.All, func(s workload.Settings) workload.Settings {
		s.Threads = 2
		return s
	})
	tick(10500 * time.Millisecond)
	assert.Equal(t, "figures 00:00 to 00:10", d.sel.since())
	assert.InDelta(t, whole.mean, d.sel.fig.mean, 1e-9)
	tick(12 * time.Second)
	assert.Equal(t, "figures since 00:10", d.sel.since())
	a := d.now.axis(85)
	peak, _ := d.sel.peak()
	assert.Less(t, peak.rate, whole.mean/2, "not that of 16 threads")
	assert.GreaterOrEqual(t, peak.rate, d.sel.fig.mean)
	c := d.charts.rates(a, 8)
	assert.GreaterOrEqual(t, c.Warm, a.Cell(10))
	assert.Greater(t, c.High, whole.mean, "but the scale has room for it")
	assert.False(t, math.IsNaN(d.sel.fig.rate))
}

// The figures of several operations are those of all their calls, of the segment that goes on.
func TestLatenciesOfSeveralOperationsAreOfAllCalls(t *testing.T) {
	slow, odd := measure.Summary{Count: 1000, P50: 50, P99: 60, Max: 70}, measure.Summary{Count: 1000, P50: 5, P99: 90, Max: 95}
	s := &measure.Snapshot{At: time.Second, Segments: []measure.Segment{{Ops: []measure.Totals{{Calls: 1000, Response: slow}, {Calls: 1000, Response: odd}}, All: measure.Summary{Count: 2000, P50: 48, P99: 80, Max: 95, P999: 94}}}}
	s.Ops = s.Segments[0].Ops
	f := digest(s, -1)
	assert.Equal(t, []int64{48, 80, measure.Hidden, 95}, []int64{f.latency.P50, f.latency.P99, f.latency.P999, f.latency.Max})
	assert.Equal(t, 2, f.of)
}

// The peak is that of the best whole second of the window, which is told, also when a snapshot no longer
// has it; the operations have their own.
func TestThePeakIsThatOfTheBestSecond(t *testing.T) {
	row := func(t int, n int64) measure.Row { return measure.Row{T: t, Count: n, Seconds: 1} }
	s := &measure.Snapshot{At: 3 * time.Second, Ops: make([]measure.Totals, 2), Gauges: make([]measure.Gauge, 1), Segments: []measure.Segment{{}}}
	s.Recent = [][]measure.Row{{row(0, 10), row(1, 28), row(2, 12)}, {row(0, 7), row(1, 1), row(2, 2)}}
	sel := selection{now: &reading{snap: s}, op: -1}
	_, ok := sel.peak()
	assert.False(t, ok, "nothing was seen")
	sel.refresh()
	all, _ := sel.peak()
	assert.Equal(t, best{29, 1}, all)
	sel.op = 1
	one, _ := sel.peak()
	assert.Equal(t, best{7, 0}, one)
	next := *s
	next.Recent = [][]measure.Row{{row(3, 9)}, {row(3, 8)}}
	sel.now.snap = &next
	sel.refresh()
	one, _ = sel.peak()
	assert.Equal(t, best{8, 3}, one)
	sel.op = -1
	all, _ = sel.peak()
	assert.Equal(t, best{29, 1}, all, "a peak does not fall")
	next.Segments = []measure.Segment{{To: 2500 * time.Millisecond}, {From: 2500 * time.Millisecond}}
	sel.refresh()
	all, _ = sel.peak()
	assert.Equal(t, best{17, 3}, all, "a window has its own")
}

// A p99 that is not shown says why in its panel, and the rate of now which second it is of.
func TestADashSaysWhyItIsOne(t *testing.T) {
	run := tuitest.NewRun(1)
	d := New(Bench{}, run.Access())
	run.Tick(10*time.Second - run.At)
	d.refresh()
	require.True(t, d.sel.fig.some)
	assert.Equal(t, "second 00:09", d.sel.second())
	assert.Empty(t, d.sel.unknown())
	d.sel.fig.latency = measure.Summary{Count: 312, P50: 1, P99: measure.Hidden}
	assert.Equal(t, "p99 takes 1000 calls, there are 312", d.sel.unknown())
	d.sel.fig.latency = measure.Summary{}
	assert.Equal(t, "no call has ended yet", d.sel.unknown())
}

// A wide screen has no fewer columns of operations than a narrower one.
func TestAWiderScreenHasNoFewerColumns(t *testing.T) {
	run := tuitest.NewRun(3)
	d := New(Bench{}, run.Access())
	run.Tick(5 * time.Second)
	d.refresh()
	for _, size := range [][2]int{{120, 40}, {170, 45}, {200, 60}, {240, 60}} {
		e := screen.Env{W: size[0], H: size[1], Styles: widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)}
		assert.Regexp(t, `p50 +p99 +p99\.9 +max +errors`, ansi.Strip(d.View(e)), "%v", size)
	}
}

// Once the rate is set below what was done, the chart keeps what was done before, whole, unless it would leave what
// is done now flat: then that sets the scale, what was before goes above it, and the border names the key that
// shows all. It does so once, and what is done at a higher rate later is whole, too.
func TestTheScaleOfThroughputFollowsTheWindow(t *testing.T) {
	a, d, run := live(t, 20*time.Second, 120, 40)
	before := d.charts.scaleT.Most
	turned := func(rate float64, ticks int) {
		run.Change("workbench", screen.All, func(s workload.Settings) workload.Settings { s.Rate = rate; return s })
		for range ticks {
			run.Tick(100 * time.Millisecond)
			a.Send(t, a.Frame())
		}
	}
	turned(before/3, 100)
	assert.InDelta(t, before, d.charts.scaleT.Most, 0)
	assert.NotContains(t, a.Picture(t), "l for log")
	turned(before*2/3, 100)
	turned(before/6, 100)
	assert.InDelta(t, before, d.charts.scaleT.Most, 0, "without the highest, the scale would be nearly the same")
	turned(200, 25)
	assert.InDelta(t, before, d.charts.scaleT.Most, 0, "too early to tell")
	turned(200, 20)
	assert.Less(t, d.charts.scaleT.Most, 400.)
	assert.Regexp(t, `Throughput[^\n]*above[^\n]*: l for log`, a.Picture(t))
	low := d.charts.scaleT.Most
	turned(150, 5)
	assert.InDelta(t, low, d.charts.scaleT.Most, 0, "a small change does not bring back what was before")
	turned(150, 60)
	assert.InDelta(t, low, d.charts.scaleT.Most, 0)
	run.Gone = true
	turned(140, 90)
	assert.InDelta(t, low, d.charts.scaleT.Most, 0, "nor does a window in which nothing is done")
	run.Gone = false
	turned(before/2, 60)
	assert.InDelta(t, before, d.charts.scaleT.Most, before/4)
	assert.NotRegexp(t, `Throughput[^\n]*: l for log`, a.Picture(t))
}

// The fault that one run had is offered first in the next one.
func TestTheLastFaultIsOfferedInTheNextRun(t *testing.T) {
	kept := Bench{Broke: new(Broke)}
	open := func() (*tuitest.Stage, *Dashboard) {
		run := tuitest.NewRun(1)
		d := New(kept, run.Access())
		a := tuitest.NewStage(t, d, 120, 40)
		run.Tick(15 * time.Second)
		a.Send(t, a.Frame(), "F")
		return a, d
	}
	a, d := open()
	require.Greater(t, len(d.breaks.all()), 1)
	assert.Equal(t, usualFault, d.breaks.long.Value())
	first := d.breaks.fault.Value()
	a.Send(t, "right", "tab", "4", "s")
	a.Send(t, "esc")
	_, d = open()
	assert.Equal(t, first, d.breaks.fault.Value(), "nothing was broken")
	a, d = open()
	a.Send(t, "right", "down", "4", "s", "enter")
	require.False(t, d.breaks.open)
	_, d = open()
	assert.NotEqual(t, first, d.breaks.fault.Value())
	assert.Equal(t, d.breaks.all()[1], d.breaks.fault.Value())
	assert.Equal(t, "4s", d.breaks.long.Value())
}

// Until a whole second has passed there are no figures: panels say when the first come, and not that no
// call has ended, and a chart without a value has no scale. A warm-up has a p99 of its last second only.
func TestTheFirstSecondSaysWhenFiguresCome(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		a, d, _ := live(t, 100*time.Millisecond-tuitest.Warmup, size[0], size[1])
		page := a.Picture(t)
		assert.Contains(t, page, "first figures after 1 s", "%v", size)
		assert.NotRegexp(t, `\d ns ┤|No call was timed|no call has`, page, "%v", size)
		assert.True(t, math.IsNaN(d.sel.fig.rate))

		a, d, _ = live(t, 1500*time.Millisecond-tuitest.Warmup, size[0], size[1])
		page = a.Picture(t)
		assert.Positive(t, digest(d.now.snap, -1).lastP99)
		assert.Contains(t, page, "p99 of one second", "%v", size)
		assert.NotRegexp(t, `first figures|No call was timed|no call has`, page, "%v", size)

		a, d, _ = live(t, 600*time.Millisecond, size[0], size[1])
		assert.Contains(t, a.Picture(t), "first figures after 1 s", "%v", size)
		_, some := d.sel.peak()
		assert.False(t, some, "no peak is of less than a second")

		_, d, _ = live(t, 2500*time.Millisecond, size[0], size[1])
		assert.Zero(t, digest(d.now.snap, -1).lastP99, "what few calls support is no p99 of a window")
	}
}
