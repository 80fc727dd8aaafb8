package tui

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
)

// watching is the workbench on a run that another process drives.
func watching(t *testing.T, w, h int) (*testApp, *tuitest.Run) {
	t.Helper()
	run := tuitest.NewRun(1)
	a := newTestApp(t, &tuitest.Bench{}, Options{Watch: screen.Access{Run: run}})
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h})
	require.IsType(t, &dashboard.Dashboard{}, a.stack.top())
	pass(t, a, run, tuitest.Warmup+3*time.Second)
	return a, run
}

// Who watches a run changes nothing of it, is told so, and leaves without ending it.
func TestWhoWatchesARunChangesNothing(t *testing.T) {
	a, run := watching(t, 80, 24)
	assert.Contains(t, picture(t, a), "watching: no key changes the run")
	assert.Contains(t, picture(t, a), "· watching")
	wide, _ := watching(t, 120, 40)
	assert.Contains(t, picture(t, wide), "· watching another perfbench's run")
	assert.Contains(t, picture(t, a), "threads 16   payload 1 KiB")
	assert.NotContains(t, picture(t, a), "◂", "there is nothing to turn")
	before := run.Settings(screen.All)
	for _, key := range []string{"+", "-", "]", "space", "t", "x", "f", "w", "m", "u", "{"} {
		send(t, a, key)
		assert.Contains(t, picture(t, a), "this workbench only watches", key)
		send(t, a, screen.FrameMsg{At: a.env.Now.Add(6 * time.Second), Gen: a.gen}) // the message goes
	}
	for x := range 80 { // the line of knobs
		for _, y := range []int{18, 19, 20, 21, 22} {
			send(t, a, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		}
	}
	assert.Equal(t, before, run.Settings(screen.All))
	assert.Zero(t, run.Calls)
	assert.Empty(t, run.Marks)
	send(t, a, "q")
	assert.True(t, a.quit, "it asks nothing")
	assert.False(t, run.Stopped)
	assert.Empty(t, a.finish().Outcomes)
	assert.False(t, run.Killed)
}

// Who turns the knobs of a run from beside is told what undo and saving do there.
func TestWhoTurnsFromBesideIsToldWhatUndoDoes(t *testing.T) {
	run := tuitest.NewRun(1)
	a := newTestApp(t, &tuitest.Bench{}, Options{Watch: screen.Access{Run: run, Control: run}})
	send(t, a, tea.WindowSizeMsg{Width: 120, Height: 40})
	pass(t, a, run, tuitest.Warmup+3*time.Second)
	send(t, a, "u")
	assert.Contains(t, picture(t, a), "u takes back only what was changed from here")
	send(t, a, "t", "s")
	assert.Contains(t, picture(t, a), "a preset is saved where the run was started")
}

// Who watches a search sees in the title that this is so, and a knob does not turn, for that reason.
func TestWhoWatchesASearchIsToldWhyNoKnobTurns(t *testing.T) {
	run := tuitest.NewRun(1)
	a := newTestApp(t, &tuitest.Bench{}, Options{Watch: screen.Access{Run: run, Control: run}})
	send(t, a, tea.WindowSizeMsg{Width: 120, Height: 40})
	pass(t, a, run, tuitest.Warmup+3*time.Second)
	assert.Contains(t, picture(t, a), "watching another perfbench's run")
	assert.Contains(t, picture(t, a), "◂")
	run.Mu.Lock()
	run.Stage.Held = "a search turns the knobs of this run: wait until it has its answer"
	run.Mu.Unlock()
	send(t, a, frame(a))
	assert.Contains(t, picture(t, a), "watching another perfbench's search")
	assert.Contains(t, picture(t, a), "watching: a search turns the knobs")
	assert.NotContains(t, picture(t, a), "◂", "there is nothing to turn")
	before := run.Settings(screen.All)
	for _, key := range []string{"+", "{", "space", "t", "u"} {
		send(t, a, key)
		assert.Contains(t, picture(t, a), "a search turns the knobs of this run: wait", key)
		send(t, a, screen.FrameMsg{At: a.env.Now.Add(6 * time.Second), Gen: a.gen}) // the message goes
	}
	assert.Equal(t, before, run.Settings(screen.All))
	send(t, a, tea.WindowSizeMsg{Width: 70, Height: 24})
	assert.Contains(t, picture(t, a), "· watching a search ")
	send(t, a, tea.WindowSizeMsg{Width: 60, Height: 16})
	assert.Contains(t, picture(t, a), "· watching ")
}

// The end of a run that is watched is shown, and so is that its coordinator is silent.
func TestTheEndOfAWatchedRunIsShown(t *testing.T) {
	a, run := watching(t, 80, 24)
	run.Mu.Lock()
	run.Stage.Note = "nothing was heard from the coordinator for 4 s"
	run.Mu.Unlock()
	send(t, a, frame(a))
	assert.Contains(t, picture(t, a), "! nothing was heard from the coordinator for 4 s")
	run.Came = screen.Outcome{Watched: true, Summary: "what it came to", Verification: workload.Verification{State: workload.Passed}}
	run.Stop()
	send(t, a, frame(a))
	require.IsType(t, &results.Results{}, a.stack.top())
	assert.Contains(t, picture(t, a), "what it came to")
	send(t, a, "e")
	assert.Contains(t, picture(t, a), "the report of this run is on the machine that drove it")
}

// Enter on a run of another terminal shows it live, its knobs turn, and esc leads back.
func TestARunOfAnotherTerminalIsTurnedFromTheList(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past[0].EndedBy = rundir.StillRunning
	b.Watched = tuitest.NewRun(1)
	a := pickApp(t, b, Options{}, 120, 40)
	send(t, a, "h", "enter")
	require.IsType(t, &dashboard.Dashboard{}, a.stack.top())
	pass(t, a, b.Watched, tuitest.Warmup+3*time.Second)
	before := b.Watched.Settings(screen.All).Threads
	send(t, a, "+")
	assert.Equal(t, before+1, b.Watched.Settings(screen.All).Threads)
	send(t, a, "u")
	assert.Equal(t, before, b.Watched.Settings(screen.All).Threads)
	for _, key := range []string{"x", "f", "w", "F", "T", "y"} {
		send(t, a, key)
		assert.Contains(t, picture(t, a), "are left to where the run was started", key)
		send(t, a, screen.FrameMsg{At: a.env.Now.Add(6 * time.Second), Gen: a.gen}) // the message goes
	}
	assert.False(t, b.Watched.Stopped)
	send(t, a, "?")
	assert.NotContains(t, picture(t, a), "break something", "help lists what works")
	send(t, a, "esc", "esc")
	assert.IsType(t, &archive.List{}, a.stack.top())
	assert.False(t, a.quit)
}

// The run under way of a sweep is shown live, no key changes it, and esc and its end lead back.
func TestARunOfASweepIsWatchedFromItsPage(t *testing.T) {
	b := tuitest.NewDemo()
	run := tuitest.NewRun(1)
	b.NextSweep = tuitest.NewSweepRun(screen.SweepNow{Result: tuitest.NewSweep(3), What: "run 4 of 14 (threads=4)", Run: run, Point: 2})
	a := pickApp(t, b, Options{}, 120, 40)
	send(t, a, "w", "enter", frame(a), "enter")
	require.IsType(t, &dashboard.Dashboard{}, a.stack.top())
	pass(t, a, run, tuitest.Warmup+3*time.Second)
	assert.Contains(t, picture(t, a), "watching a run of the sweep")
	assert.Contains(t, picture(t, a), "esc back to the sweep")
	before := run.Settings(screen.All)
	for _, key := range []string{"+", "-", "]", "space", "t", "x", "f", "w", "F", "u", "{"} {
		send(t, a, key)
		assert.Contains(t, picture(t, a), "the sweep decides the settings of its runs", key)
		send(t, a, screen.FrameMsg{At: a.env.Now.Add(6 * time.Second), Gen: a.gen}) // the message goes
	}
	assert.Equal(t, before, run.Settings(screen.All))
	assert.Zero(t, run.Calls)
	assert.False(t, run.Stopped)
	send(t, a, "esc")
	assert.IsType(t, &archive.Screen{}, a.stack.top())
	send(t, a, "enter")
	require.IsType(t, &dashboard.Dashboard{}, a.stack.top())
	run.Stop()
	send(t, a, frame(a))
	assert.IsType(t, &archive.Screen{}, a.stack.top())
	assert.Contains(t, picture(t, a), "run 4 of 14 (threads=4) has ended")
	assert.Empty(t, a.final.Outcomes, "the sweep goes on")
	send(t, a, "q")
	assert.Contains(t, picture(t, a), "Stop the run, report it and quit?")
}
