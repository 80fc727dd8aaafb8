package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/dashboard"
	"github.com/perfbench/perfbench/tui/picker"
	"github.com/perfbench/perfbench/tui/results"
	"github.com/perfbench/perfbench/tui/screen"
)

// A person who has read nothing: pick, change a value, start, stop, look, export,
// quit.
func TestFromPickerToReport(t *testing.T) {
	b := tuitest.NewDemo()
	b.Next.Tick(9 * time.Second)
	app := NewApp(demoOptions(), partsOf(b), func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) })
	tm := teatest.NewTestModel(t, app, teatest.WithInitialTermSize(120, 40), teatest.WithProgramOptions(tea.WithColorProfile(colorprofile.ASCII)))
	seen := func(text string) {
		t.Helper()
		teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return strings.Contains(ansi.Strip(string(out)), text) }, teatest.WithDuration(10*time.Second))
	}
	press := func(keys ...string) {
		for _, k := range keys {
			tm.Send(tuitest.KeyPress(k))
		}
	}
	seen("Bulk ingestion")
	press("right")
	for range 3 {
		press("down")
	}
	press("enter")
	seen("cancel")
	press("ctrl+u", "9", "s", "enter", "S")
	seen("Throughput")
	press("x", "x")
	seen("Latency")
	press("e", "enter")
	seen("enter closes")
	press("q")
	tm.WaitFinished(t, teatest.WithFinalTimeout(10*time.Second))

	require.Len(t, b.Started, 1)
	assert.Equal(t, workload.Values{"duration": {Name: "duration", Text: "9s", Origin: workload.OriginFlag}}, b.Started[0].Values)
	assert.True(t, b.Next.Stopped)
	assert.Len(t, b.Exported, 1)
	assert.Len(t, app.finish().Outcomes, 1)
}

// What follows a run is read anew: the picker below shows it.
func TestThePickerShowsARunThatHasEnded(t *testing.T) {
	b := tuitest.NewDemo()
	all := b.Past
	b.Past = b.Past[1:]
	a := pickApp(t, b, Options{}, 120, 40)
	assert.Equal(t, 2, strings.Count(picture(t, a), "/s"))
	send(t, a, "enter")
	b.Past = all
	send(t, a, "x", "x", frame(a))
	assert.IsType(t, &results.Results{}, a.stack.top())
	send(t, a, "esc")
	assert.IsType(t, &picker.Picker{}, a.stack.top())
	assert.Equal(t, 3, strings.Count(picture(t, a), "/s"))
	send(t, a, "shift+tab", "enter")
	assert.IsType(t, &results.Results{}, a.stack.top(), "a last run is opened from the picker")
}

// After a run, the keys are those of the list of profiles, whose letters are commands.
func TestARunThatHasEndedLeavesTheForm(t *testing.T) {
	a := pickApp(t, tuitest.NewDemo(), Options{}, 120, 40)
	send(t, a, "right", "down", "down", "down", "q")
	require.False(t, a.quit, "a letter is typed in the form")
	require.True(t, a.stack.typing())
	send(t, a, "esc", "S", "x", "x", frame(a), "esc")
	require.IsType(t, &picker.Picker{}, a.stack.top())
	send(t, a, "q")
	assert.True(t, a.quit)
}

// What is being typed when a run ends is not for the next screen, where letters
// are commands.
func TestARunThatEndsWhileTheUserTypesWaits(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 80, 24)
	b := a.bench.Starter.(*tuitest.Bench)
	send(t, a, "t", "s", "q")
	run.Stop()
	send(t, a, frame(a), frame(a), "u", "i")
	assert.IsType(t, &dashboard.Dashboard{}, a.stack.top())
	assert.False(t, a.quit)
	send(t, a, "c", "k", "enter", frame(a))
	assert.Contains(t, b.Saved, "ingestion/quick", "the preset is saved all the same")
	assert.IsType(t, &results.Results{}, a.stack.top())
	assert.Len(t, a.final.Outcomes, 1)
	send(t, a, "q")
	assert.True(t, a.quit)
}

func TestAMarkThatComesTooLateIsNotKept(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 80, 24)
	send(t, a, "m", "x")
	run.Stop()
	send(t, a, frame(a), "enter")
	assert.Contains(t, picture(t, a), "the mark was not kept")
	assert.Empty(t, run.Marks)
	send(t, a, frame(a))
	assert.IsType(t, &results.Results{}, a.stack.top())
}

func TestEscMeantForTheRunDoesNotLeaveItsResults(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 10*time.Second, 80, 24)
	send(t, a, "t")
	run.Stop() // by itself, not by a key
	send(t, a, frame(a), "esc")
	assert.IsType(t, &results.Results{}, a.stack.top())
	assert.Contains(t, picture(t, a), "the run has just ended: these are its results")
	send(t, a, "esc")
	assert.IsType(t, &picker.Picker{}, a.stack.top())

	a, run = dashApp(t, Options{}, 1, 10*time.Second, 80, 24)
	run.Stop()
	send(t, a, frame(a))
	a.env.Now = a.env.Now.Add(2 * time.Second)
	send(t, a, "esc")
	assert.IsType(t, &picker.Picker{}, a.stack.top(), "later esc leaves at once")
}

// What is being written when somebody quits is written first, whatever screen is shown by then; who stays
// stays, and who insists quits at once.
func TestQuittingWaitsForAnExport(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  []string // after the export has begun
		waits bool
		done  bool // quits once it is written
	}{
		{"q", []string{"q"}, true, true},
		{"ctrl+c", []string{"ctrl+c"}, true, true},
		{"closed and left", []string{"esc", "esc", "q"}, true, true},
		{"stays", []string{"q", "esc"}, true, false},
		{"twice", []string{"ctrl+c", "ctrl+c"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tuitest.NewDemo()
			a := pickApp(t, b, Options{}, 80, 24)
			send(t, a, screen.OpenMsg{To: screen.Results{ID: b.Past[0].ID}}, "e")
			_, write := a.Update(tuitest.KeyPress("enter"))
			require.NotNil(t, write)
			for _, k := range c.keys {
				send(t, a, k)
			}
			assert.Equal(t, c.waits, !a.quit)
			if c.waits {
				assert.Equal(t, c.done, strings.Contains(picture(t, a), "Writing …, then quitting"))
			}
			perform(t, a, write)
			assert.Len(t, b.Exported, 1)
			assert.Equal(t, c.done, a.quit)
		})
	}
}

// A signal that ends the workbench waits, too.
func TestASignalWaitsForAnExport(t *testing.T) {
	b := tuitest.NewDemo()
	a := pickApp(t, b, Options{}, 80, 24)
	send(t, a, screen.OpenMsg{To: screen.Results{ID: b.Past[0].ID}}, "e")
	_, write := a.Update(tuitest.KeyPress("enter"))
	send(t, a, stopMsg{})
	assert.False(t, a.quit)
	perform(t, a, write)
	assert.True(t, a.quit)
}

// What leads to a comparison is still below it when somebody comes back from the form that it has opened.
func TestTheFormLeadsBackToAllThatItWasOpenedFrom(t *testing.T) {
	b := tuitest.NewDemo()
	a := newTestApp(t, b, Options{})
	send(t, a, tea.WindowSizeMsg{Width: 120, Height: 40}, screen.OpenMsg{To: screen.Runs{}}, screen.OpenMsg{To: screen.Compare{A: []string{b.Past[1].ID}, B: []string{b.Past[0].ID}}})
	was := slices.Clone(a.stack)
	require.Len(t, was, 3)
	send(t, a, "R")
	assert.Len(t, a.stack, 1)
	send(t, a, "esc")
	require.Equal(t, was, a.stack)
	send(t, a, "esc")
	assert.Equal(t, was[:2], a.stack)
}

// H forgets where the form was opened from, and drops what was set up there.
func TestHomeForgetsWhereTheFormWasOpenedFrom(t *testing.T) {
	b := tuitest.NewDemo()
	a := pickApp(t, b, Options{}, 120, 40)
	compare := screen.OpenMsg{To: screen.Compare{A: []string{b.Past[1].ID}, B: []string{b.Past[0].ID}}}
	before := picture(t, a)
	send(t, a, compare, "R")
	require.NotEqual(t, before, picture(t, a))
	send(t, a, "H")
	assert.Contains(t, picture(t, a), "the form is as it was before")
	send(t, a, "esc", "down", "up")
	assert.Equal(t, before, picture(t, a), "all is as in the beginning")
	send(t, a, "H")
	assert.Contains(t, picture(t, a), "this is the first screen")

	send(t, a, compare, "R", screen.OpenMsg{To: screen.Runs{}}, compare, "R", "H")
	send(t, a, "up")
	assert.Equal(t, before, picture(t, a), "also where it was set up twice")
}

// The form, in which a comparison sets up one more run, is below the screen of a run that goes on: that one stays.
func TestMoreRunsAreNotSetUpOverARunThatGoesOn(t *testing.T) {
	b := tuitest.NewDemo()
	a := newTestApp(t, b, Options{})
	compare := screen.OpenMsg{To: screen.Compare{A: []string{b.Past[1].ID}, B: []string{b.Past[0].ID}}}
	send(t, a, tea.WindowSizeMsg{Width: 120, Height: 40}, compare, "R")
	assert.Contains(t, picture(t, a), "one more run of side A; esc goes back")
	send(t, a, screen.OpenMsg{To: screen.Start{Request: request.Request{Profile: "ingestion", Target: "redis://127.0.0.1"}}})
	pass(t, a, b.Next, tuitest.Warmup+3*time.Second)
	require.NotNil(t, a.stack.run())
	send(t, a, compare, "R")
	assert.Contains(t, picture(t, a), "the form opens when what goes on here has ended")
	send(t, a, "esc")
	require.NotNil(t, a.stack.run())
	assert.Contains(t, picture(t, a), "Throughput")
}
