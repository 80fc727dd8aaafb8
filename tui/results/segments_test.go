package results

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Below each segment stands what the change that opened it did, and when and by whom it was made, at every width;
// the first segment was opened by none.
func TestSegmentsSayWhatTheirChangesDid(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	l := r.run.loaded
	require.Len(t, l.effects, 1)
	for _, w := range []int{56, 76, 116, 196} {
		var said []string
		lines := l.changes(a.Env.Styles, w)
		for i, line := range lines {
			line = ansi.Strip(line)
			assert.LessOrEqual(t, ansi.StringWidth(line), w)
			if text, is := strings.CutPrefix(line, "   → "); is {
				said = append(said, text)
				assert.Contains(t, ansi.Strip(strings.Join(lines[:i], "\n")), "1  00:30", "below its segment")
			}
		}
		require.Len(t, said, 1, "%d cells", w)
		assert.True(t, strings.HasPrefix(said[0], "00:30 threads 32 → 64"), said[0])
		e := &l.effects[0]
		assert.Equal(t, "00:30 "+e.Named()+" ("+e.By+")", said[0])
		page := ansi.Strip(strings.Join(lines, "\n"))
		for _, f := range e.Figures() {
			assert.Regexp(t, `       \S.*  `+regexp.QuoteMeta(f.Numbers())+" +"+regexp.QuoteMeta(f.Change()), page, "%d cells", w)
		}
		assert.Contains(t, page, map[bool]string{true: "median second's p50", false: "p50 of the median second, putall"}[w < 72])
		assert.Contains(t, strings.Join(strings.Fields(page), " "), e.Lacks())
	}
}

// Notes stand where they were made, below the segment or, of a run with one, alone.
func TestMarksStandWhereTheyWere(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	f := &rundir.Folder{Run: r.run.loaded.folder.Run}
	f.Run.Marks = []rundir.Mark{{At: 12, Note: "warm"}}
	page := ansi.Strip(strings.Join((&loadedRun{folder: f, effects: r.run.loaded.effects}).changes(a.Env.Styles, 116), "\n"))
	assert.Less(t, strings.Index(page, "◆ 00:12 warm"), strings.Index(page, "→ 00:30"), page)
	f.Run.Segments = f.Run.Segments[:1]
	f.Run.Marks = []rundir.Mark{{At: 41, Note: "the server was started again and came back empty"}}
	alone := (&loadedRun{folder: f}).changes(a.Env.Styles, 76)
	require.Len(t, alone, 1)
	assert.Contains(t, ansi.Strip(alone[0]), "◆ 00:41 the server was started again and came back empty")
	for _, line := range (&loadedRun{folder: f}).changes(a.Env.Styles, 40) {
		assert.LessOrEqual(t, ansi.StringWidth(line), 40)
	}
}

// The page counts segments as the first page does, and says why it numbers more.
func TestQuickPressesAreCountedAsTheyAreShown(t *testing.T) {
	a, _, _ := show(t, 120, 40)
	f := &rundir.Folder{}
	for i, at := range []float64{0, 6.2, 6.5, 6.8, 14.6} {
		f.Run.Segments = append(f.Run.Segments, rundir.Segment{From: at, To: at + 1, Settings: map[string]float64{"threads": 8 + float64(i)}})
		if i > 0 {
			f.Run.Changes = append(f.Run.Changes, rundir.Change{At: at, Name: "threads", From: 7 + float64(i), To: 8 + float64(i), By: "workbench", Segment: i})
		}
	}
	for _, w := range []int{56, 76, 116} {
		page := ansi.Strip(strings.Join((&loadedRun{folder: f}).changes(a.Env.Styles, w), "\n"))
		assert.Contains(t, page, "1–2")
		assert.Contains(t, page, fmt.Sprintf("Several in a row count as one, %d in all", f.Run.Mixes()), "%d cells", w)
	}
}
