package results

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
)

// What was changed and set comes before the defaults, nothing is cut at any width, and what a usual run has is seen
// whole from 120x40 on.
func TestSettingsBeginWithWhatWasSet(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	f := &rundir.Folder{Run: r.run.loaded.folder.Run}
	run := &f.Run
	run.Settings = map[string]float64{"threads": 16, "rate": 5000, "payload": 1024}
	run.Parameters = map[string]string{"duration": "60s", "testCase": "putall", "mapNames": strings.Repeat("eligibility,profile,", 12)}
	run.Origins = map[string]string{"threads": "default", "rate": "flag --rate", "payload": "preset small", "duration": "flag --duration", "testCase": "flag --set", "mapNames": "default"}
	for i := range 40 {
		run.Parameters[fmt.Sprintf("some.name.%02d", i)] = "a value"
		run.Origins[fmt.Sprintf("some.name.%02d", i)] = "default"
	}
	run.Changes = []rundir.Change{{At: 5, Name: "threads", From: 16, To: 32, By: "workbench", Segment: 1}}
	run.Segments = []rundir.Segment{{To: 5, Settings: run.Settings}, {From: 5, To: 60, Settings: map[string]float64{"threads": 32, "rate": 5000, "payload": 1024}}}
	l := &loadedRun{folder: f}
	for _, w := range []int{56, 76, 116, 166} {
		lines := l.values(a.Env.Styles, w, 34)
		page := ansi.Strip(strings.Join(lines, "\n"))
		for _, line := range lines {
			assert.LessOrEqual(t, ansi.StringWidth(line), w)
		}
		at := -1
		for _, want := range []string{"Changed during the run", "threads  16 → 32", "Set by flags", "From preset small", "payload  1 KiB"} {
			next := strings.Index(page, want)
			assert.Greater(t, next, at, "%s in %s", want, page)
			at = next
		}
		assert.Regexp(t, `testCase +putall  --set`, page, "the flag has another name")
		assert.Regexp(t, `rate +5000\b`, page)
		assert.NotContains(t, page, "--rate")
		assert.NotContains(t, page, "…")
		assert.Equal(t, 12, strings.Count(page, "eligibility,"), "the whole value")
		assert.Contains(t, page, "Defaults")
		assert.Contains(t, page, "Where it ran")
		if w >= twoColumns {
			assert.LessOrEqual(t, len(lines), 34, page)
		}
	}
}
