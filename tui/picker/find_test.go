package picker

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/tuitest"
)

// What is seen is found first: labels before help, help before inner names. Without a hit
// the selection stays.
func TestAValueIsFoundByWhatIsSeen(t *testing.T) {
	rows := []row{{name: "preset", help: "values to begin with"}, {name: "threads", help: "for the timetable, too"}, {name: "at", help: "changes by the clock"}, {name: "attempts", help: "of a call"}}
	for _, c := range []struct {
		typed, want string
		matches     int
	}{
		{"timetable", "at", 2}, {"clock", "at", 1}, {"at", "attempts", 2}, {"nowhere", "preset", 0}, {"preset nowhere", "preset", 0}, {"call of", "attempts", 1},
	} {
		f := &form{rows: rows, find: &finder{}}
		for _, r := range c.typed {
			name := string(r)
			if r == ' ' {
				name = "space"
			}
			f.pressFind(tuitest.KeyPress(name))
		}
		assert.Equal(t, c.want, rows[f.at].name, c.typed)
		assert.Len(t, f.find.matches(rows), c.matches, c.typed)
	}
	f := &form{rows: rows, find: &finder{}}
	for _, k := range []string{"a", "t", "down", "down"} {
		f.pressFind(tuitest.KeyPress(k))
	}
	assert.Equal(t, "at", rows[f.at].name, "the last match stays")
}

func TestAFilterThatFindsNoValueSaysSo(t *testing.T) {
	f := &form{rows: []row{{name: "preset"}, {name: "threads"}}, find: &finder{}}
	assert.Equal(t, "/  · 2 of 2", f.find.title(f.rows))
	for _, k := range []string{"z", "z"} {
		f.pressFind(tuitest.KeyPress(k))
	}
	assert.Equal(t, "/ zz · nothing matches", f.find.title(f.rows))
}
