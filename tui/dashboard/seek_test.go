package dashboard

import (
	"strings"
	"testing"
	"time"

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
		assert.Equal(t, c.known, ansi.Strip(known(s, now, 60)))
		assert.LessOrEqual(t, ansi.StringWidth(known(s, now, 34)), 34)
	}
}

// The way out of a search that measures perfbench has room in a narrow panel, too.
func TestTheWayOutHasRoom(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	try := find.Step{Level: 2000, Why: "p99<1ms did not hold", Ours: []string{"lateness"}}
	now := &screen.Search{Going: true, Result: find.Result{Over: find.OverRate, Under: []string{"p99<1ms"}, Steps: []find.Step{try, try}}}
	for w, want := range map[int]string{
		80: "perfbench was late, so this does not measure the store.|E ends it; f searches under p99.service<1ms.",
		42: "This does not measure the store.|E ends it; f searches the store alone.",
		32: "This does not measure the store.|E ends it; f searches the store|alone.",
	} {
		assert.Equal(t, want, ansi.Strip(strings.Join(wayOut(s, now, w), "|")))
	}
	now.Going, now.Why = false, "its time was up"
	assert.Empty(t, wayOut(s, now, 80), "the run ends as well")
}

// What is being tried is said in three lines, whatever is known of it, so that what is below stays where it is.
func TestWhatIsTriedIsSaidInThreeLines(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	for want, now := range map[string]*find.Trying{
		"trying 31.3k entries/s · 4 s||": nil,
		"trying 8k entries/s · 1 s, up to 6 s|too early to tell|then 16k if it holds, 4k if not":        {Level: 8000, Seconds: 1, Most: 6, IfHolds: 16000, IfNot: 4000},
		"trying 8k entries/s again in 6 s|the machine was crowded: waits for that to pass|":             {Level: 8000, Again: true, Waits: "the machine was crowded", Seconds: 2, Most: 8, IfHolds: 1},
		"trying 8k entries/s again · 4 s, up to 12 s|holds so far · tries on until sure|then 4k if not": {Level: 8000, Again: true, Seconds: 4, Most: 12, IfNot: 4000},
		"trying 8k entries/s · 3 s, up to 6 s|unclear yet: 2.11 % took longer, seconds vary|":           {Level: 8000, Seconds: 3, Most: 6, Open: "2.11 % took longer, seconds vary"},
	} {
		lines := trying(s, &screen.Search{Going: true, Trying: now, Result: find.Result{Over: find.OverRate, Unit: "entries"}}, 60, 31300, 4*time.Second)
		assert.Equal(t, want, ansi.Strip(strings.Join(lines, "|")))
		for _, l := range trying(s, &screen.Search{Going: true, Trying: now, Result: find.Result{Over: find.OverRate, Unit: "entries"}}, 36, 31300, 0) {
			assert.LessOrEqual(t, ansi.StringWidth(l), 36, l)
		}
	}
	waits := trying(s, &screen.Search{Going: true, Trying: &find.Trying{Level: 3180, Waits: "the machine was crowded", Seconds: 2, Most: 8}, Result: find.Result{Over: find.OverRate, Unit: "operations"}}, 32, 0, 0)
	assert.Equal(t, "trying 3.18k again in 6 s|the machine was crowded: waiting", ansi.Strip(strings.Join(waits[:2], "|")))
	first := trying(s, &screen.Search{Going: true}, 60, 0, 0)
	assert.Equal(t, "trying unlimited|to know where to begin|", ansi.Strip(strings.Join(first, "|")))
}

// Where the curve of a search will be is said until it has two levels, and what is below stays where it is.
func TestASearchSaysWhereItsCurveWillBe(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	of := func(levels ...float64) string {
		now := &screen.Search{Going: true, Result: find.Result{Over: find.OverRate, Under: []string{"p99<20ms"}}}
		for _, level := range levels {
			now.Steps = append(now.Steps, find.Step{Level: level, Held: true, Response: find.Times{P50: 1e6, P99: 4e6}})
		}
		return ansi.Strip(strings.Join(state(s, now, 60, 30, 1000, 0, 0), "\n"))
	}
	const said = "Latency is drawn here once two levels have been tried."
	one, two := of(1000), of(1000, 2000)
	assert.Contains(t, one, said)
	assert.NotContains(t, two, said)
	row := func(text string) int { return strings.Count(text[:strings.Index(text, "came out")], "\n") }
	assert.Equal(t, row(one), row(two))
}
