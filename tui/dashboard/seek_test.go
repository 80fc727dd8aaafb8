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

// What is said above the table of a search is what the table has: no level is too much that it has in doubt or as one
// that held.
func TestWhatASearchKnowsIsWhatItsTableHas(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	yes := func(level float64) find.Step { return find.Step{Level: level, Held: true} }
	no := func(level float64) find.Step { return find.Step{Level: level, Why: "p99<20ms did not hold"} }
	unsure := func(level float64) find.Step {
		return find.Step{Level: level, Doubtful: true, Why: "p99<20ms is in doubt"}
	}
	maybe := find.Step{Level: 38000, Held: true, Doubtful: true}
	for _, c := range []struct {
		steps       []find.Step
		known, last string
	}{
		{nil, "nothing is known yet", "ended by you before a level was tried to its end"},
		{[]find.Step{no(45000)}, "45k is too much", "known so far: not 45k"},
		{[]find.Step{yes(31300)}, "31.3k holds, and more may", "known so far: held 31.3k"},
		{[]find.Step{yes(31300), unsure(32000), unsure(32000)}, "31.3k holds · 32k is in doubt", "held 31.3k, 32k in doubt"},
		{[]find.Step{yes(31300), unsure(32000), unsure(32000), yes(32000), yes(41400), unsure(43300), yes(43300)}, "41.4k holds · 43.3k is in doubt", "held 41.4k, 43.3k in doubt"},
		{[]find.Step{maybe, no(45000), no(45000)}, "38k holds, in doubt · 45k is too much", "held 38k, not 45k"},
	} {
		now := &screen.Search{Result: find.Result{Over: find.OverRate, Under: []string{"p99<20ms"}, Steps: c.steps}}
		assert.Equal(t, c.known, ansi.Strip(known(s, now)))
		assert.Contains(t, ended(now), c.last)
	}
}
