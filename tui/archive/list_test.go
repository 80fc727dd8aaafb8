package archive

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// list is the list of runs on a stage.
func list(t testing.TB, b *tuitest.Bench, w, h int) (*tuitest.Stage, *List) {
	t.Helper()
	hs := NewRuns(b, "", map[string]bool{}, nil)
	return tuitest.NewStage(t, hs, w, h), hs
}

func TestHistoryPictures(t *testing.T) {
	for _, c := range []struct {
		name  string
		w, h  int
		ascii bool
		steps []any
	}{
		{name: "120x40", w: 120, h: 40},
		{name: "80x24 chosen", w: 80, h: 24, steps: []any{"space", "down"}},
		{name: "60x16 filtering", w: 60, h: 16, steps: []any{"/", "m", "y", "s"}},
		{name: "80x24 ascii", w: 80, h: 24, ascii: true},
		{name: "80x24 sides", w: 80, h: 24, steps: []any{"down", "a", "down", "a", "down", "a", "G", "b"}},
		{name: "160x24", w: 160, h: 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := tuitest.NewDemo()
			past := tuitest.NewSweep(9)
			b.PastSweeps = []sweep.Kept{{ID: "260503-114500-ingestion-sweep", When: tuitest.Day.Add(11*time.Hour + 45*time.Minute), Result: &past}}
			doubtful := tuitest.NewSweep(14)
			doubtful.Runs[3].Verdict = "DEGRADED"
			b.PastSweeps = append(b.PastSweeps, sweep.Kept{ID: "260503-093000-ingestion-sweep", When: tuitest.Day.Add(9*time.Hour + 30*time.Minute), Result: &doubtful})
			b.PastGroups = []kept.Group{{ID: "260503-090000-ingestion-redis-compared", Kind: kept.Compare, When: tuitest.Day.Add(9 * time.Hour), Profile: "ingestion", Store: "redis", A: []string{"a"}, B: []string{"b"}, Answer: "p99 +58.7 %", Rate: math.NaN()}}
			search := b.Past[len(b.Past)-1]
			search.ID, search.Started, search.Sought = "260503-080000-ingestion-redis", tuitest.Day.Add(8*time.Hour), &rundir.Sought{Over: "rate", Found: 8400, TooMuch: 8700, Done: 8390, Complete: true}
			b.Past = append(b.Past, search)
			a, _ := list(t, b, c.w, c.h)
			a.ASCII = c.ascii
			a.Send(t, c.steps...)
			tuitest.Golden(t, a.Picture(t))
		})
	}
}

// Verdicts have their causes where there is room, and no column gives way to that.
func TestTheListSaysWhyARunIsInDoubt(t *testing.T) {
	for _, c := range []struct {
		w    int
		says bool
	}{{80, false}, {120, true}, {170, true}} {
		b := tuitest.NewDemo()
		heads := func() string {
			a, _ := list(t, b, c.w, 30)
			return strings.Split(a.Picture(t), "\n")[4]
		}
		b.Past[0].Verdict = rundir.Verdict{State: "DEGRADED"}
		before := strings.Fields(heads())
		b.Past[0].Verdict = rundir.Verdict{State: "DEGRADED", Causes: []string{"samples", "crowded"}, Reasons: []string{"too few calls", "others ran"}}
		a, _ := list(t, b, c.w, 30)
		assert.Equal(t, c.says, strings.Contains(a.Picture(t), "DEGRADED: samples"), a.Picture(t))
		assert.Equal(t, before, strings.Fields(heads()), c.w)
	}
}

// Moments are short where a cause has no room otherwise.
func TestACauseComesBeforeTheWordToday(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past[0].Profile = "ingestion-by-night-and-day"
	b.Past[0].Verdict = rundir.Verdict{State: "DEGRADED", Causes: []string{"scheduler"}, Reasons: []string{"perfbench waited"}}
	a, _ := list(t, b, 120, 30)
	assert.Regexp(t, `  11:52 .* DEGRADED: scheduler `, a.Picture(t))
}

// offered is what the hints offer, each with its key.
func offered(h *List) (out []string) {
	for _, b := range h.Keys().Short {
		if b.Enabled() {
			out = append(out, b.Help().Key+" "+b.Help().Desc)
		}
	}
	return out
}

func TestTagsAreListedWhereThereIsRoom(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past[1].Tags, b.Past[1].Note = map[string]string{"build": "17", "os": "a"}, "new index"
	a, _ := list(t, b, 120, 40)
	assert.Contains(t, a.Picture(t), "verdict  tags, note")
	assert.Regexp(t, ` 11:40 .* VALID +build=17 os=a · new ind`, a.Picture(t))
	a, _ = list(t, b, 80, 24)
	assert.Regexp(t, `  11:40 .* redis .* ✓ +VALID +# `, a.Picture(t), "store and verdict come before tags and notes")
	assert.NotContains(t, a.Picture(t), "build=17")
	b.Past[1].Verdict.Thresholds = []rundir.Threshold{{Expr: "p99<1us", Got: "2 ms"}}
	a, _ = list(t, b, 120, 40)
	assert.Regexp(t, ` 11:40 .* redis .* 3 +✗ +VALID · missed +build=17 os=a ·`, a.Picture(t))
	a, _ = list(t, tuitest.NewDemo(), 120, 40)
	assert.NotContains(t, a.Picture(t), "tags, note")
}

// Runs that began in the same minute have their seconds, and those that are under way are named
// above the list with the key that shows them.
func TestRunsOfOneMinuteAreToldApart(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past[1].Started = b.Past[0].Started.Add(7 * time.Second)
	b.Past[1].EndedBy = rundir.StillRunning
	a, h := list(t, b, 80, 24)
	assert.Contains(t, a.Picture(t), " 11:52:00   ingestion")
	assert.Contains(t, a.Picture(t), " 11:52:07   ingestion")
	assert.Contains(t, a.Picture(t), "Fri 17:05  ")
	assert.Contains(t, a.Picture(t), "▶ goes on: enter watches it")
	a.Send(t, "/")
	a.Type(t, "11:52:07")
	a.Send(t, "enter")
	assert.Equal(t, b.Past[1].ID, h.run().ID)
}

// Runs are deleted and archived from the list once that has been confirmed: the selected
// one, or all that the filter lists.
func TestRunsAreDeletedAndArchivedOnceThatIsConfirmed(t *testing.T) {
	b := tuitest.NewDemo()
	before := len(b.Past)
	a, h := list(t, b, 120, 40)
	first := h.run().ID
	a.Send(t, "space", "D")
	assert.Contains(t, a.Picture(t), "Delete "+first+"? u undoes it until you quit [y/N]")
	assert.NotContains(t, a.Picture(t), "that the filter lists")
	assert.Contains(t, a.Picture(t), "y delete ")
	assert.Contains(t, a.Picture(t), "Z archive, which u undoes")
	assert.True(t, h.Typing(), "q is an answer here")
	a.Send(t, "a")
	assert.Len(t, b.Past, before, "nothing but y is a yes")
	a.Send(t, "enter")
	assert.Len(t, b.Past, before)
	assert.False(t, h.Typing(), "enter leaves it")
	a.Send(t, "D", "y")
	assert.Len(t, b.Past, before-1)
	assert.NotContains(t, a.Picture(t), "1 chosen")
	assert.Contains(t, a.Picture(t), "1 run deleted; u brings it back until you quit")
	assert.NotEqual(t, first, h.run().ID)
	assert.Equal(t, "u bring back", offered(h)[0], "at any width")
	a.Send(t, "u")
	assert.NotContains(t, offered(h), "u bring back")
	assert.Contains(t, a.Picture(t), "1 deleted run brought back")
	assert.Len(t, b.Past, before)
	a.Send(t, "u")
	assert.Contains(t, a.Picture(t), "nothing to bring back")
	a.Send(t, "g", "D", "y")
	a.Send(t, "D", "Z")
	assert.Len(t, b.Past, before-1)
	assert.Len(t, b.Packed, 1, "archived in its place")
	assert.Regexp(t, `▸ .* archived `, a.Picture(t))
	a.Send(t, "D")
	assert.NotContains(t, a.Picture(t), "Z archive", "it is already")
	a.Send(t, "esc", "u")
	assert.Empty(t, b.Packed)

	profile := h.run().Profile
	a.Send(t, "Z")
	assert.Len(t, b.Packed, 1, "what can be undone is not asked")
	assert.Contains(t, a.Picture(t), "1 run archived; u takes it out again")
	a.Send(t, "u")
	assert.Empty(t, b.Packed)
	a.Send(t, "/")
	for _, letter := range profile {
		a.Send(t, string(letter))
	}
	a.Send(t, "enter", "Z")
	n := len(h.shown)
	require.Greater(t, n, 1)
	assert.Contains(t, a.Picture(t), fmt.Sprintf("archive all %d that the filter lists", n))
	a.Send(t, "a")
	assert.Len(t, b.Packed, n)
	assert.Contains(t, a.Picture(t), fmt.Sprintf("%d runs archived", n))
	assert.Regexp(t, `▸ .* archived `, a.Picture(t), "its row says so")
	assert.Contains(t, strings.Join(offered(h), " "), "u take out")
	a.Send(t, "u")
	assert.NotRegexp(t, `▸ .* archived `, a.Picture(t))
	assert.Contains(t, strings.Join(offered(h), " "), "D delete")
	assert.Len(t, b.Packed, n-1, "there is a way back")
	assert.Contains(t, a.Picture(t), "taken out of the archive: today 11:40, ingestion on redis")

	b.KeepErr = errors.New("results/x is left alone: its run is still going")
	a.Send(t, "D", "y")
	assert.Contains(t, a.Picture(t), "its run is still going")
	assert.Len(t, b.Past, before-1)
}

func TestRunsAreSortedAndAnnotated(t *testing.T) {
	b := tuitest.NewDemo()
	a, h := list(t, b, 120, 40)
	first := h.run().ID
	for _, c := range []struct {
		head string
		of   func(r *kept.Item) float64
	}{
		{"throughput ▼", func(r *kept.Item) float64 { rate, _, _ := r.Figures(); return rate }},
		{"p99 ▼", func(r *kept.Item) float64 { _, p99, _ := r.Figures(); return float64(p99) }},
		{"errors ▼", func(r *kept.Item) float64 { _, _, errors := r.Figures(); return float64(errors) }},
	} {
		a.Send(t, "o")
		assert.Contains(t, a.Picture(t), c.head)
		assert.Equal(t, first, h.run().ID, "the selected run stays selected")
		assert.True(t, slices.IsSortedFunc(h.shown, func(x, y int) int { return cmp.Compare(c.of(&h.rows[y]), c.of(&h.rows[x])) }), c.head)
	}
	a.Send(t, "o", "n")
	assert.True(t, h.Typing())
	a.Type(t, "cold cache")
	a.Send(t, "enter")
	assert.Regexp(t, `verdict +tags, note`, a.Picture(t))
	assert.Contains(t, a.Picture(t), "note written")
	a.Send(t, "/")
	a.Type(t, "cold")
	assert.Len(t, h.shown, 1, "it is filtered by")
	a.Send(t, "enter", "n", "ctrl+u", "enter")
	assert.Empty(t, h.shown)
}

// What is written goes to the run that was selected, also where runs have come above it since; and what was
// chosen stays so, as long as it is there.
func TestTheSelectionStaysWithItsRun(t *testing.T) {
	b := tuitest.NewDemo()
	a, h := list(t, b, 120, 40)
	a.Send(t, "space", "down")
	chosen, id := h.chosen, h.run().ID
	newer := b.Past[0]
	newer.ID, newer.Started = "260503-235900-ingestion-redis", tuitest.Day.Add(23*time.Hour+59*time.Minute)
	b.Past = append(slices.Clone(b.Past), newer)
	a.Send(t, screen.ReadHistory(b)())
	require.Equal(t, newer.ID, h.rows[0].ID())
	assert.Equal(t, id, h.run().ID)
	a.Send(t, "n")
	assert.Contains(t, a.Picture(t), "Note, "+h.run().Started.Format("15:04:05")+": ")
	a.Type(t, "x1")
	a.Send(t, "enter")
	assert.Equal(t, "x1", h.run().Note)
	assert.Equal(t, chosen, h.chosen)
	b.Past = slices.DeleteFunc(slices.Clone(b.Past), func(r rundir.Run) bool { return r.ID == chosen[0] })
	a.Send(t, screen.ReadHistory(b)())
	assert.Empty(t, h.chosen)
}

// A list that is opened to delete a run selects it and asks.
func TestTheListAsksWhetherToDeleteARun(t *testing.T) {
	b := tuitest.NewDemo()
	h := NewRuns(b, "", map[string]bool{}, nil)
	h.Deletes = b.Past[1].ID
	a := tuitest.NewStage(t, h, 120, 40)
	a.Perform(t, h.Start(a.Env))
	assert.Equal(t, b.Past[1].ID, h.run().ID)
	assert.Contains(t, a.Picture(t), "Delete "+b.Past[1].ID+"? u undoes it until you quit [y/N]")
	a.Send(t, "n")
	a.Send(t, screen.ReadHistory(b)())
	assert.False(t, h.Typing(), "it asks once")
}

// Words with a comma between are two tags, also behind tag=.
func TestWordsWithACommaAreTwoTags(t *testing.T) {
	b := tuitest.NewDemo()
	a, h := list(t, b, 120, 40)
	for _, typed := range []string{"base,slow", "tag=base,slow"} {
		a.Send(t, "#", "ctrl+u")
		a.Type(t, typed)
		a.Send(t, "enter")
		assert.Equal(t, []string{"base", "slow"}, h.run().TagWords(), typed)
		assert.Contains(t, a.Picture(t), "VALID    base slow")
	}
	a.Send(t, "#")
	assert.Contains(t, a.Picture(t), "(ci=7; by=me): base; slow")
}

// Tags are edited where they stand: all of them at once, refused with the reason.
func TestTagsAreEditedInTheList(t *testing.T) {
	b := tuitest.NewDemo()
	a, h := list(t, b, 120, 40)
	a.Send(t, "#")
	assert.True(t, h.Typing())
	a.Type(t, "build=7 host=big one")
	assert.Contains(t, a.Picture(t), "(ci=7; by=me): build=7 host=big one")
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "tags written")
	assert.Equal(t, map[string]string{"build": "7", "host": "big one"}, h.run().Tags)
	a.Send(t, "#")
	a.Type(t, "; build=8")
	a.Send(t, "enter")
	assert.Contains(t, a.Picture(t), "tag: build is given twice")
	assert.Len(t, h.run().Tags, 2, "what is refused changes nothing")
	assert.Contains(t, a.Picture(t), "; build=8", "and stays, to be put right")
	assert.True(t, h.Typing())
	a.Send(t, "esc", "/")
	a.Type(t, "build=7")
	assert.Len(t, h.shown, 1, "it is filtered by")
	a.Send(t, "enter", "#", "ctrl+u", "enter")
	assert.Empty(t, h.shown)
	assert.Contains(t, a.Picture(t), "tags removed")
}

func TestAnEmptyHistorySpeaks(t *testing.T) {
	a, _ := list(t, &tuitest.Bench{}, 80, 24)
	assert.Contains(t, a.Picture(t), "No runs yet.")
	a.Send(t, "enter", "space", "c", "down", "G", "esc")
	assert.Equal(t, 1, a.Backs)
}

func TestAHistoryThatCannotBeReadSaysWhy(t *testing.T) {
	a, h := list(t, tuitest.NewDemo(), 80, 24)
	a.Send(t, screen.HistoryMsg{Err: fault.Input(errors.New("list the runs in results: permission denied"), "name the folder of your runs with --out")})
	require.Error(t, h.err)
	assert.Contains(t, a.Picture(t), "permission denied")
	assert.Contains(t, a.Picture(t), "--out")
}

func TestFilteringRuns(t *testing.T) {
	a, h := list(t, tuitest.NewDemo(), 80, 24)
	a.Send(t, "/")
	a.Type(t, "redis 1140")
	assert.Len(t, h.shown, 1)
	a.Send(t, "enter", "enter")
	assert.Equal(t, []screen.Destination{screen.Results{ID: "260503-114000-ingestion-redis"}}, a.Asked)
	a.Send(t, "esc")
	assert.Len(t, h.shown, 3, "the first escape clears the filter")
	assert.Zero(t, a.Backs)
}

// The title says what the p99 of the listed runs is of, whatever the filter lets through.
func TestTheTitleOfTheListDoesNotChangeWithItsFilter(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past[0].Operations = append(b.Past[0].Operations, rundir.Operation{Track: "load", Op: "beside", Calls: 9, Count: 9})
	b.Past[0].Units = map[string]string{"load.beside": "others"}
	a, h := list(t, b, 80, 24)
	assert.Contains(t, a.Picture(t), "p99 of the counted operations")
	a.Send(t, "/")
	a.Type(t, "nowhere")
	assert.Empty(t, h.shown)
	assert.Contains(t, a.Picture(t), "p99 of the counted operations")
}

func TestRunsAreFilteredByWhatTheyWereAskedToDo(t *testing.T) {
	for _, sought := range []string{"threads=32", "threads 32", "redis threads 32"} {
		b := tuitest.NewDemo()
		a, h := list(t, b, 80, 24)
		a.Send(t, "/")
		a.Type(t, sought)
		assert.Equal(t, []string{b.Past[0].ID, b.Past[1].ID}, h.listed(), sought)
		assert.Equal(t, sought == "threads=32", strings.Contains(a.Picture(t), " 16 → 32 "), "the second was turned to it")
	}
}

func TestTwoRunsAreComparedTheEarlierFirst(t *testing.T) {
	a, h := list(t, tuitest.NewDemo(), 80, 24)
	a.Send(t, "c")
	assert.Contains(t, a.Picture(t), "choose two runs")
	for keys, says := range map[string]string{"a": "side B has no run yet: select another one and press b", "b": "side A has no run yet: select another one and press a", "space": "one run is chosen: select another one and press c"} {
		a.Send(t, keys, "c")
		assert.Contains(t, a.Picture(t), says)
		a.Send(t, keys)
	}
	a.Send(t, "space", "down", "c")
	assert.Equal(t, []screen.Destination{screen.Compare{A: []string{h.rows[1].ID()}, B: []string{h.rows[0].ID()}}}, a.Asked)
	a.Send(t, "space", "down", "space")
	assert.Equal(t, []string{h.rows[1].ID(), h.rows[2].ID()}, h.chosen, "of three the first goes")
}

// Somebody who stands on a sweep with a run chosen is not promised a comparison, and is told of its points.
func TestASweepIsNoSideOfAComparison(t *testing.T) {
	b, past := tuitest.NewDemo(), tuitest.NewSweep(9)
	b.PastSweeps = []sweep.Kept{{ID: "260503-114500-ingestion-sweep", When: tuitest.Day.Add(11*time.Hour + 45*time.Minute), Result: &past}}
	a, h := list(t, b, 80, 24)
	a.Send(t, "space", "down", "down")
	require.NotNil(t, h.run())
	assert.Contains(t, a.Picture(t), "c compares it with the selected one")
	a.Send(t, "up")
	require.NotEmpty(t, h.noSide())
	assert.NotContains(t, a.Picture(t), "c compares it")
	for _, k := range []string{"c", "space", "a", "b"} {
		a.Send(t, k)
		assert.Contains(t, a.Picture(t), "a sweep is no side", k)
	}
	assert.Empty(t, a.Asked)
}

// Repeats of a run are chosen, and put on a side, as a whole; folded or not, and their row shows it.
func TestRepeatsAreASideOfAComparison(t *testing.T) {
	b := tuitest.NewDemo()
	first := b.Past[0]
	var ids []string
	for i := range 3 {
		r := first
		r.ID, r.Started = fmt.Sprintf("260503-12100%d-ingestion-redis", i), tuitest.Day.Add(12*time.Hour+10*time.Minute+time.Duration(i)*time.Second)
		ids, b.Past = append(ids, r.ID), append(b.Past, r)
	}
	group := kept.Group{Kind: kept.Repeat, When: tuitest.Day.Add(12*time.Hour + 10*time.Minute), Profile: "ingestion", Store: "redis", Rate: 8000}
	repeats, none, compared := group, group, group
	repeats.ID, repeats.A = "repeats", ids
	none.ID, none.A, none.When = "none", []string{"deleted"}, group.When.Add(-time.Minute)
	compared.ID, compared.Kind, compared.A, compared.B, compared.When = "compared", kept.Compare, []string{"deleted"}, []string{first.ID}, group.When.Add(-2*time.Minute)
	b.PastGroups = []kept.Group{repeats, none, compared}
	a, h := list(t, b, 80, 24)
	on := func(id string) {
		t.Helper()
		a.Send(t, "g")
		for range h.shown {
			if h.current().ID() == id {
				return
			}
			a.Send(t, "down")
		}
		require.Fail(t, "not listed", id)
	}
	other := b.Past[1].ID

	on("repeats")
	a.Send(t, "space")
	a.Perform(t, h.Start(a.Env))
	assert.Contains(t, a.Picture(t), "▸ ●", "also once the list is read again")
	assert.Contains(t, a.Picture(t), "1 chosen")
	a.Send(t, "c")
	assert.ElementsMatch(t, ids, a.Asked[0].(screen.Noise).Runs, "alone they are compared with each other")
	on("repeats")
	a.Send(t, "space")
	on(other)
	a.Send(t, "c")
	two := a.Asked[1].(screen.Compare)
	assert.Equal(t, []string{other}, two.A, "it was before them")
	assert.ElementsMatch(t, ids, two.B)
	on("repeats")
	a.Send(t, "space", "right", "down")
	assert.Contains(t, ids, h.run().ID)
	assert.Contains(t, a.Picture(t), "▸ ●", "each of them is chosen")
	_, _, some := h.pair()
	assert.False(t, some, "none is compared with itself")
	on("repeats")
	a.Send(t, "space")
	assert.NotContains(t, a.Picture(t), "●")

	a.Send(t, "a")
	assert.ElementsMatch(t, ids, h.sides[0])
	assert.Contains(t, a.Picture(t), "A 3 · B 0")
	assert.Contains(t, a.Picture(t), "▸ A")
	a.Send(t, "down", "b")
	assert.Len(t, h.sides[0], 2, "a run is on one side alone")
	on("repeats")
	a.Send(t, "b")
	assert.ElementsMatch(t, ids, h.sides[1])
	a.Send(t, "b")
	assert.Equal(t, 0, len(h.sides[0])+len(h.sides[1]))

	for id, why := range map[string]string{"none": noneKept, "compared": "a comparison is no side"} {
		on(id)
		for _, k := range []string{"space", "a", "b", "c"} {
			a.Send(t, k)
			assert.Contains(t, a.Picture(t), why, k)
		}
	}
	assert.Len(t, a.Asked, 2)
}

func TestSeveralRunsASideAreCompared(t *testing.T) {
	a, h := list(t, tuitest.NewDemo(), 80, 24)
	id := func(i int) string { return h.rows[i].ID() }
	a.Send(t, "space", "a", "down", "a", "c")
	assert.Empty(t, a.Asked, "the selected run is on side A already")
	a.Send(t, "down", "c")
	assert.Equal(t, []screen.Destination{screen.Compare{A: []string{id(0), id(1)}, B: []string{id(2)}}}, a.Asked, "the selected run is the other side")
	assert.Equal(t, [2][]string{}, h.sides, "marks end with the comparison")
	a.Send(t, "up", "up", "a", "down", "a", "down", "b", "up", "b", "c")
	assert.Equal(t, screen.Compare{A: []string{id(0)}, B: []string{id(2), id(1)}}, a.Asked[1], "a run is on one side alone")
	a.Send(t, "b", "space")
	assert.Equal(t, []string{id(1)}, h.chosen)
	assert.Equal(t, [2][]string{}, h.sides, "space chooses two without sides")
}

// On 80 columns a long name of a profile does not take the room of the store, the word of the verdict and tags.
func TestStoreVerdictAndTagsAreListedOn80Columns(t *testing.T) {
	b := tuitest.NewDemo()
	b.Past[0].Tags = map[string]string{"build": "7"}
	done := tuitest.NewSweep(2, b.Past[1].ID)
	b.PastSweeps = []sweep.Kept{{ID: "260503-113000-ingestion-sweep", When: tuitest.Day.Add(11*time.Hour + 30*time.Minute), Result: &done}}
	a, _ := list(t, b, 80, 24)
	assert.Regexp(t, `profile +store +threads +result +p99 +verdict `, a.Picture(t))
	assert.Regexp(t, `▸ .* redis .* VALID +# `, a.Picture(t))
	assert.Regexp(t, `sweep ing[a-z]*… `, a.Picture(t))
}

// Marks that no row shows are named above the list, and esc ends all of them.
func TestMarksOutOfViewAreNamed(t *testing.T) {
	a, h := list(t, tuitest.NewDemo(), 120, 10)
	a.Send(t, "a")
	assert.Contains(t, a.Picture(t), "A 1 · B 0 ")
	assert.NotContains(t, a.Picture(t), "not in view")
	first := h.moments.Of(&h.rows[0], a.Env.Now) + " " + h.rows[0].Run.Profile
	a.Send(t, "G", "b")
	assert.Contains(t, a.Picture(t), "A 1 · B 1 · not in view: "+first+" · c compares them ")
	a.Env.W = 60
	assert.Contains(t, a.Picture(t), "A 1 · B 1 · 1 not in view ")
	a.Env.W = 120
	assert.Contains(t, a.Picture(t), "esc clear marks")
	a.Send(t, "esc")
	assert.Equal(t, [2][]string{}, h.sides)
	assert.Zero(t, a.Backs)
	a.Send(t, "esc")
	assert.Equal(t, 1, a.Backs)
}

// With three runs on one side, and the selected one among them, they are compared with each
// other.
func TestTheRunsOfOneSideAreComparedWithEachOther(t *testing.T) {
	a, h := list(t, tuitest.NewDemo(), 80, 24)
	a.Send(t, "a", "down", "a", "down", "a", "c")
	assert.Equal(t, []screen.Destination{screen.Noise{Runs: []string{h.rows[0].ID(), h.rows[1].ID(), h.rows[2].ID()}}}, a.Asked)
}

func TestRunsThatAreNoRepeatsSayNothingOfNoise(t *testing.T) {
	b := tuitest.NewDemo()
	a := tuitest.NewStage(t, NewNoise(b, []string{b.Past[0].ID}), 80, 24)
	assert.Contains(t, a.Picture(t), "The runs cannot be compared with each other")
	a.Send(t, "esc")
	assert.Equal(t, 1, a.Backs)
}

// What is done to the row of a sweep is done to all of its runs, and undone at once; a key that cannot do
// anything there says why.
func TestTheRunsOfASweepAreDeletedAndArchivedTogether(t *testing.T) {
	b := tuitest.NewDemo()
	past := tuitest.NewSweep(2)
	for i := range past.Runs {
		past.Runs[i].ID = b.Past[i].ID
	}
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", When: tuitest.Day.Add(12 * time.Hour), Result: &past}}
	all := len(b.Past)
	a, h := list(t, b, 80, 24)
	require.Len(t, h.current().Of, 2)
	a.Send(t, "Z")
	assert.ElementsMatch(t, []string{past.Runs[0].ID, past.Runs[1].ID}, b.Packed)
	assert.Contains(t, a.Picture(t), "2 runs archived; u takes them out again")
	a.Send(t, "Z")
	assert.Contains(t, a.Picture(t), "archived already; u takes them out again")
	a.Send(t, "u")
	assert.Contains(t, a.Picture(t), "taken out of the archive: 2 runs")
	assert.Empty(t, idsOf(h.current().Of, true))

	a.Send(t, "D")
	assert.Contains(t, a.Picture(t), "Delete 2 runs of the sweep? u undoes it until you quit [y/N]")
	a.Send(t, "enter")
	assert.Len(t, b.Past, all)
	a.Send(t, "D", "y")
	assert.Len(t, b.Past, all-2)
	assert.Contains(t, a.Picture(t), "2 runs deleted; u brings them back")
	require.Equal(t, kept.Sweep, h.current().Kind(), "what it came to is kept")
	for _, k := range []string{"D", "Z"} {
		a.Send(t, k)
		assert.Contains(t, a.Picture(t), "none of its runs is kept any more", k)
	}
	a.Send(t, "u")
	assert.Len(t, b.Past, all)
	for _, k := range []string{"n", "#"} {
		a.Send(t, k)
		assert.Contains(t, a.Picture(t), "a note or tags are written on a single run", k)
	}
}

func TestASweepIsOpenedAndNotCompared(t *testing.T) {
	b := tuitest.NewDemo()
	past := tuitest.NewSweep(14)
	b.PastSweeps = []sweep.Kept{{ID: "260503-120000-ingestion-sweep", When: tuitest.Day.Add(12 * time.Hour), Result: &past}}
	a, h := list(t, b, 120, 40)
	assert.Contains(t, a.Picture(t), "sweep ingestion threads")
	a.Send(t, "space", "a", "b", "enter")
	assert.Empty(t, h.chosen)
	assert.Equal(t, []screen.Destination{screen.Sweep{ID: b.PastSweeps[0].ID}}, a.Asked)
	a.Send(t, "/")
	a.Type(t, "sweep thr")
	assert.Len(t, h.shown, 1)
}

func TestSwappingTwoRunsComparesThemTheOtherWayRound(t *testing.T) {
	a, c := beside(t, 80, 24)
	a.Send(t, "v")
	assert.Equal(t, []screen.Destination{screen.Compare{A: c.b, B: c.a}}, a.Asked)
}

func TestARunThatIsChosenIsComparedWithTheSelectedOne(t *testing.T) {
	b := tuitest.NewDemo()
	h := NewRuns(b, b.Past[0].ID, map[string]bool{}, nil)
	a := tuitest.NewStage(t, h, 80, 24)
	a.Send(t, "down", "c")
	assert.Equal(t, []screen.Destination{screen.Compare{A: []string{b.Past[1].ID}, B: []string{b.Past[0].ID}}}, a.Asked)
}

// Somebody who comes from the results of a run to compare it chooses the other one with enter, and
// opens runs with it again once the first is deselected.
func TestEnterChoosesTheOtherSideOfAComparison(t *testing.T) {
	b := tuitest.NewDemo()
	h := NewRuns(b, b.Past[0].ID, map[string]bool{}, nil)
	a := tuitest.NewStage(t, h, 80, 24)
	assert.Contains(t, offered(h), "enter compare with this")
	a.Send(t, "enter")
	assert.Empty(t, a.Asked)
	assert.Contains(t, a.Picture(t), "this is the run itself")
	a.Send(t, "down", "enter")
	assert.Equal(t, []screen.Destination{screen.Compare{A: []string{b.Past[1].ID}, B: []string{b.Past[0].ID}}}, a.Asked)
	a.Send(t, "up", "space", "enter")
	assert.Equal(t, screen.Results{ID: b.Past[0].ID}, a.Asked[1])
	assert.Contains(t, offered(h), "enter open")
}

func TestEveryScreenOfRunsFillsEveryTerminal(t *testing.T) {
	first, _ := list(t, tuitest.NewDemo(), 120, 40)
	second, _ := beside(t, 120, 40)
	for w := widget.MinWidth; w <= 200; w += 11 {
		for h := widget.MinHeight; h <= 60; h += 7 {
			for _, a := range []*tuitest.Stage{first, second} {
				a.Send(t, tea.WindowSizeMsg{Width: w, Height: h})
				a.Picture(t)
			}
		}
	}
}

func TestALongHistoryScrolls(t *testing.T) {
	b := tuitest.NewDemo()
	for i := range 200 {
		r := b.Past[2]
		r.ID = fmt.Sprintf("old-%03d", i)
		b.Past = append(b.Past, r)
	}
	a, h := list(t, b, 120, 24)
	a.Send(t, "G")
	assert.Contains(t, a.Picture(t), "old-199")
	a.Send(t, "up", tea.MouseWheelMsg{X: 5, Y: 8, Button: tea.MouseWheelUp})
	assert.Equal(t, 198, h.at)
	a.Picture(t)
	y := 0
	for i, l := range strings.Split(a.Picture(t), "\n") {
		if strings.Contains(l, "old-190") {
			y = i
		}
	}
	a.Send(t, tea.MouseClickMsg{X: 20, Y: y, Button: tea.MouseLeft})
	assert.Equal(t, "old-190", h.current().ID())
}

func BenchmarkHistoryView(b *testing.B) {
	bench := tuitest.NewDemo()
	for range 1000 {
		bench.Past = append(bench.Past, rundir.Run{ID: "x", Profile: "ingestion"})
	}
	a, _ := list(b, bench, 120, 40)
	for b.Loop() {
		a.Top.View(a.Env)
	}
}

// The list follows runs of other terminals, and says which are going.
func TestAListFollowsRunsOfOtherTerminals(t *testing.T) {
	b := tuitest.NewDemo()
	a, h := list(t, b, 120, 40)
	other := b.Past[0]
	other.ID, other.EndedBy = "of-another-terminal", rundir.StillRunning
	other.Started = other.Started.Add(time.Hour)
	b.Past = append([]rundir.Run{other}, b.Past...)
	wait := func(d time.Duration) {
		for range d / (100 * time.Millisecond) {
			a.Send(t, a.Frame())
		}
	}
	wait(6 * time.Second)
	a.Send(t, "g")
	assert.Equal(t, "of-another-terminal", h.run().ID)
	assert.Contains(t, a.Picture(t), "▶  still running")
	assert.Contains(t, a.Picture(t), "enter watch")
	b.Past = slices.Clone(b.Past)
	b.Past[0].EndedBy = "duration"
	wait(1200 * time.Millisecond)
	assert.NotContains(t, a.Picture(t), "still running", "each second while one is going")
	b.Past = b.Past[1:]
	a.Env.Covered = true
	wait(6 * time.Second)
	assert.Equal(t, "of-another-terminal", h.run().ID, "what is covered reads nothing")
}

// The runs of a sweep stand below it, folded until they are asked for; a filter finds each by itself.
func TestTheRunsOfASweepStandBelowIt(t *testing.T) {
	b := tuitest.NewDemo()
	done := tuitest.NewSweep(2, b.Past[0].ID, b.Past[1].ID)
	b.PastSweeps = []sweep.Kept{{ID: "260503-113000-ingestion-sweep", When: tuitest.Day.Add(11*time.Hour + 30*time.Minute), Result: &done}}
	a, h := list(t, b, 120, 40)
	folded := a.Picture(t)
	assert.Regexp(t, `▸ \+  11:30 +sweep ingestion threads .* VALID · 2 of 14 done `, folded)
	assert.NotContains(t, folded, "today 11:52")
	assert.Contains(t, offered(h), "→ its runs")
	a.Send(t, "right")
	assert.Regexp(t, `▸ −  (today )?11:30 [^\n]*\n[^\n]*   ·  (today )?11:52 +threads 1 [^\n]*\n[^\n]*   ·  (today )?11:40 +threads 8 `, a.Picture(t))
	a.Send(t, "down", "space")
	assert.Equal(t, []string{b.Past[0].ID}, h.chosen)
	a.Send(t, "left")
	assert.NotContains(t, a.Picture(t), "today 11:52  ")
	assert.Equal(t, "260503-113000-ingestion-sweep", h.current().ID(), "the sweep is selected in place of its run")
	assert.NotContains(t, offered(h), "← hide its runs")
	a.Send(t, "/")
	a.Type(t, "11:52")
	a.Send(t, "enter")
	assert.Equal(t, b.Past[0].ID, h.run().ID)
	assert.Contains(t, a.Picture(t), " ingestion threads 1 ", "of which sweep it was a run is not said then, but at which value")
	assert.NotContains(t, offered(h), "→ its runs")
}

// What tags are to be like is still said where one was refused.
func TestTheExampleOfATagStaysAfterAMistake(t *testing.T) {
	for _, w := range []int{60, 80, 120} {
		a, _ := list(t, tuitest.NewDemo(), w, 24)
		a.Send(t, "#")
		a.Type(t, "1.4")
		a.Send(t, "enter")
		picture := a.Picture(t)
		assert.Contains(t, picture, "(ci=7; by=me): 1.4", w)
		assert.Contains(t, picture, `✗ tag: "1.4"`, w)
	}
}

// What is kept with a run stands in its row where there is room, beside brief verdicts if need be, and else a
// sign that there is something.
func TestTheListShowsOrMarksWhatIsKeptWithARun(t *testing.T) {
	for w, c := range map[int]struct {
		row    string
		marked bool
	}{
		120: {`ingestion .* VALID .* many · disk=nvme · cold`, false},
		84:  {`ingestion .* VALID +#`, true},
		80:  {`ingestion .* VALID +#`, true},
	} {
		b := tuitest.NewDemo()
		b.Past[0].Name, b.Past[0].Tags, b.Past[0].Note = "many", map[string]string{"disk": "nvme"}, "cold cache"
		a, h := list(t, b, w, 24)
		assert.Regexp(t, c.row, a.Picture(t), w)
		assert.Equal(t, c.marked, h.marked, w)
	}
}

// What is deleted leaves the selection where it was, and has its mark again when u brings it back.
func TestADeletedRunComesBackWithItsMark(t *testing.T) {
	b := tuitest.NewDemo()
	a, h := list(t, b, 120, 40)
	a.Send(t, "down", "a", "down", "b")
	sides, id := h.sides, h.run().ID
	require.Equal(t, []string{id}, sides[1])
	a.Send(t, "D", "y")
	assert.Empty(t, h.sides[1])
	assert.Equal(t, 1, h.at, "the last that is left")
	a.Send(t, "u")
	assert.Equal(t, sides, h.sides)
	assert.Equal(t, id, h.run().ID, "it is selected again")
	a.Send(t, "D", "y", "g", "u")
	assert.Equal(t, id, h.run().ID, "wherever the selection was meanwhile")
}

// Columns are the same at one width, whatever is written on runs and whatever their verdicts say, and a wider list has no
// fewer. What runs differ in is always there.
func TestTheColumnsOfTheListStay(t *testing.T) {
	heads := func(w int, change func(r *rundir.Run)) []string {
		b := tuitest.NewDemo()
		for i := range b.Past {
			change(&b.Past[i])
		}
		a, _ := list(t, b, w, 30)
		return strings.Fields(strings.Trim(strings.Split(a.Picture(t), "\n")[4], "│ "))
	}
	had := 0
	for _, w := range []int{60, 72, 80, 100, 120, 140, 170, 240} {
		plain := heads(w, func(*rundir.Run) {})
		much := heads(w, func(r *rundir.Run) {
			r.EndedBy, r.Verdict.State, r.Profile = rundir.CutShort, "DEGRADED", "ingestion-by-night-and-day"
			r.Note, r.Tags = "after the new kernel, with a cold cache and the other disk", map[string]string{"build": "1234567890"}
		})
		much = slices.DeleteFunc(much, func(head string) bool { return strings.HasPrefix(head, "tag") || strings.HasPrefix(head, "note") })
		assert.Equal(t, slices.DeleteFunc(plain, func(head string) bool { return head == "id" }), slices.DeleteFunc(much, func(head string) bool { return head == "id" }), w)
		assert.Contains(t, much, "threads", w)
		assert.GreaterOrEqual(t, len(much), had, w)
		had = len(much)
	}
	for w, want := range map[int][]int{
		56:  {leadColumn, whenColumn, nameColumn, toldColumn, resultColumn, p99Column, signColumn},
		76:  {leadColumn, whenColumn, nameColumn, toldColumn, toldColumn + 1, toldColumn + 2, resultColumn, p99Column, signColumn},
		116: {leadColumn, whenColumn, nameColumn, storeColumn, toldColumn, toldColumn + 1, toldColumn + 2, resultColumn, p99Column, lengthColumn, errorsColumn, signColumn, verdictColumn, notesColumn},
	} {
		cols := columns([]string{"threads", "rate", "payload", ""}, make([]int, 4), false, w)
		assert.Equal(t, want, cols, "%d: all of what differs", w)
	}
	differ, told := []string{"threads", "", "payload", ""}, []int{2, 0, mostTold, 0}
	assert.Equal(t, []int{leadColumn, whenColumn, nameColumn, storeColumn, toldColumn, resultColumn, p99Column, signColumn, verdictColumn}, columns(differ, told, true, 74), "stores that differ stay, and a payload that would be cut gives way")
}

// What runs differ in is in the list at every size, and where there is more room the word of the verdict, the store and the
// number of errors: moments are short for that.
func TestTheListKeepsAWordForTheVerdict(t *testing.T) {
	for w, row := range map[int]string{
		60:  `ingestion +16–32 .* ~12 ms +✓ `,
		80:  ` 11:40 +ingestion +redis +16–32 .* ~12 ms +✓ +VALID `,
		100: ` today 11:40 +ingestion +redis +16–32 .* ~12 ms .* 3 +✓ +VALID `,
	} {
		a, _ := list(t, tuitest.NewDemo(), w, 24)
		assert.Regexp(t, row, a.Picture(t), "%d", w)
	}
}

// A setting is never cut to what is alike in all rows, and a verdict never within its word.
func TestTheListCutsNoSettingAndNoVerdict(t *testing.T) {
	for _, w := range []int{60, 80, 100, 120, 160} {
		b := tuitest.NewDemo()
		for i := range b.Past {
			b.Past[i].Settings = map[string]float64{"threads": 4, "rate": 100_000, "feed.payload": 1024, "profile.payload": 1536, "check.payload": float64(int(64) << i)}
			b.Past[i].Verdict.State, b.Past[i].EndedBy = "DEGRADED", "fault: x"
		}
		a, _ := list(t, b, w, 24)
		assert.NotRegexp(t, `(KiB|,|1)…|DEGRADE…`, a.Picture(t), "%d", w)
	}
}

// A plan is made of the marked runs, or of the selected one, and opened: on its page, or in the form.
func TestRunsBecomeAPlan(t *testing.T) {
	b := tuitest.NewDemo()
	a, h := list(t, b, 120, 40)
	a.Perform(t, h.Start(a.Env))
	a.Send(t, "P")
	assert.Contains(t, a.Picture(t), "Plan of 1 run, file: plan.yaml")
	assert.Contains(t, a.Picture(t), "enter write the plan")
	a.Send(t, "esc")
	assert.Empty(t, b.Planned)
	a.Send(t, "P", "enter")
	assert.Equal(t, []string{b.Past[0].ID}, b.Planned)
	require.Len(t, a.SetUp, 1)
	assert.Equal(t, "the plan is in plan.yaml", a.SetUp[0].Said)
	h.rows[h.place(b.Past[0].ID)].Run.Changes = []rundir.Change{{By: measure.BySearch}}
	a.Send(t, "P", "enter")
	assert.Equal(t, "the plan is in plan.yaml, without the search: f searches again", a.SetUp[1].Said)
	a.Send(t, "a", "down", "a", "down", "b", "P")
	a.Type(t, "night.yaml")
	a.Send(t, "enter")
	assert.Equal(t, []string{b.Past[0].ID, b.Past[1].ID, b.Past[2].ID}, b.Planned)
	require.Len(t, a.Asked, 1)
	made := a.Asked[0].(screen.Suite)
	assert.Equal(t, "night.yaml", made.Path)
	s := NewSuite(b, made)
	assert.Contains(t, s.View(a.Env), "the plan is in night.yaml")
	s.Tell("", a.Env)
	assert.NotContains(t, s.View(a.Env), "written to", "until the next key")
}

// Where no run passes the filter, the keys on one say so.
func TestKeysSayThatNoRunMatches(t *testing.T) {
	a, _ := list(t, tuitest.NewDemo(), 80, 24)
	a.Send(t, "/")
	a.Type(t, "qx")
	a.Send(t, "enter")
	for _, k := range []string{"enter", "space", "a", "c", "P", "n", "D", "u"} {
		a.Send(t, k)
		assert.Contains(t, a.Picture(t), `no run matches "qx": esc clears the filter`, k)
		a.Env.Now = a.Env.Now.Add(time.Minute)
		a.Send(t, a.Frame())
	}
}

// A plan of a sweep is one of its runs that are kept; where none is, that is said.
func TestTheRunsOfASweepBecomeAPlan(t *testing.T) {
	b := tuitest.NewDemo()
	past := tuitest.NewSweep(9)
	b.PastSweeps = []sweep.Kept{{ID: "260503-124500-ingestion-sweep", When: tuitest.Day.Add(12*time.Hour + 45*time.Minute), Result: &past}}
	a, h := list(t, b, 120, 40)
	a.Perform(t, h.Start(a.Env))
	a.Send(t, "g", "P")
	assert.Contains(t, a.Picture(t), noneKept)
	assert.Empty(t, b.Planned)
	past.Runs[0].ID, past.Runs[1].ID = b.Past[0].ID, b.Past[1].ID
	a.Perform(t, h.Start(a.Env))
	a.Send(t, "g", "P", "enter")
	assert.ElementsMatch(t, []string{b.Past[0].ID, b.Past[1].ID}, b.Planned)
}

// unread is a preview of runs that are never read.
type unread struct{}

func (unread) Read(string) tea.Cmd { return nil }
func (unread) Take(tea.Msg)        {}
func (unread) Draw(e screen.Env, _, title string, h int) []string {
	return widget.Panel{Title: title}.Draw(e.Styles, e.W, h, nil)
}

// Below the list stands what is selected: of a sweep its answer and its picture, of others what they are.
func TestTheListShowsWhatIsSelected(t *testing.T) {
	b := tuitest.NewDemo()
	past := tuitest.NewSweep(9)
	b.PastSweeps = []sweep.Kept{{ID: "260503-124500-ingestion-sweep", When: tuitest.Day.Add(12*time.Hour + 45*time.Minute), Result: &past}}
	b.PastGroups = []kept.Group{{ID: "260503-123000-ingestion-redis-compared", Kind: kept.Compare, When: tuitest.Day.Add(12*time.Hour + 30*time.Minute), Profile: "ingestion", Store: "redis", A: []string{"a"}, B: []string{"b"}, Answer: "p99 +58.7 %", Rate: math.NaN()}}
	a := tuitest.NewStage(t, NewRuns(b, "", map[string]bool{}, unread{}), 120, 40)
	tuitest.Golden(t, a.Picture(t))
	a.Send(t, "down")
	assert.Regexp(t, "╭─ compare ingestion · today 12:30 ─+╮\n│ p99 [+]58.7 %", a.Picture(t))
	a.Send(t, "down")
	assert.Contains(t, a.Picture(t), "╭─ ingestion · today 11:52 ─")
	a.Send(t, tea.WindowSizeMsg{Width: 120, Height: 30})
	assert.NotContains(t, a.Picture(t), "╭─ ingestion · today 11:52 ─", "there is no room")
	a.Send(t, tea.WindowSizeMsg{Width: 120, Height: 31})
	assert.Contains(t, a.Picture(t), "╭─ ingestion · today 11:52 ─")
}
