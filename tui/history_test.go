package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
)

// sprintMsg writes a message whose type a library keeps to itself.
func sprintMsg(m tea.Msg) string { return fmt.Sprint(m) }

func historyApp(t testing.TB, b *fakeBench, o Options, w, h int) (*testApp, *history) {
	t.Helper()
	a := newTestApp(t, b, o)
	a.env.Now = testDay.Add(12 * time.Hour)
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h}, screen.OpenMsg{To: screen.Runs{}})
	hs, ok := a.top().(*history)
	require.True(t, ok)
	return a, hs
}

func TestHistoryPictures(t *testing.T) {
	for _, c := range []struct {
		name  string
		w, h  int
		o     Options
		steps []any
	}{
		{name: "120x40", w: 120, h: 40},
		{name: "80x24 chosen", w: 80, h: 24, steps: []any{"space", "down"}},
		{name: "60x16 filtering", w: 60, h: 16, steps: []any{"/", "m", "y", "s"}},
		{name: "80x24 ascii", w: 80, h: 24, o: Options{ASCII: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := historyApp(t, newDemoBench(), c.o, c.w, c.h)
			send(t, a, c.steps...)
			requireGolden(t, picture(t, a))
		})
	}
}

func TestAnEmptyHistorySpeaks(t *testing.T) {
	a, _ := historyApp(t, &fakeBench{}, Options{}, 80, 24)
	assert.Contains(t, picture(t, a), "No runs yet.")
	send(t, a, "enter", "space", "c", "down", "G", "esc")
	assert.IsType(t, &picker{}, a.top())
}

func TestAHistoryThatCannotBeReadSaysWhy(t *testing.T) {
	a, h := historyApp(t, newDemoBench(), Options{}, 80, 24)
	send(t, a, screen.HistoryMsg{Err: fault.Input(errors.New("list the runs in results: permission denied"), "name the folder of your runs with --out")})
	require.Error(t, h.err)
	assert.Contains(t, picture(t, a), "permission denied")
	assert.Contains(t, picture(t, a), "--out")
}

func TestFilteringRuns(t *testing.T) {
	a, h := historyApp(t, newDemoBench(), Options{}, 80, 24)
	send(t, a, "/")
	typeText(t, a, "redis 1140")
	assert.Len(t, h.shown, 1)
	send(t, a, "enter", "enter")
	r, ok := a.top().(*results)
	require.True(t, ok)
	assert.Equal(t, "260503-114000-ingestion-redis", r.id)
	send(t, a, "esc", "esc")
	assert.Len(t, h.shown, 3, "the first escape clears the filter")
}

func TestTwoRunsAreComparedTheEarlierFirst(t *testing.T) {
	a, h := historyApp(t, newDemoBench(), Options{}, 80, 24)
	send(t, a, "c")
	assert.Contains(t, picture(t, a), "choose two runs")
	send(t, a, "space", "down", "c")
	c, ok := a.top().(*comparison)
	require.True(t, ok)
	assert.Equal(t, h.runs[1].ID, c.a)
	assert.Equal(t, h.runs[0].ID, c.b)
	send(t, a, "w")
	c, ok = a.top().(*comparison)
	require.True(t, ok)
	assert.Equal(t, h.runs[0].ID, c.a, "swapped")
	send(t, a, "esc")
	assert.Equal(t, h, a.top())
	send(t, a, "space", "down", "space")
	assert.Equal(t, []string{h.runs[1].ID, h.runs[2].ID}, h.chosen, "of three the first goes")
}

func TestComparingFromResultsChoosesThatRun(t *testing.T) {
	a, r, b := resultsApp(t, Options{}, 80, 24)
	send(t, a, "c")
	h, ok := a.top().(*history)
	require.True(t, ok)
	assert.Equal(t, []string{r.id}, h.chosen)
	send(t, a, "down", "c")
	c, ok := a.top().(*comparison)
	require.True(t, ok)
	assert.Equal(t, []string{b.history[1].ID, b.history[0].ID}, []string{c.a, c.b})
}

func TestALongHistoryScrolls(t *testing.T) {
	b := newDemoBench()
	for i := range 200 {
		r := b.history[2]
		r.ID = fmt.Sprintf("old-%03d", i)
		b.history = append(b.history, r)
	}
	a, h := historyApp(t, b, Options{}, 120, 24)
	send(t, a, "G")
	assert.Contains(t, picture(t, a), "old-199")
	send(t, a, "up", tea.MouseWheelMsg{X: 5, Y: 8, Button: tea.MouseWheelUp})
	assert.Equal(t, 198, h.at)
	picture(t, a)
	y := 0
	for i, l := range strings.Split(picture(t, a), "\n") {
		if strings.Contains(l, "old-190") {
			y = i
		}
	}
	send(t, a, tea.MouseClickMsg{X: 20, Y: y, Button: tea.MouseLeft})
	assert.Equal(t, "old-190", h.current().ID)
}

func BenchmarkHistoryView(b *testing.B) {
	bench := newDemoBench()
	for range 1000 {
		bench.history = append(bench.history, rundir.Run{ID: "x", Profile: "ingestion"})
	}
	a, _ := historyApp(b, bench, Options{}, 120, 40)
	for b.Loop() {
		a.View()
	}
}
