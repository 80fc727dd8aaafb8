package widget

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
	assert.Equal(t, `a higher "up to"; thresholds, tags and documents go to results`, Unflagged("a higher --to; --threshold, --tag and --format go to --out"))
	assert.Equal(t, `three runs of each ("runs a point" 3)`, Unflagged("three runs of each (--repeat 3)", NewRow("repeat", "runs a point", "", "")))
	assert.Equal(t, "several runs, or more", Unflagged("several runs (--repeat 5), or more"), "there is no such row")
	assert.Equal(t, "or  target embedded:  to go without one", Unflagged("or  --target embedded:  to go without one"))
	assert.Equal(t, "perfbench sweep --over speed=1,2 --rate 5; or rate 6", Unflagged("perfbench sweep --over speed=1,2 --rate 5; or --rate 6"), "a command keeps its flags")
	assert.Equal(t, "options of memtier_benchmark: --ratio 1:10; file gives it", Unflagged("options of memtier_benchmark: --ratio 1:10; --file gives it"))
}

func TestANumberKeepsItsUnit(t *testing.T) {
	assert.Equal(t, []string{"lateness of", "236 ms", "(88 %)."}, Wrap("lateness of 236 ms (88 %).", 12))
	assert.Equal(t, []string{"5 of", "10 MiB/s;", "a share of", "7 in all"}, Wrap("5 of 10 MiB/s; a share of 7 in all", 10))
}
