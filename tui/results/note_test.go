package results

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
