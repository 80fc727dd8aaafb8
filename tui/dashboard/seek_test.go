package dashboard

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// What is said above the table of a search is what the table has: no level is too much that it has as unclear or as one
// that holds.
func TestWhatASearchKnowsIsWhatItsTableHas(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	yes := func(level float64) find.Step { return find.Step{Level: level, Held: true} }
	no := func(level float64) find.Step { return find.Step{Level: level, Why: "p99<20ms did not hold"} }
	unsure := func(level float64) find.Step {
		return find.Step{Level: level, Doubtful: true, Why: "p99<20ms is unclear"}
	}
	maybe := find.Step{Level: 38000, Held: true, Doubtful: true}
	for _, c := range []struct {
		steps []find.Step
		known string
	}{
		{nil, "nothing is known yet"},
		{[]find.Step{no(45000)}, "too much 45k"},
		{[]find.Step{yes(31300)}, "holds 31.3k"},
		{[]find.Step{unsure(32000)}, "unclear 32k"},
		{[]find.Step{yes(31300), unsure(32000), unsure(32000)}, "holds 31.3k · unclear 32k"},
		{[]find.Step{yes(31300), unsure(32000), unsure(32000), yes(32000), yes(41400), unsure(43300), yes(43300)}, "holds 41.4k · unclear 43.3k"},
		{[]find.Step{yes(31300), unsure(32000), maybe, no(45000), no(45000), yes(50000)}, "holds 31.3k · unclear 32k–38k · too much 45k"},
	} {
		now := &screen.Search{Result: find.Result{Over: find.OverRate, Under: []string{"p99<20ms"}, Steps: c.steps}}
		assert.Equal(t, c.known, ansi.Strip(known(s, now)))
	}
}
