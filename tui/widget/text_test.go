package widget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDaysAreSaidAsPeopleDo(t *testing.T) {
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"today 11:40":  now.Add(-20 * time.Minute),
		"today 00:00":  now.Add(-12 * time.Hour),
		"Sat 23:59":    now.Add(-12*time.Hour - time.Minute),
		"Tue 12:00":    now.Add(-5 * 24 * time.Hour),
		"27 Apr 12:00": now.Add(-6 * 24 * time.Hour),
		"3 Apr 12:00":  now.Add(-30 * 24 * time.Hour),
		"3 May 2025":   now.Add(-365 * 24 * time.Hour),
		"4 May 12:00":  now.Add(24 * time.Hour),
		"–":            {},
	} {
		assert.Equal(t, want, DayText(at, now))
	}
}

func TestWrapCountsCells(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"abcdefghij k", 4, []string{"abcd", "efgh", "ij k"}},
		{"日本語の note", 6, []string{"日本語", "の", "note"}},
		{"日本", 1, []string{"日", "本"}},
		{"a\nb", 9, []string{"a", "b"}},
	} {
		assert.Equal(t, c.want, Wrap(c.text, c.w), c.text)
	}
}

// What is said to users of the command line is said to those of the workbench in its words.
func TestTheWorkbenchNamesRowsRatherThanFlags(t *testing.T) {
	assert.Equal(t, "leave timetable out, or set compat=on and warm-up; not a-- b", Unflagged("leave --at out, or set --set compat=on and --warmup; not a-- b (flag)"))
	assert.Equal(t, "options of memtier_benchmark: --ratio 1:10; file gives it", Unflagged("options of memtier_benchmark: --ratio 1:10; --file gives it"))
}
