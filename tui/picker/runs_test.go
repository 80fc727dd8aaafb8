package picker

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
)

// What the list of all runs can do, the panel of those of a profile can too.
func TestTheRunsOfAProfileAreFilteredSortedAnnotatedAndDeleted(t *testing.T) {
	b := tuitest.NewDemo()
	p := New(Bench{Catalogue: b, Memory: b, Planner: b, Pinger: b, Runs: b}, request.Request{}, tuitest.RunParams())
	a := tuitest.NewStage(t, p, 120, 40)
	a.Send(t, "shift+tab")
	assert.Len(t, p.runs.runs(), 3)
	a.Send(t, "o")
	assert.Contains(t, a.Picture(t), "Earlier runs by throughput")
	a.Send(t, "/")
	a.Type(t, "mysql")
	assert.Contains(t, a.Picture(t), "/ mysql")
	a.Send(t, "enter")
	assert.Len(t, p.runs.runs(), 1)
	id := p.runs.runs()[0].ID
	a.Send(t, "n")
	a.Type(t, "quiet machine")
	assert.Contains(t, a.Picture(t), "Note: quiet machine")
	a.Send(t, "enter")
	assert.Equal(t, "quiet machine", p.runs.runs()[0].Note)
	a.Send(t, "D")
	assert.Contains(t, a.Picture(t), "Delete "+id)
	a.Send(t, "y")
	assert.Len(t, b.Past, 2)
	assert.Contains(t, a.Picture(t), "No run matches.")
	a.Send(t, "esc")
	assert.Len(t, p.runs.runs(), 2)
	assert.Equal(t, paneRuns, p.pane, "the first escape clears the filter")
}

// What is clicked is what is seen there, also in a list that is scrolled.
func TestAClickOnAListOfRunsThatIsScrolled(t *testing.T) {
	b := tuitest.NewDemo()
	one := b.Past[0]
	b.Past = nil
	for i := range 9 {
		one.ID = fmt.Sprint("run-", i)
		b.Past = append(b.Past, one)
	}
	a, p := pick(t, b, 80, 24)
	a.Send(t, "shift+tab")
	for range 8 {
		a.Send(t, "down")
	}
	a.Picture(t)
	list := pickerLayout(80, 24, len(p.list.all), p.pane).panes[paneRuns]
	a.Send(t, tea.MouseClickMsg{X: list.Min.X + 5, Y: list.Min.Y + 1, Button: tea.MouseLeft})
	assert.Equal(t, 8-(list.Dy()-3), p.runs.at, "the first that is visible")
}
