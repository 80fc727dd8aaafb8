package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/tui/screen"
)

// clickOn clicks on the first letter of a text on the screen.
func clickOn(t *testing.T, a *testApp, text string) {
	t.Helper()
	for y, line := range strings.Split(picture(t, a), "\n") {
		if before, _, ok := strings.Cut(line, text); ok {
			send(t, a, tea.MouseClickMsg{X: ansi.StringWidth(before), Y: y, Button: tea.MouseLeft})
			return
		}
	}
	require.Fail(t, "not on the screen", text)
}

func TestEveryKeyOfTheHelpCanBeClicked(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		a, run := dashApp(t, Options{}, 1, 3*time.Second, size[0], size[1])
		send(t, a, "?")
		clickOn(t, a, "ten threads more")
		assert.Equal(t, none, a.overlay)
		assert.Equal(t, 26, run.Settings(screen.All).Threads)
		send(t, a, "?")
		clickOn(t, a, "quit")
		assert.Equal(t, quitting, a.overlay, "the click presses q, which asks")
		clickOn(t, a, "The report of what")
		assert.Equal(t, none, a.overlay, "no answer is to stay")
		assert.False(t, run.stopped)
	}
}

func TestTheHelpScrollsUnderTheClick(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 60, 16)
	send(t, a, "?")
	for range 4 {
		send(t, a, tea.MouseWheelMsg{X: 30, Y: 8, Button: tea.MouseWheelDown})
	}
	clickOn(t, a, "one thread more")
	assert.Equal(t, 17, run.Settings(screen.All).Threads)
	send(t, a, "?")
	send(t, a, tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
	assert.Equal(t, none, a.overlay, "a click beside it closes it")
	send(t, a, "?")
	clickOn(t, a, "esc closes")
	assert.Equal(t, none, a.overlay)
}

func TestTheAnswersToQuittingCanBeClicked(t *testing.T) {
	a, run := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "q")
	clickOn(t, a, "esc stay")
	assert.Equal(t, none, a.overlay)
	assert.False(t, run.stopped)
	send(t, a, "q")
	clickOn(t, a, "stop and quit")
	assert.True(t, run.stopped)
	assert.False(t, run.killed)
	assert.True(t, a.leaving)

	a, run = dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "q")
	clickOn(t, a, "stop at once")
	assert.True(t, run.killed)
}

func TestBordersCanBeClicked(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		a, run := dashApp(t, Options{ASCII: ascii}, 2, 10*time.Second, 120, 40)
		run.gone = true
		pass(t, a, run, 2*time.Second)
		d := a.top().(*dashboard)
		clickOn(t, a, "changes ")
		assert.Equal(t, tabChanges, d.lower)
		clickOn(t, a, "errors ")
		assert.Equal(t, tabErrors, d.lower)
		clickOn(t, a, "tracks")
		assert.Equal(t, tabTracks, d.lower)
		clickOn(t, a, "operations ")
		assert.Equal(t, tabOps, d.lower)
		clickOn(t, a, "Latency")
		assert.True(t, d.logAxis)
		assert.Contains(t, picture(t, a), "log")
		clickOn(t, a, "Latency")
		assert.False(t, d.logAxis)
	}
}

func TestWhatABorderSaysCanBeClicked(t *testing.T) {
	a, _ := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "t")
	clickOn(t, a, "esc closes")
	assert.False(t, a.top().(*dashboard).tuner.open)

	b := newDemoBench()
	a, _ = pickApp(t, b, Options{}, 80, 24)
	clickOn(t, a, "enter starts")
	assert.Len(t, b.started, 1)

	a, r, rb := resultsApp(t, Options{}, 80, 24)
	send(t, a, "e")
	before := r.export.chosen()
	clickOn(t, a, "─ Export")
	assert.Equal(t, before, r.export.chosen(), "the upper border is no format")
	clickOn(t, a, "enter writes")
	assert.Len(t, rb.exported, len(before))
}
