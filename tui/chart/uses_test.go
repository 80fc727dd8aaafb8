package chart

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/widget"
)

// Bars stand below each other and fit, the figures follow them, and what was at its limit has a colour of its own.
func TestWhatWasUsedIsDrawnAsBars(t *testing.T) {
	t.Parallel()
	s := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	uses := []rundir.Use{
		{What: "store's main thread", Used: 0.5, Of: 1, Unit: rundir.UsedProcessors, Limit: true},
		{What: "perfbench", Used: 0.84, Of: 2, Unit: rundir.UsedProcessors, Note: "0.13 more polling for replies"},
		{What: "store", Used: 0.3, Unit: rundir.UsedProcessors},
	}
	long := []rundir.Use{{What: "store's main thread", Used: 0.5, Of: 1, Unit: rundir.UsedProcessors}, {What: "requested rate", Used: 20.1e3, Of: 20e3, Unit: "transactions/s", Limit: true}}
	assert.NotContains(t, strings.Join(Uses(s, long, 56), ""), "…", "the longest unit has room on the smallest screen")
	for _, w := range []int{56, 76, 116, 166} {
		lines := Uses(s, uses, w)
		var bars []int
		for _, l := range lines {
			assert.LessOrEqual(t, ansi.StringWidth(l), w)
			if plain := ansi.Strip(l); strings.Contains(plain, "█") {
				bars = append(bars, ansi.StringWidth(plain[:strings.Index(plain, "█")]))
			}
		}
		assert.Equal(t, []int{21, 21}, bars, "%d cells", w)
		assert.Contains(t, ansi.Strip(lines[0]), "0.5 of 1 processor")
		colour, _, _ := strings.Cut(s.Accent.On("x"), "x")
		assert.Contains(t, lines[0], colour+"█")
		assert.NotContains(t, strings.Join(lines[1:], ""), colour, "nothing else was at its limit")
		assert.Contains(t, strings.Join(lines, " "), "0.13 more polling for replies")
		if half := strings.Count(lines[0], "█"); assert.Positive(t, half) {
			assert.Equal(t, half, strings.Count(lines[0], "─"), "half of it was used")
		}
	}
	s.Spoken = true
	lines := Uses(s, uses, 1000)
	require.Len(t, lines, 3)
	assert.Equal(t, "perfbench 0.84 of 2 processors, 0.13 more polling for replies", lines[1])
	assert.Equal(t, "store 0.3 processors", lines[2])
}
