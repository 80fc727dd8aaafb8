package results

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
)

// What held the run back is a headline and a bar for each figure, and each other period a row.
func TestTheLimitIsDrawn(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	l := *r.run.loaded
	long := rundir.WhyPart{From: 10, To: 60, Resource: "store's main thread", Limit: "the store's main thread", Text: "The store's main thread held the run back.", Uses: []rundir.Use{
		{What: "store's main thread", Used: 0.89, Of: 1, Unit: rundir.UsedProcessors, Limit: true}, {What: "perfbench", Used: 0.84, Of: 2, Unit: rundir.UsedProcessors},
	}}
	short := rundir.WhyPart{From: 0, To: 10, Resource: "pacing", Limit: "the requested rate", Hint: "no resource was at its limit", Text: "The requested rate set the pace; no resource was at its limit.", Uses: []rundir.Use{
		{What: "requested rate", Used: 20000, Of: 20000, Unit: "entries/s", Limit: true},
	}}
	page := func(w int) string { return ansi.Strip(strings.Join(l.limits(a.Env.Styles, w), "\n")) }
	l.why = &rundir.Why{Parts: []rundir.WhyPart{long}}
	assert.Regexp(t, `^\nLimited by    the store's main thread\nstore's main thread  █+.─*  0.89 of 1 processor\nperfbench            █+.?─+  0.84 of 2 processors$`, page(116))
	l.why = &rundir.Why{Parts: []rundir.WhyPart{short, long}}
	for _, w := range []int{56, 76, 116, 166} {
		text := page(w)
		assert.Contains(t, text, "00:10 to 01:00", "%d cells", w)
		assert.Contains(t, text, "00:00 to 00:10  the requested rate: 20k of 20k entries/s", "%d cells", w)
		require.NotContains(t, text, "held the run back", "the headline says it")
	}
	f := &rundir.Folder{Run: l.folder.Run}
	f.Run.Why = l.why
	causes := report.Causes(f)
	assert.Equal(t, "the requested rate for 10 s, then the store's main thread for 50 s", causes[len(causes)-1].Text)
	assert.Contains(t, page(116), "\nLimited by    "+causes[len(causes)-1].Text+"\n", "the first page says the same")
	assert.Contains(t, page(116), "\nUsed in the 50 s limited by the store's main thread:\nstore's main thread  ")
	a.Env.Styles.Spoken = true
	assert.Contains(t, page(1000), "store's main thread 0.89 of 1 processor\nperfbench 0.84 of 2 processors")
}

// VALID says what was looked at for it, at once; a run in doubt says first what casts it.
func TestTheVerdictSaysWhatWasChecked(t *testing.T) {
	a, r, _ := show(t, 120, 40)
	l := r.run.loaded
	page := ansi.Strip(strings.Join(l.judged(a.Env.Styles, 116), "\n"))
	require.Equal(t, "VALID", l.folder.Run.Verdict.State)
	assert.Regexp(t, `^✓ VALID\n\nChecked\n(✓|!) `, page)
	n := len(l.folder.Run.Checked())
	assert.Len(t, l.checked(a.Env.Styles, 40), n+2, "a line for each where there is no room for two")
	assert.Len(t, l.checked(a.Env.Styles, 116), (n+2)/3+2)
	b, d := doubted(t, 120, 40)
	d.run.loaded.folder.Run.Verdict.Causes = []string{"samples"}
	page = ansi.Strip(strings.Join(d.run.loaded.judged(b.Env.Styles, 116), "\n"))
	assert.Greater(t, strings.Index(page, "Checked, and right"), strings.Index(page, "Limited by"))
	assert.NotContains(t, page[strings.Index(page, "Checked"):], "calls for p99", "it is told in full above")
}
