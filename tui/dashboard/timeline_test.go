package dashboard

import (
	"image"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// A mark at 10 s lies above the charts, and no time is missing for it.
func TestAMarkIsNotWrittenOverAMoment(t *testing.T) {
	_, d, run := live(t, 10*time.Second, 80, 24)
	run.Mark(run.At, "half-time")
	d.refresh()
	a := d.now.axis(60)
	assert.Contains(t, d.charts.timeline(a, 78, 8), " 00:10 ")
	assert.Contains(t, ansi.Strip(d.charts.rates(a, 9).Lane(widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor))), "◆half-time")
}

// A mark stands where it was asked for, however long its note takes, and the panel of changes lists it.
func TestAMarkStandsWhereItWasAskedFor(t *testing.T) {
	a, d, run := live(t, 15*time.Second, 120, 40)
	_, none := d.lower.changeRows(a.Env.Styles, 116)
	assert.Empty(t, none)
	asked := d.now.snap.At
	a.Send(t, "m")
	for range 30 {
		run.Tick(100 * time.Millisecond)
		a.Send(t, a.Frame())
	}
	a.Send(t, "v", "2", "enter", a.Frame())
	assert.Equal(t, []measure.Mark{{At: asked, Note: "v2"}}, run.Snapshot().Marks)
	_, rows := d.lower.changeRows(a.Env.Styles, 116)
	assert.Equal(t, []string{"  " + widget.Clock(asked) + "  ◆ v2"}, rows)
}

// During an outage the figures of before stay, and it is a marker that can be gone to.
func TestAnOutageKeepsTheFiguresAndIsAMarker(t *testing.T) {
	a, d, run := live(t, 15*time.Second, 120, 40)
	run.Gone = true
	for range 50 {
		run.Tick(100 * time.Millisecond)
		a.Send(t, a.Frame())
	}
	assert.True(t, d.now.watch.gone)
	page := a.Picture(t)
	assert.Regexp(t, `p50 +\d`, page)
	assert.Contains(t, page, "of answered calls, 5 s old")
	a.Send(t, "(")
	assert.Equal(t, 15*time.Second, d.charts.cross.At)
	assert.Contains(t, d.charts.cross.Marker, "outage")
}

// Whoever reads a moment is told of an outage all the same, and with a panel beside the charts, too.
func TestAnOutageIsToldWhileAMomentIsRead(t *testing.T) {
	for _, size := range []image.Point{{120, 40}, {80, 24}, {60, 16}} {
		a, d, run := live(t, 15*time.Second, size.X, size.Y)
		a.Send(t, "left", a.Frame())
		require.True(t, d.charts.cross.On)
		read := widget.Clock(d.charts.cross.At) + "  "
		assert.Contains(t, a.Picture(t), read)
		run.Gone = true
		for range 50 {
			run.Tick(100 * time.Millisecond)
			a.Send(t, a.Frame())
		}
		page := a.Picture(t)
		require.Contains(t, page, "✗ The store has not answered since ")
		assert.Greater(t, strings.LastIndex(page, read), strings.Index(page, "✗ The store"), "above what is read")
		a.Send(t, "t", a.Frame())
		assert.Contains(t, a.Picture(t), "✗ The store has not answered since ")
	}
}

// The crosshair reads what every chart has at a moment, by keys and by the mouse.
func TestTheCrosshairReadsEverySeriesAtAMoment(t *testing.T) {
	a, d, _ := live(t, 15*time.Second, 120, 40)
	a.Send(t, "left")
	newest := d.charts.cross.At
	assert.True(t, d.charts.cross.On)
	a.Send(t, "home")
	assert.Equal(t, -d.now.snap.Began, -d.charts.cross.At, "the first moment")
	a.Send(t, "end")
	assert.Equal(t, newest, d.charts.cross.At)
	assert.Regexp(t, `←→ moment  \( \) markers  esc end reading  home end first, newest  space pause`, a.Picture(t))
	for range 3 {
		a.Send(t, "left")
	}
	axis := d.now.axis(chartCells(d.page.panes(a.Env), d.page.panes(a.Env).throughput))
	assert.Equal(t, newest-3*axis.Bucket, d.charts.cross.At)
	series := axis.Rate(d.now.snap, -1)
	want := units.Number(series.Vals[floorDiv(d.charts.cross.At, axis.Bucket)-series.First])
	lines := strings.Split(a.Picture(t), "\n")
	read := strings.Join(lines[len(lines)-3:], "\n")
	assert.Contains(t, read, widget.Clock(d.charts.cross.At)+"  "+want)
	for _, o := range d.now.snap.Ops {
		assert.Contains(t, read, d.now.opName(o.Operation)+" ")
	}
	assert.Regexp(t, "p50 .* p99 .* max ", read)
	assert.Equal(t, d.charts.cross.At, func() time.Duration { a.Send(t, a.Frame()); return d.charts.cross.At }(), "it stays where it is")
	p := d.page.panes(a.Env)
	a.Send(t, tea.MouseClickMsg{X: p.latency.Min.X + 1 + labelWidth(p) + 2, Y: p.latency.Min.Y + 3, Button: tea.MouseLeft})
	assert.Equal(t, -tuitest.Warmup, d.charts.cross.At.Round(time.Second), "a click reads there")
	a.Send(t, "esc")
	assert.False(t, d.charts.cross.On)
	assert.NotContains(t, a.Picture(t), "end reading")
}

// The hints offer to undo a change as long as that can be.
func TestUndoIsOfferedAfterAChange(t *testing.T) {
	a, d, run := live(t, 15*time.Second, 120, 40)
	assert.NotContains(t, a.Picture(t), "u undo")
	a.Send(t, "+", a.Frame())
	assert.Contains(t, a.Picture(t), "f search  u undo  m mark")
	for range fresh/(100*time.Millisecond) + 10 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, a.Frame())
	assert.Contains(t, a.Picture(t), "f search  u undo  m mark", "long after it, too")
	a.Send(t, "u", a.Frame())
	assert.NotContains(t, a.Picture(t), "u undo")
	assert.Empty(t, d.knobs.history)
}

// ( and ) go from one named moment of the lane to the next, and say which.
func TestTheCrosshairGoesFromMarkerToMarker(t *testing.T) {
	a, d, run := live(t, 5*time.Second, 120, 40)
	a.Send(t, ")")
	assert.False(t, d.charts.cross.On)
	assert.Contains(t, a.Picture(t), "the chart has no marker yet")
	for _, note := range []string{"first", "second"} {
		run.Mark(run.At, note)
		for range 50 {
			run.Tick(100 * time.Millisecond)
		}
	}
	a.Send(t, a.Frame(), "(")
	assert.Contains(t, a.Picture(t), "00:10  ◆ second (marker 2 of 2)")
	second := d.charts.cross.At
	a.Send(t, "(")
	assert.Contains(t, a.Picture(t), "00:05  ◆ first (marker 1 of 2)")
	assert.Less(t, d.charts.cross.At, second)
	a.Send(t, "(")
	assert.Contains(t, a.Picture(t), "no further marker")
	a.Send(t, ")")
	assert.Equal(t, second, d.charts.cross.At)
	a.Send(t, "esc", ")")
	assert.Contains(t, a.Picture(t), "marker 1 of 2", "forwards from none begins with the first")
}

// The run that is shown has its folder, too, and is not compared with itself.
func TestARunIsComparedWithThoseThatHaveEnded(t *testing.T) {
	var c Chooser
	c.Offer([]rundir.Run{{ID: "now", Profile: "p", EndedBy: rundir.StillRunning}, {ID: "before", Profile: "p"}, {ID: "other", Profile: "q"}}, "p", "redis")
	assert.Len(t, c.runs, 1)
	assert.Equal(t, "before", c.runs[0].ID)
}

// The list of runs to compare with shows what sets them apart: the settings in which they differ, tags and notes.
func TestTheRunsToCompareWithAreToldApart(t *testing.T) {
	runs := make([]rundir.Run, 3)
	for i := range runs {
		runs[i] = rundir.Run{ID: string(rune('a' + i)), Profile: "mix", Started: time.Unix(0, 0), Store: rundir.Store{Name: "redis"}, Settings: map[string]float64{"threads": []float64{8, 16, 32}[i], "rate": 500}}
	}
	runs[1].Note, runs[2].Tags = "after the upgrade", map[string]string{"team": "blue"}
	c := Chooser{Open: true}
	c.Offer(runs, "mix", "redis")
	for _, w := range []int{60, 80, 120} {
		drawn := c.Draw(widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor), w, 6, time.Time{})
		text := ansi.Strip(strings.Join(drawn, "\n"))
		assert.Regexp(t, `(?s)when .*threads .*▸ .* 8 .*\n.* 16 .* after .*\n.* 32 .* team=bl.*`, text, "%d cells", w)
		assert.NotContains(t, text, "rate ", "it is the same for all")
		assert.Len(t, drawn, 6)
	}
}

// A moment has no p99 that too few calls support, as the figures of now have none, and a marker of an
// undo says what was undone.
func TestAMomentSaysWhatItsCallsSupport(t *testing.T) {
	a, d, run := live(t, 5*time.Second, 120, 40)
	a.Send(t, "]", "u")
	for range 30 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, a.Frame(), "(")
	assert.Contains(t, a.Picture(t), "▾ undo: payload 2 KiB → 1 KiB (marker")
	assert.Contains(t, a.Picture(t), "–: p99 takes 1000 calls")
	axis := d.now.axis(chartCells(d.page.panes(a.Env), d.page.panes(a.Env).throughput))
	_, many := d.charts.figuresThen(axis, 0)
	_, few := d.charts.figuresThen(axis, 1)
	assert.Positive(t, many.P99)
	assert.Positive(t, few.Max)
	assert.EqualValues(t, measure.Hidden, few.P99)
	assert.EqualValues(t, measure.Hidden, many.P999, "no second has one")
	assert.Regexp(t, `op +entries/s +p50 +p99 +max +errors`, a.Picture(t))
	a.Send(t, "esc")
	assert.Regexp(t, `op +per s now +p50 +p99 +p99.9 +max +errors`, a.Picture(t))
}

// At the moment of a change, settings say what they were, the panel of changes ends there, and the p99 is
// that of an operation which has one.
func TestAMomentHasWhatWasChangedInIt(t *testing.T) {
	a, d, run := live(t, 5*time.Second, 120, 40)
	a.Send(t, "+")
	for range 60 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, a.Frame(), "]", a.Frame())
	for range 20 {
		run.Tick(100 * time.Millisecond)
	}
	a.Send(t, a.Frame(), "(")
	assert.Contains(t, a.Picture(t), "payload 1 KiB → 2 KiB")
	assert.Contains(t, a.Picture(t), "threads 17")
	a.Send(t, "(")
	assert.Contains(t, a.Picture(t), "threads 16 → 17")
	d.lower.tab = tabChanges
	assert.Contains(t, a.Picture(t), "Changes · up to 00:05")
	_, rows := d.lower.changeRows(a.Env.Styles, 110)
	all := ansi.Strip(strings.Join(rows, "\n"))
	assert.Contains(t, all, "threads 16 → 17")
	assert.NotContains(t, all, "payload")
	a.Send(t, "left")
	assert.Contains(t, a.Picture(t), "Nothing had been changed by then.")

	axis := d.now.axis(chartCells(d.page.panes(a.Env), d.page.panes(a.Env).throughput))
	_, whole := d.charts.figuresThen(axis, -1)
	_, many := d.charts.figuresThen(axis, 0)
	_, few := d.charts.figuresThen(axis, 1)
	assert.EqualValues(t, measure.Hidden, few.P99)
	assert.Equal(t, many.P99, whole.P99)
	assert.Equal(t, max(many.Max, few.Max), whole.Max)
}

// The latency chart says in its border what its marks are, where there is room beside what is more needed.
func TestTheLatencyChartHasALegend(t *testing.T) {
	a, _, _ := live(t, 15*time.Second, 120, 40)
	assert.Regexp(t, `╭─ Latency   ─ p50  ▄ p99, dimmed if of fewer than 1000 calls  ⠒ max  ■ putall  ■ verify ─+ figures since the start ─╮`, a.Picture(t))
	a, _, _ = live(t, 15*time.Second, 80, 24)
	assert.NotContains(t, a.Picture(t), "⠒ max")
	for _, c := range []struct {
		width int
		want  string
	}{{50, "   █ p50 to p99  ⠒ max"}, {40, ""}} {
		assert.Equal(t, c.want, legendFor(false, "Latency", "all 2 ops ", c.width, false, nil))
	}
}

// Where something is above the scale, the border names the key that makes room for it, if it does.
func TestTheLegendNamesTheLogAxisWhereItHelps(t *testing.T) {
	p := &Plot{Scale: plot.Scale{High: 10}, Areas: []Area{{To: []float64{10, 4}}}, Above: []float64{math.NaN(), 9}}
	legend := func(width int) string { return legendFor(false, "Latency", "all 2 ops ", width, false, p.marks()) }
	assert.Equal(t, "   █ p50 to p99  ⠒ max", legend(90))
	p.Pending = []float64{11}
	assert.Equal(t, "   █ p50 to p99  ⠒ max  ▲▔ above the scale", legend(90))
	p.Above[0] = 11
	assert.Equal(t, "   █ p50 to p99  ⠒ max  ▲▔ above the scale: l for log", legend(90))
	assert.Equal(t, "   ▲ above: l for log", legend(48))
}

// The operations that are stacked are named in the border of their chart.
func TestStackedOperationsAreNamedInTheirChart(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}} {
		a, d, _ := live(t, 15*time.Second, size[0], size[1])
		assert.Regexp(t, `╭─ [^\n]*entries/s  ■ putall  ■ verify `, a.Picture(t))
		d.charts.choose(0)
		assert.NotRegexp(t, `╭─ [^\n]*entries/s[^\n]*■`, a.Picture(t), "one has no legend")
	}
}

// First seconds that took a thousand times as long do not flatten the rest of the chart, and those of later do
// set its scale.
func TestTheFirstSecondsDoNotFlattenTheLatencyChart(t *testing.T) {
	for first, want := range map[int]time.Duration{0: 10 * time.Millisecond, 15: 10 * time.Second} {
		s := &measure.Snapshot{At: 30 * time.Second, Bucket: time.Second}
		for at := range 30 {
			took := 10 * time.Millisecond
			if at >= first && at < first+4 {
				took = 10 * time.Second
			}
			s.Whole = append(s.Whole, measure.Point{At: time.Duration(at) * time.Second, Count: 1000, Seconds: 1, ResponseP99: int64(took), ResponseMax: int64(took)})
		}
		ch := charts{now: &reading{snap: s}, sel: &selection{op: -1}}
		ch.rescale()
		assert.InDelta(t, float64(want), ch.scaleL.Most, 1, "%d", first)
	}
}

// Calls at a moment are those that were timed, which are fewer than units where a call has several.
func TestCallsAtAMomentAreThoseThatWereTimed(t *testing.T) {
	s := &measure.Snapshot{
		At: 2 * time.Second, Bucket: time.Second, Ops: make([]measure.Totals, 1), Timeline: [][]measure.Point{{{Count: 1000, Seconds: 1}, {At: time.Second, Count: 4000, Seconds: 1}}},
		Spreads: [][]measure.Spread{{{T: 0, Width: 2, Counts: []int64{300, 100}}}},
	}
	ch := charts{now: &reading{snap: s}, sel: &selection{op: -1}}
	ch.cross.Step(chart.Readings{N: 2, Width: time.Second}, 0)
	a := NewAxis(60, 0, 3, 10, false, s.Bucket)
	assert.EqualValues(t, 200, ch.callsThen(a, 0), "half of two seconds")
	s.Spreads = nil
	assert.EqualValues(t, 4000, ch.callsThen(a, 0))
}

// Where the maxima of seconds are far above their p99, no linear scale shows both: the axis becomes logarithmic,
// unless one has pressed the key.
func TestTheAxisOfTimesIsLogarithmicWhereMaximaAreFarAbove(t *testing.T) {
	after := func(seconds int, most time.Duration, pressed bool) *charts {
		s := &measure.Snapshot{At: time.Duration(seconds) * time.Second, Bucket: time.Second}
		for at := range seconds {
			s.Whole = append(s.Whole, measure.Point{At: time.Duration(at) * time.Second, Count: 1000, Seconds: 1, ResponseP50: 2e6, ResponseP99: 10e6, ResponseMax: int64(most)})
		}
		ch := &charts{now: &reading{snap: s}, sel: &selection{op: -1}, pressed: pressed}
		ch.rescale()
		return ch
	}
	assert.Equal(t, logLatency, after(chart.Firm, 60*time.Millisecond, false).axes)
	assert.Equal(t, linear, after(chart.Firm-1, 60*time.Millisecond, false).axes, "too early to tell")
	assert.Equal(t, linear, after(chart.Firm, 60*time.Millisecond, true).axes)
	near := after(chart.Firm, 40*time.Millisecond, false)
	assert.Equal(t, linear, near.axes)
	assert.InDelta(t, 40e6, near.scaleL.Most, 1, "the maxima fit")
	near.now.snap.Whole[1].ResponseMax = 190e6
	near.rescale()
	assert.Equal(t, linear, near.axes, "a second that stands out ends at a mark")
	near.now.snap.Whole[1].ResponseMax = 210e6
	near.rescale()
	assert.Equal(t, logLatency, near.axes, "more than a hundred times what is usual")
	ch := after(chart.Firm, 60*time.Millisecond, false)
	ch.nextAxes()
	assert.Equal(t, logBoth, ch.axes)

	ch = after(chart.Firm, 60*time.Millisecond, false)
	for i := range ch.now.snap.Whole {
		ch.now.snap.Whole[i].ResponseMax = 20e6
	}
	ch.sel.now = ch.now
	ch.choose(-1) // as esc does
	assert.Equal(t, logLatency, ch.axes, "an axis does not go back and forth within a run")
}
