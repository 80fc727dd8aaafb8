package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What somebody does at once is one act: the presses of a key, an undo of several tracks, a
// reset of several knobs.
func TestChangesThatAreOneAct(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, next Change
		is      bool
	}{
		{"a key pressed twice", Change{Name: "threads", By: "workbench"}, Change{Name: "threads", By: "workbench"}, true},
		{"another segment", Change{Name: "threads", By: "workbench"}, Change{Name: "threads", By: "workbench", Segment: 1}, false},
		{"another knob", Change{Name: "threads", By: "workbench"}, Change{Name: "rate", By: "workbench"}, false},
		{"the same knob of the next track", Change{Name: "feed.threads", By: ByUndo}, Change{Name: "claims.threads", By: ByUndo}, true},
		{"a turn and its undo", Change{Name: "threads", By: "workbench"}, Change{Name: "threads", By: ByUndo}, false},
		{"a reset", Change{Name: "feed.threads", By: ByReset}, Change{Name: "claims.payload", By: ByReset}, true},
		{"two of the timetable", Change{Name: "feed.threads", By: ByTimetable}, Change{Name: "claims.threads", By: ByTimetable}, false},
		{"steps of a ramp", Change{Name: "rate", By: ByTimetable, Ramp: 1}, Change{Name: "rate", By: ByTimetable, Ramp: 1}, false},
		{"a pause and its end", Change{Name: "paused", By: "workbench", To: 1}, Change{Name: "paused", By: "workbench"}, false},
	} {
		assert.Equal(t, c.is, c.a.Joins(c.next), c.name)
	}
}
