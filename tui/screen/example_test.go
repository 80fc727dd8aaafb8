package screen_test

import (
	"fmt"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// tally is a whole screen: it counts the runs that are kept, and opens the newest.
type tally struct {
	archive screen.Archive
	runs    []rundir.Run
	err     error
}

// Start asks for what is shown: Update and View touch neither disk nor network.
func (t *tally) Start(screen.Env) tea.Cmd { return screen.ReadHistory(t.archive) }

// Update takes one message.
func (t *tally) Update(msg tea.Msg, _ screen.Env) (screen.Screen, tea.Cmd) {
	switch msg := msg.(type) {
	case screen.HistoryMsg:
		t.runs, t.err = msg.Runs, msg.Err
	case tea.KeyPressMsg:
		k := t.bindings()
		switch {
		case key.Matches(msg, k.Choose):
			return t, screen.Open(screen.Results{ID: t.runs[0].ID})
		case key.Matches(msg, k.Back):
			return t, screen.Back
		}
	}
	return t, nil
}

// View draws the page, of exactly as many cells as there are.
func (t *tally) View(e screen.Env) string {
	body := []string{fmt.Sprintf(" runs kept: %d", len(t.runs))}
	if t.err != nil {
		body = widget.Indent(widget.Sentences(e.Styles, t.err, e.W-4))
	}
	lines := widget.Panel{Title: "Tally", Focused: true}.Draw(e.Styles, e.W, e.H-1, body)
	return widget.Page(e.W, e.H, append(lines, widget.Footer(e.Styles, e.W, t.Keys().Short)))
}

// Keys are those that work now: the others are disabled, and dim.
func (t *tally) Keys() widget.KeyMap {
	k := t.bindings()
	list := []key.Binding{k.Choose, k.Back, k.Help, k.Quit}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}

func (t *tally) bindings() widget.Bindings {
	k := widget.AllKeys
	k.Choose.SetEnabled(len(t.runs) > 0)
	return k
}

// The example of docs/internals.md shows the runs there are, and goes where it is asked to.
func TestTheExampleScreenCounts(t *testing.T) {
	b := tuitest.NewDemo()
	newest := b.Past[0].ID
	a := tuitest.NewStage(t, &tally{archive: b}, 60, 16)
	assert.Contains(t, a.Picture(t), fmt.Sprintf("runs kept: %d", len(b.Past)))
	a.Send(t, "enter", "esc")
	assert.Equal(t, []screen.Destination{screen.Results{ID: newest}}, a.Asked)
	assert.Equal(t, 1, a.Backs)
	b.Past = nil
	a = tuitest.NewStage(t, &tally{archive: b}, 60, 16)
	a.Send(t, "enter")
	assert.Empty(t, a.Asked, "there is nothing to open")
}
