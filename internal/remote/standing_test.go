package remote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a member may come to, event by event: a star is one that nobody waits for.
func TestHowAMemberStands(t *testing.T) {
	for events, want := range map[string]string{
		"":                               "working",
		"heard outwaited":                "working",
		"quiet":                          "stalled",
		"quiet quiet vanished quiet":     "stalled",
		"vanished heard":                 "working",
		"quiet outwaited":                "stalled*",
		"vanished outwaited outwaited":   "gone*",
		"vanished outwaited quiet":       "gone*",
		"quiet outwaited vanished":       "stalled*",
		"quiet outwaited heard":          "working",
		"quiet outwaited heard quiet":    "stalled",
		"finished heard quiet outwaited": "ended",
		"quiet finished vanished":        "ended",
		"quiet outwaited finished heard": "ended*",
		"finished unusable":              "refused",
		"vanished outwaited unusable":    "refused*",
		"unusable finished heard quiet":  "refused",
	} {
		s := standing{now: Working}
		for _, name := range strings.Fields(events) {
			e := map[string]event{"heard": heard, "quiet": quiet, "vanished": vanished, "outwaited": outwaited, "finished": finished, "unusable": unusable}[name]
			was := s
			changed := s.on(e)
			assert.Equal(t, was != s, changed, "%s: %s", events, name)
		}
		star := ""
		if s.lost {
			star = "*"
		}
		assert.Equal(t, want, string(s.now)+star, events)
		assert.Equal(t, s.lost || s.now == Ended || s.now == Refused, s.done(), events)
	}
	assert.Equal(t, Ended, standing{now: Refused}.shown())
}

// Whoever is through stays, and nobody has a part again that another has.
func TestWhatAMemberHasToDo(t *testing.T) {
	d := working
	d.idle()
	assert.Equal(t, staying, d)
	assert.True(t, d.through())
	for _, other := range []duty{released, passed, dismissed} {
		d = other
		d.idle()
		assert.Equal(t, other, d)
		assert.Equal(t, other != released, d.passedOn())
	}
}
