package picker

import (
	"testing"

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
