package dashboard

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// live is the dashboard of a made-up run on a stage, which has gone on for 5 s of
// warm-up and as long as said.
func live(t testing.TB, gone time.Duration, w, h int) (*tuitest.Stage, *Dashboard, *tuitest.Run) {
	t.Helper()
	run := tuitest.NewRun(1)
	d := New(Bench{}, run.Access())
	a := tuitest.NewStage(t, d, w, h)
	for range (tuitest.Warmup + gone) / (100 * time.Millisecond) {
		run.Tick(100 * time.Millisecond)
		a.Send(t, a.Frame())
	}
	return a, d, run
}

func TestTheMouseDoesWhatKeysDo(t *testing.T) {
	a, d, run := live(t, 3*time.Second, 120, 40)
	_, zones := d.knobs.line(a.Env)
	p := d.page.panes(a.Env)
	click := func(x, y int) { a.Send(t, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }

	click(zones[1].from, p.knobs.Min.Y)
	assert.Equal(t, 17, run.Settings(screen.All).Threads, "the right arrow of threads")
	click(zones[2].from, p.knobs.Min.Y)
	assert.Equal(t, 512, run.Settings(screen.All).Payload, "the left arrow of payload")
	click(10, p.ops.Min.Y+3)
	assert.Equal(t, 1, d.sel.op, "the second operation")
	click(10, p.ops.Min.Y+3)
	assert.Equal(t, -1, d.sel.op, "once more: all")

	a.Send(t, "t")
	p = d.page.panes(a.Env)
	lines := d.tuner.lines(a.Env, p.tune.Dx()-2, p.tune.Dy()-2)
	for y, l := range lines {
		if l.row != 1 || l.wide == 0 {
			continue
		}
		row, x0 := p.tune.Min.Y+1+y, p.tune.Min.X+1+l.slider
		click(x0+l.wide-1, row)
		assert.Equal(t, workload.MaxThreads, run.Settings(screen.All).Threads, "a click at the right end")
		calls := run.Calls
		a.Send(t, tea.MouseMotionMsg{X: x0, Y: row + 5, Button: tea.MouseLeft}, tea.MouseMotionMsg{X: x0, Y: row, Button: tea.MouseLeft}, tea.MouseReleaseMsg{X: x0 - 9, Y: row, Button: tea.MouseLeft})
		assert.Equal(t, 1, run.Settings(screen.All).Threads, "dragged to the left end")
		assert.Equal(t, calls+1, run.Calls, "a pointer that stays in a column changes nothing")
		a.Send(t, tea.MouseMotionMsg{X: x0 + 9, Y: row})
		assert.Equal(t, 1, run.Settings(screen.All).Threads, "released")
		a.Send(t, tea.MouseWheelMsg{X: x0, Y: row, Button: tea.MouseWheelUp})
		assert.Equal(t, 2, run.Settings(screen.All).Threads, "the wheel turns")
		return
	}
	t.Fatal("no slider of threads")
}
