package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What somebody does at once is one act: the quick presses of a key, an undo of several tracks, a
// reset of several knobs.
func TestChangesThatAreOneAct(t *testing.T) {
	at := func(seconds float64, segment int, c Change) Change {
		c.At, c.Segment = time.Duration(seconds*float64(time.Second)), segment
		return c
	}
	for _, c := range []struct {
		name    string
		a, next Change
		is      bool
	}{
		{"a key pressed twice", Change{Name: "threads", By: "workbench"}, at(0.1, 0, Change{Name: "threads", By: "workbench"}), true},
		{"in another segment", Change{Name: "threads", By: "workbench"}, at(1.5, 1, Change{Name: "threads", By: "workbench"}), true},
		{"and later", Change{Name: "threads", By: "workbench"}, at(2.5, 1, Change{Name: "threads", By: "workbench"}), false},
		{"another knob", Change{Name: "threads", By: "workbench"}, Change{Name: "rate", By: "workbench"}, false},
		{"another hand", Change{Name: "threads", By: "workbench"}, Change{Name: "threads", By: "watcher"}, false},
		{"the same knob of the next track", Change{Name: "feed.threads", By: ByUndo}, Change{Name: "claims.threads", By: ByUndo}, true},
		{"a turn and its undo", Change{Name: "threads", By: "workbench"}, Change{Name: "threads", By: ByUndo}, false},
		{"a reset", Change{Name: "feed.threads", By: ByReset}, Change{Name: "claims.payload", By: ByReset}, true},
		{"tracks at one moment of the timetable", Change{Name: "feed.threads", By: ByTimetable}, Change{Name: "claims.threads", By: ByTimetable}, true},
		{"two moments of the timetable", Change{Name: "threads", By: ByTimetable}, at(1, 1, Change{Name: "threads", By: ByTimetable}), false},
		{"steps of a ramp", Change{Name: "rate", By: ByTimetable, Ramp: 1}, at(9, 1, Change{Name: "rate", By: ByTimetable, Ramp: 1}), true},
		{"two ramps", Change{Name: "rate", By: ByTimetable, Ramp: 1}, Change{Name: "rate", By: ByTimetable, Ramp: 2}, false},
		{"a pause and its end", Change{Name: "paused", By: "workbench", To: 1}, Change{Name: "paused", By: "workbench"}, false},
	} {
		want := 2
		if c.is {
			want = 1
		}
		assert.Len(t, Acts([]Change{c.a, c.next}), want, c.name)
	}
}

// An act goes from where it began to where it ended, in each track.
func TestAnActIsWhole(t *testing.T) {
	list := Acts([]Change{
		{At: 1e9, Name: "a.rate", From: 1, To: 2, Segment: 1}, {At: 1e9, Name: "b.rate", From: 5, To: 6, Segment: 1},
		{At: 2e9, Name: "a.rate", From: 2, To: 4, Segment: 2},
		{At: 3e9, Name: "rate", From: 10, To: 20, By: ByTimetable, Ramp: 1, Segment: 3},
		{At: 4e9, Name: "threads", From: 1, To: 2, Segment: 4},
		{At: 5e9, Name: "rate", From: 20, To: 40, By: ByTimetable, Ramp: 1, Segment: 5},
	})
	assert.Len(t, list, 3, "a ramp goes on while something else is done")
	assert.Equal(t, []Change{{At: 1e9, Name: "a.rate", From: 1, To: 4, Segment: 1}, {At: 1e9, Name: "b.rate", From: 5, To: 6, Segment: 1}}, list[0].Parts())
	assert.Equal(t, []time.Duration{1e9, 2e9}, []time.Duration{list[0].At, list[0].Until})
	assert.Equal(t, []float64{20, 40}, []float64{list[1].From, list[1].To}, "it begins where its first step came to")
	assert.Equal(t, 5, list[1].Last)
}
