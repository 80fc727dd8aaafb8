package results

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/tui/screen"
)

// P makes a plan of the run, as in the list of runs.
func TestAPlanOfTheRunIsMade(t *testing.T) {
	a, r, b := show(t, 120, 40)
	a.Send(t, "P")
	assert.True(t, r.Typing())
	assert.Contains(t, a.Picture(t), "Plan of 1 run, file: plan.yaml")
	a.Send(t, "enter")
	assert.Equal(t, []string{b.Past[0].ID}, b.Planned)
	require.Len(t, a.SetUp, 1)
	assert.Equal(t, "the plan is in plan.yaml", a.SetUp[0].Said)
	assert.Equal(t, r, a.SetUp[0].From, "esc in the form comes back here")
}

// D leads to the question in the list of runs, where the run can be brought back.
func TestTheRunIsDeletedInTheList(t *testing.T) {
	a, _, b := show(t, 120, 40)
	a.Send(t, "D")
	assert.Equal(t, []screen.Destination{screen.Runs{Delete: b.Past[0].ID}}, a.Asked)
}

// The note and the tags of a run are written where its results are, and shown at once.
func TestNoteAndTagsAreWrittenInResults(t *testing.T) {
	a, r, b := show(t, 120, 40)
	a.Send(t, "n")
	assert.True(t, r.Typing())
	a.Type(t, "cold cache")
	assert.Contains(t, a.Picture(t), ": cold cache")
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "note written")
	assert.Equal(t, "cold cache", b.Past[0].Note)
	a.Send(t, "#")
	a.Type(t, "build=7")
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "tags written")
	assert.Equal(t, map[string]string{"build": "7"}, b.Past[0].Tags)
	assert.False(t, r.run.changed, "it was read again")
	a.Send(t, "n", "esc")
	assert.False(t, r.Typing())
	assert.Zero(t, a.Backs, "esc leaves the note and not the screen")
}
