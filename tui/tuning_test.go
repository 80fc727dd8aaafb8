package tui

import (
	"math"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

func TestTurned(t *testing.T) {
	threads, payload, batch, rate := workload.Threads(), workload.Payload(), workload.Batch(), workload.Rate("entries")
	for _, c := range []struct {
		name     string
		k        workload.Knob
		from     float64
		up, ten  bool
		now, top float64
		want     float64
	}{
		{"a thread more", threads, 16, true, false, 0, 0, 17},
		{"ten threads fewer", threads, 16, false, true, 0, 0, 6},
		{"never below one thread", threads, 4, false, true, 0, 0, 1},
		{"never above the most threads", threads, workload.MaxThreads, true, false, 0, 0, workload.MaxThreads},
		{"payload doubles", payload, 1000, true, false, 0, 0, 2000},
		{"payload halves", payload, 1001, false, false, 0, 0, 500},
		{"payload starts at nothing", payload, 0, true, false, 0, 0, 1},
		{"payload ends at nothing", payload, 1, false, false, 0, 0, 0},
		{"a batch climbs the ladder", batch, 100, true, false, 0, 0, 150},
		{"a small batch climbs by whole numbers", batch, 1, true, false, 0, 0, 2},
		{"a batch comes down the ladder", batch, 100, false, false, 0, 0, 80},
		{"a batch times ten", batch, 100, true, true, 0, 0, 1000},
		{"a rate without limit comes down to what is had", rate, 0, false, false, 41_200, 44_000, 40_000},
		{"a rate without limit has no up", rate, 0, true, false, 41_200, 44_000, 0},
		{"a rate far above what can be had has no limit", rate, 80_000, true, false, 41_200, 44_000, 0},
		{"a rate never becomes unlimited downwards", rate, 1, false, true, 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.InDelta(t, c.want, turned(c.k, c.from, c.up, c.ten, c.now, c.top), 1e-9)
		})
	}
}

func TestNotchesClimbAndComeDown(t *testing.T) {
	for v := 1.0; v < 1e7; {
		up := notch(v, true)
		require.Greater(t, up, v)
		require.InDelta(t, v, notch(up, false), 1e-9, "down from %v", up)
		v = up
	}
}

func TestSlidersLieWhereTheirValuesAre(t *testing.T) {
	knobs := []workload.Knob{
		workload.Threads(), workload.Payload(), workload.Batch(), workload.Rate("checks"),
		{Name: "share", Min: 0, Max: 100, Step: 1},
		{Name: "wide", Min: 10, Max: 10_000, Step: 1, Log: true},
	}
	for _, k := range knobs {
		for w := range 80 {
			for col := range w {
				v := slid(k, col, w)
				require.GreaterOrEqual(t, v, k.Min)
				require.LessOrEqual(t, v, k.Max)
				require.InDelta(t, col, slide(k, v, w), 4, "%s: column %d of %d is %v", k.Name, col, w, v)
			}
			for _, v := range []float64{k.Min, k.Max, (k.Min + k.Max) / 3, math.NaN(), -5, 1e30} {
				at := slide(k, v, w)
				require.True(t, at >= 0 && at < max(w, 1), "%s: %v in %d is %d", k.Name, v, w, at)
			}
		}
	}
	assert.Equal(t, 39, slide(workload.Rate("x"), 0, 40), "no limit is at the right end")
	assert.InDelta(t, 0, slid(workload.Rate("x"), 39, 40), 0)
	assert.InDelta(t, 1024, slid(workload.Payload(), slide(workload.Payload(), 1024, 60), 60), 0, "payload slides by powers of two")
}

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		k    workload.Knob
		text string
		want float64
		ok   bool
	}{
		{workload.Payload(), "4KiB", 4096, true},
		{workload.Payload(), "10kb", 10_000, true},
		{workload.Payload(), "x", 0, false},
		{workload.Threads(), "64", 64, true},
		{workload.Threads(), "6.4.", 0, false},
		{workload.Threads(), "NaN", 0, false},
		{workload.Rate("entries"), "2.5k", 2500, true},
		{workload.Rate("entries"), "max", 0, true},
	} {
		got, ok := typed(c.k, c.text)
		assert.Equal(t, c.ok, ok, c.text)
		if c.ok {
			assert.InDelta(t, c.want, got, 1e-9, c.text)
		}
	}
}

func TestTypingAValueTurnsTheSelectedKnob(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "t", "down", "4", "K", "i", "B")
	assert.Contains(t, picture(t, a), "4KiB")
	send(t, a, "enter")
	assert.Equal(t, 4096, run.Settings(All).Payload)
	send(t, a, "9", "q", "esc")
	assert.Equal(t, 4096, run.Settings(All).Payload, "esc leaves the value")
	assert.False(t, a.quit, "q is text while a value is typed")
	send(t, a, "9", "q", "enter")
	assert.Contains(t, picture(t, a), `"9q" is not a size`)
	assert.Equal(t, 4096, run.Settings(All).Payload)
}

func TestATrackIsTurnedAlone(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "t", "up", "right", "right", "down", "right", "right", "esc")
	assert.Equal(t, 16, run.Settings(0).Threads)
	assert.Equal(t, 18, run.Settings(1).Threads)
	assert.Equal(t, "profile.threads", run.Snapshot().Changes[0].Name)
	assert.Contains(t, picture(t, a), "profile: threads ◂ 18 ▸")
}

func TestTracksWithPayloadsOfTheirOwnEachDoubleIt(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "t", "up", "right", "right", "down", "down", "right", "esc")
	require.Equal(t, []int{1 << 10, 2 << 10}, []int{run.Settings(0).Payload, run.Settings(1).Payload})
	send(t, a, "t", "up", "up", "left", "left", "esc", "]") // all tracks again
	assert.Equal(t, []int{2 << 10, 4 << 10}, []int{run.Settings(0).Payload, run.Settings(1).Payload})
}

func TestResetBringsEveryKnobBack(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "+", "]", "}", "{", "t", "r")
	for i, tr := range run.plan.Tracks() {
		assert.Equal(t, tr.Start, run.Settings(i))
	}
}

func TestUndoTakesChangesBackOneByOne(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	send(t, a, "+")
	pass(t, a, run, 2*time.Second)
	send(t, a, "]")
	send(t, a, "u")
	assert.Equal(t, workload.Settings{Threads: 17, Payload: 1 << 10, Batch: 100}, run.Settings(0))
	send(t, a, "u")
	assert.Equal(t, workload.Settings{Threads: 16, Payload: 1 << 10, Batch: 100}, run.Settings(0))
	n := len(run.Snapshot().Changes)
	assert.Equal(t, "undo", run.Snapshot().Changes[n-1].By)
	send(t, a, "u")
	assert.Contains(t, picture(t, a), "nothing to undo")
	assert.Len(t, run.Snapshot().Changes, n)
}

func TestSavingAPresetKeepsWhatTheKnobsSay(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 3*time.Second, 120, 40)
	send(t, a, "+", "t", "s")
	send(t, a, "h", "o", "t", "enter")
	bench := a.env.bench.(*fakeBench)
	var got []string
	for _, v := range bench.saved["ingestion/hot"] {
		got = append(got, v.Name+"="+v.Text)
	}
	assert.Equal(t, []string{"feed.threads=17", "profile.threads=16", "payload=1024", "batch=100", "feed.rate=0", "profile.rate=0"}, got)
	assert.Contains(t, picture(t, a), "saved as preset: ~/.config")
	require.NotNil(t, run)
}

func TestTheMouseDoesWhatKeysDo(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	d := a.top().(*dashboard)
	_, zones := d.knobs(a.env)
	p := d.rects(a.env)
	click := func(x, y int) { send(t, a, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }

	click(zones[1].from, p.knobs.Min.Y)
	assert.Equal(t, 17, run.Settings(All).Threads, "the right arrow of threads")
	click(zones[2].from, p.knobs.Min.Y)
	assert.Equal(t, 512, run.Settings(All).Payload, "the left arrow of payload")
	click(10, p.ops.Min.Y+3)
	assert.Equal(t, 1, d.op, "the second operation")
	click(10, p.ops.Min.Y+3)
	assert.Equal(t, -1, d.op, "once more: all")

	send(t, a, "t")
	p = d.rects(a.env)
	lines := d.tuneLines(a.env, p.tune.Dx()-2, p.tune.Dy()-2)
	for y, l := range lines {
		if l.row != 1 || l.wide == 0 {
			continue
		}
		row, x0 := p.tune.Min.Y+1+y, p.tune.Min.X+1+l.slider
		click(x0+l.wide-1, row)
		assert.Equal(t, workload.MaxThreads, run.Settings(All).Threads, "a click at the right end")
		calls := run.calls
		send(t, a, tea.MouseMotionMsg{X: x0, Y: row + 5, Button: tea.MouseLeft}, tea.MouseMotionMsg{X: x0, Y: row, Button: tea.MouseLeft}, tea.MouseReleaseMsg{X: x0 - 9, Y: row, Button: tea.MouseLeft})
		assert.Equal(t, 1, run.Settings(All).Threads, "dragged to the left end")
		assert.Equal(t, calls+1, run.calls, "a pointer that stays in a column changes nothing")
		send(t, a, tea.MouseMotionMsg{X: x0 + 9, Y: row})
		assert.Equal(t, 1, run.Settings(All).Threads, "released")
		send(t, a, tea.MouseWheelMsg{X: x0, Y: row, Button: tea.MouseWheelUp})
		assert.Equal(t, 2, run.Settings(All).Threads, "the wheel turns")
		return
	}
	t.Fatal("no slider of threads")
}

func TestTracksThatDifferAreEachTurnedFromWhereTheyStand(t *testing.T) {
	a, run := dashApp(t, Options{}, 2, 20*time.Second, 120, 40)
	payload := func() []int {
		return []int{run.Settings(0).Payload, run.Settings(1).Payload}
	}
	run.Change("test", 0, func(s workload.Settings) workload.Settings { s.Payload = 1024; return s })
	run.Change("test", 1, func(s workload.Settings) workload.Settings { s.Payload = 10240; return s })
	pass(t, a, run, 5*time.Second)
	send(t, a, "]", "]")
	assert.Equal(t, []int{4096, 40960}, payload(), "double is double for both")
	e, ok := lastEffect(run.Snapshot())
	require.True(t, ok)
	assert.InDelta(t, 10240, e.from, 0, "presses close together are one change, for each track")
	assert.InDelta(t, 40960, e.to, 0)
	assert.Equal(t, 25*time.Second, e.first)
	send(t, a, "u")
	assert.Equal(t, []int{1024, 10240}, payload(), "undo takes both back at once")
}

func TestHelpSaysWhereCtrlZHasNoShellToReturnTo(t *testing.T) {
	a, _ := dashApp(t, Options{}, 1, 3*time.Second, 120, 40)
	a.env.suspend = false
	send(t, a, "?")
	got := picture(t, a)
	assert.Contains(t, got, "ctrl+z  off: no shell below")
	_, cmd := a.Update(keyPress("ctrl+z"))
	assert.Nil(t, cmd)
	a.env.suspend = true
	_, cmd = a.Update(keyPress("ctrl+z"))
	require.NotNil(t, cmd)
	assert.Equal(t, tea.SuspendMsg{}, cmd())
}
