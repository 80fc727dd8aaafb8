package results

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/tui/widget"
)

// said is a second of a run as a page says it, taken from the rows of its series.
func said(r *Results, t int) string {
	run := &r.run.loaded.folder.Run
	rate, p50, slowest, errs := 0.0, int64(0), int64(0), int64(0)
	for _, row := range r.run.loaded.folder.Series {
		if row.T == t && run.Counts(rundir.Operation{Track: row.Track, Op: row.Op}) {
			rate += row.Throughput
			p50, slowest, errs = max(p50, row.ResponseP50), max(slowest, row.ResponseMax), errs+row.Errors
		}
	}
	return fmt.Sprintf("%s %s/s  p50 %s  p99 – (takes 1000 calls)  max %s  %s", units.Number(rate), run.Unit, widget.Nanos(p50), widget.Nanos(slowest), widget.Plural(errs, "error"))
}

// read is what the page says of the moment, as one line.
func read(a *tuitest.Stage, r *Results) string {
	var words []string
	for _, l := range r.moment.lines(a.Env) {
		if text := strings.TrimSpace(ansi.Strip(l)); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, "  ")
}

// The keys of a running test read the charts of a finished one: every figure is that of its second, the
// settings are those of then, and all charts show the same moment.
func TestKeysReadTheChartsOfAFinishedRun(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}, {250, 70}} {
		a, r, _ := show(t, size[0], size[1])
		second := func() int { return int(r.moment.cross.At / time.Second) }
		assert.Contains(t, a.Picture(t), "←→ moment")
		a.Send(t, "left")
		require.True(t, r.moment.cross.On)
		width := r.moment.readings().Width
		assert.Equal(t, 59/int(width/time.Second)*int(width/time.Second), second(), "from none, the newest")
		a.Send(t, "left", "left", "right", "shift+left")
		assert.Equal(t, 59/int(width/time.Second)*int(width/time.Second)-11*int(width/time.Second), second())
		if width == time.Second {
			assert.Equal(t, "00:48  "+said(r, 48)+"  threads 64  payload 1 KiB", read(a, r))
		}
		page := a.Picture(t)
		assert.Contains(t, page, "←→ moment  ( ) markers  esc end reading  ")
		assert.Contains(t, page, r.moment.cross.Clock(width))
		assert.Contains(t, page, "Latency  p50 ")

		cells := r.moment.plots
		x := cells.Min.X + r.run.loaded.course.column((r.moment.cross.At+width/2).Seconds(), cells.Dx())
		crossed := 0
		for _, line := range strings.Split(page, "\n") {
			if cell := []rune(line); x+2 < len(cell) && cell[x+2] == '│' {
				crossed++
			}
		}
		assert.GreaterOrEqual(t, crossed, 6, "both charts of\n%s", page)

		a.Send(t, "home")
		assert.Equal(t, r.moment.readings().First*int(width/time.Second), second(), "the first, of the warm-up")
		a.Send(t, "end")
		assert.Equal(t, 59/int(width/time.Second)*int(width/time.Second), second(), "the newest")
		a.Send(t, "esc", "home")
		assert.False(t, r.moment.cross.On, "only where one is read")

		a.Send(t, "(", "(")
		assert.Contains(t, read(a, r), "00:30  ▾ threads 64 (marker 1 of 2)")
		assert.Contains(t, read(a, r), "threads 64")
		a.Send(t, "left")
		assert.Contains(t, read(a, r), "threads 32", "before the change")
		a.Send(t, ")", ")")
		assert.Contains(t, read(a, r), "◆ backup began (marker 2 of 2)")
		a.Send(t, ")")
		assert.Contains(t, read(a, r), "no further marker")
		a.Send(t, "esc")
		assert.False(t, r.moment.cross.On)
		assert.Zero(t, a.Backs)
		assert.NotContains(t, a.Picture(t), "end reading")
		a.Send(t, "esc")
		assert.Equal(t, 1, a.Backs)
	}
}

// A click on a chart reads its moment, and the crosshair follows the mouse; beside the charts nothing is read.
func TestTheMouseReadsTheChartsOfAFinishedRun(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {200, 60}} {
		a, r, _ := show(t, size[0], size[1])
		a.Picture(t)
		at := r.moment.plots
		x, y := at.Min.X+2, at.Min.Y+3
		a.Send(t, tea.MouseClickMsg{X: x - 2, Y: y + 2, Button: tea.MouseLeft})
		assert.False(t, r.moment.cross.On, "that is its axis")
		a.Send(t, tea.MouseClickMsg{X: x, Y: y + 2, Button: tea.MouseLeft})
		require.True(t, r.moment.cross.On)
		width := r.moment.readings().Width
		assert.InDelta(t, -5, r.moment.cross.At.Seconds(), width.Seconds()-0.5, "the first second")
		a.Send(t, tea.MouseMotionMsg{X: x + at.Dx() - 1, Y: y, Button: tea.MouseLeft})
		assert.GreaterOrEqual(t, r.moment.cross.At+width, time.Minute, "the last second")
		a.Send(t, tea.MouseMotionMsg{X: x + 5, Y: y})
		assert.GreaterOrEqual(t, r.moment.cross.At+width, time.Minute, "no button is held")
	}
}

// Where a page has no chart over time, its keys turn pages, and none that reads a moment is offered.
func TestMomentsAreOfferedWhereTheyAre(t *testing.T) {
	offered := func(r *Results) (text string) {
		for _, group := range append(r.Keys().Full, r.Keys().Short) {
			for _, k := range group {
				if k.Enabled() {
					text += k.Help().Key + " " + k.Help().Desc + "\n"
				}
			}
		}
		return text
	}
	for size, charted := range map[[2]int][]page{
		{120, 40}: {tabSummary, tabChanges},
		{200, 60}: {tabSummary, tabVerdict, tabChanges, tabFailures},
	} {
		a, r, _ := show(t, size[0], size[1])
		for range r.pages.list() {
			a.Picture(t)
			at := r.pages.at
			if slices.Contains(charted, at) {
				assert.Contains(t, offered(r), "read one moment", at.title())
				assert.Contains(t, offered(r), "read a marker", at.title())
				assert.NotContains(t, offered(r), "next page", at.title())
			} else {
				assert.NotContains(t, offered(r), "moment", at.title())
				assert.NotContains(t, offered(r), "marker", at.title())
				a.Send(t, "(", "shift+left")
				assert.False(t, r.moment.cross.On)
				a.Send(t, "right")
				assert.NotEqual(t, at, r.pages.at)
				assert.False(t, r.moment.cross.On)
				r.pages.at = at
			}
			a.Send(t, "tab")
		}
	}
	a, r, _ := show(t, 120, 40)
	r.run.loaded.course.moments = nil
	r.pages.cache = bodyCache{}
	a.Send(t, "(")
	assert.Contains(t, a.Picture(t), "the charts have no marker: nothing was changed")
	assert.NotContains(t, offered(r), "read a marker")
}

// The moment is kept from page to page, and is the same there.
func TestTheMomentIsKeptFromPageToPage(t *testing.T) {
	a, r, _ := show(t, 200, 60)
	a.Send(t, "(")
	first := read(a, r)
	a.Send(t, "tab")
	require.Equal(t, tabVerdict, r.pages.at)
	a.Picture(t)
	assert.Equal(t, first[:5], read(a, r)[:5])
	assert.Contains(t, a.Picture(t), r.moment.cross.Clock(r.moment.readings().Width))
	r.pages.at = tabLatency
	assert.NotContains(t, a.Picture(t), "end reading", "there is nothing to be read")
}

// Faults, pauses and outages are markers, too, and what goes on at a moment is said as long as it does.
func TestFaultsPausesAndOutagesAreMarkers(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	f := r.run.loaded.folder
	run := f.Run // its slices are others'
	set := func(more map[string]float64) map[string]float64 {
		out := map[string]float64{"threads": 8}
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	run.Marks = nil
	run.Changes = []rundir.Change{
		{At: 10.2, Name: "fault-delay", To: 5, By: measure.ByTimetable, Segment: 1}, {At: 15, Name: "fault-delay", From: 5, By: measure.ByTimetable, Segment: 2},
		{At: 20, Name: "paused", To: 1, By: "workbench", Segment: 3}, {At: 25, Name: "paused", From: 1, By: "workbench", Segment: 4},
	}
	run.Segments = []rundir.Segment{
		{From: 0, To: 10.2, Settings: set(nil)}, {From: 10.2, To: 15, Settings: set(map[string]float64{"fault-delay": 5})}, {From: 15, To: 20, Settings: set(nil)},
		{From: 20, To: 25, Settings: set(map[string]float64{"paused": 1})}, {From: 25, To: 60, Settings: set(nil)},
	}
	run.Outages = []verdict.Outage{{From: 40.5, To: 43}}
	r.run.loaded.folder = &rundir.Folder{Run: run, Series: f.Series, Histograms: f.Histograms}
	r.run.loaded.course = curvesOf(r.run.loaded.folder)
	r.pages.cache = bodyCache{}

	var heard []string
	for range 5 {
		a.Send(t, ")")
		heard = append(heard, read(a, r))
	}
	assert.Contains(t, heard[0], "00:10  ▾ delay:5ms (marker 1 of 5)")
	assert.Equal(t, 1, strings.Count(heard[0], "delay:5ms"), heard[0])
	assert.Contains(t, heard[1], "00:15  ▾ delay healed (marker 2 of 5)")
	assert.Contains(t, heard[2], "00:20  ▾ paused (marker 3 of 5)")
	assert.Contains(t, heard[3], "00:25  ▾ resumed (marker 4 of 5)")
	assert.Contains(t, heard[4], "00:40  ░ outage of 2.5 s (marker 5 of 5)")
	a.Send(t, "right")
	assert.Contains(t, read(a, r), "outage of 2.5 s")
	assert.Contains(t, read(a, r), "p50 –  p99 –", "nothing was answered")
	run.Observed = &verdict.Observed{PausesAt: []verdict.Pause{{AtS: 40.6, ForS: 2}}}
	assert.Equal(t, "perfbench itself did not run: nothing done for 2.5 s", idleOf(&rundir.Folder{Run: run})[0].text())
	for range 5 {
		a.Send(t, "(")
	}
	a.Send(t, "right")
	assert.Contains(t, read(a, r), "fault delay:5ms")
	assert.Contains(t, read(a, r), "threads 8")
	assert.Contains(t, a.Picture(t), "▾healed  ▾       ▾resumed", "named in the lane where there is room")
}

// What is read of a moment can be looked at in every size, and without colours and signs.
func TestPicturesOfAMoment(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		for _, ascii := range []bool{false, true} {
			if ascii && size[0] != 80 {
				continue
			}
			t.Run(fmt.Sprintf("%dx%d ascii %v", size[0], size[1], ascii), func(t *testing.T) {
				a, _, _ := show(t, size[0], size[1])
				a.ASCII = ascii
				a.Send(t, "(", "(")
				got := a.Picture(t)
				if ascii {
					assert.NotRegexp(t, `[^\x00-\x7F]`, got)
				}
				tuitest.Golden(t, got)
			})
		}
	}
}
