package results

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/widget"
)

// Below each segment stands what the change that opened it did, in the words of the page of changes, at every
// width; the first segment was opened by none.
func TestSegmentsSayWhatTheirChangesDid(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	l := r.run.loaded
	require.Len(t, l.effects, 1)
	for _, w := range []int{56, 76, 116, 196} {
		var said []string
		lines := l.segments(a.Env.Styles, w)
		for i, line := range lines {
			line = ansi.Strip(line)
			assert.LessOrEqual(t, ansi.StringWidth(line), w)
			if text, is := strings.CutPrefix(line, "   → "); is {
				said = append(said, text)
				assert.Contains(t, ansi.Strip(strings.Join(lines[:i], "\n")), "\n1  00:30", "below its segment")
			}
		}
		require.Len(t, said, 1, "%d cells", w)
		assert.True(t, strings.HasPrefix(said[0], "threads 32 → 64: throughput "), said[0])
		told := l.effects[0].Text() + ": " + l.effects[0].Told(math.MaxInt)
		assert.Equal(t, widget.Wrap(told, w-5)[0], said[0])
	}
}

// Marks without a change among them have the width of the page, and nothing explains effects.
func TestMarksAloneHaveTheWholeWidth(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	f := &rundir.Folder{Run: r.run.loaded.folder.Run}
	f.Run.Marks = []rundir.Mark{{At: 41, Note: "the server was started again and came back empty"}}
	page := (&loadedRun{folder: f}).changes(a.Env.Styles, 76)
	require.Len(t, page, 2)
	assert.Contains(t, ansi.Strip(page[1]), "00:41  mark: the server was started again and came back empty")
	for _, line := range (&loadedRun{folder: f}).changes(a.Env.Styles, 40) {
		assert.LessOrEqual(t, ansi.StringWidth(line), 40)
	}
}
