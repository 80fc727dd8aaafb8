package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tuitest"
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

// The line that counts the values which are not shown shows them.
func TestAClickShowsAllValues(t *testing.T) {
	a := pickApp(t, tuitest.NewDemo(), Options{}, 120, 40)
	require.NotContains(t, picture(t, a), "● supported")
	clickOn(t, a, "d shows 12 more")
	assert.Contains(t, picture(t, a), "● supported")
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
		assert.NotNil(t, a.asking(), "the click presses q, which asks")
		send(t, a, tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
		assert.Nil(t, a.asking(), "no answer is to stay")
		assert.False(t, run.Stopped)
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
	clickOn(t, a, "enter stay")
	assert.Nil(t, a.asking())
	assert.False(t, run.Stopped)
	send(t, a, "q")
	clickOn(t, a, "y quit")
	assert.True(t, run.Stopped)
	assert.False(t, run.Killed)
	assert.True(t, a.leaving)

	a, run = dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "q")
	clickOn(t, a, "ctrl+c at once")
	assert.True(t, run.Killed)
}

func TestBordersCanBeClicked(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		a, run := dashApp(t, Options{ASCII: ascii}, 2, 10*time.Second, 120, 40)
		run.Gone = true
		pass(t, a, run, 2*time.Second)
		clickOn(t, a, "changes ")
		assert.Contains(t, picture(t, a), " Changes ")
		clickOn(t, a, "errors ")
		assert.Contains(t, picture(t, a), " Errors ")
		clickOn(t, a, "tracks")
		assert.Contains(t, picture(t, a), " Tracks ")
		clickOn(t, a, "operations ")
		assert.Contains(t, picture(t, a), " Operations ")
		clickOn(t, a, "Latency")
		assert.Contains(t, picture(t, a), "log")
		assert.NotContains(t, picture(t, a), "entries/s  log")
		clickOn(t, a, "Latency")
		assert.Contains(t, picture(t, a), "entries/s  log")
		clickOn(t, a, "Latency")
		assert.NotContains(t, picture(t, a), "log")
	}
}

func TestWhatABorderSaysCanBeClicked(t *testing.T) {
	a, _ := dashApp(t, Options{}, 1, 3*time.Second, 80, 24)
	send(t, a, "t")
	clickOn(t, a, "esc closes")
	assert.NotContains(t, picture(t, a), "─ Tune ")

	b := tuitest.NewDemo()
	a = pickApp(t, b, Options{}, 80, 24)
	clickOn(t, a, "enter starts")
	assert.Len(t, b.Started, 1)

	b = tuitest.NewDemo()
	a = pickApp(t, b, Options{}, 120, 40)
	clickOn(t, a, "threads")
	clickOn(t, a, "S start  ")
	assert.Len(t, b.Started, 1, "the bottom line can be clicked")

	a, rb := resultsApp(t, Options{}, 80, 24)
	send(t, a, "e")
	before := strings.Count(picture(t, a), "[x]")
	clickOn(t, a, "─ Export")
	assert.Equal(t, before, strings.Count(picture(t, a), "[x]"), "the upper border is no format")
	clickOn(t, a, "enter writes")
	assert.Len(t, rb.Exported, before)
}

// Only the left button chooses: the others are the terminal's.
func TestOtherButtonsDoNothing(t *testing.T) {
	a := appAt(t, tuitest.NewDemo(), Options{}, screen.Runs{}, 120, 40)
	before := picture(t, a)
	for _, b := range []tea.MouseButton{tea.MouseRight, tea.MouseMiddle} {
		send(t, a, tea.MouseClickMsg{X: 10, Y: 6, Button: b}, tea.MouseClickMsg{X: 10, Y: 5, Button: b}, tea.MouseClickMsg{X: 2, Y: 39, Button: b})
		assert.Equal(t, before, picture(t, a))
	}
	send(t, a, tea.MouseClickMsg{X: 10, Y: 6, Button: tea.MouseLeft})
	assert.NotEqual(t, before, picture(t, a))
	at := picture(t, a)
	send(t, a, tea.MouseClickMsg{X: 10, Y: 36, Button: tea.MouseLeft})
	assert.Equal(t, at, picture(t, a), "below the rows there is nothing")
}
