package tui

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// resultsApp shows the newest run of the demo, read.
func resultsApp(t testing.TB, o Options, w, h int) (*testApp, *results, *fakeBench) {
	t.Helper()
	b := newDemoBench()
	a := newTestApp(t, b, o)
	a.env.Now = testDay.Add(12 * time.Hour)
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h}, screen.OpenMsg{To: screen.Results{ID: b.history[0].ID}})
	r, ok := a.top().(*results)
	require.True(t, ok)
	require.NotNil(t, r.loaded)
	return a, r, b
}

func TestResultsPictures(t *testing.T) {
	pages := map[string]resultsTab{
		"summary": tabSummary, "percentiles": tabPercentiles, "distribution": tabDistribution, "segments": tabSegments,
		"changes": tabCourse, "errors": tabFailures, "verification": tabChecks, "settings": tabValues,
	}
	for name, tab := range pages {
		for _, size := range []struct {
			name string
			w, h int
		}{{"120x40", 120, 40}, {"80x24", 80, 24}, {"60x16", 60, 16}} {
			t.Run(name+" "+size.name, func(t *testing.T) {
				a, r, _ := resultsApp(t, Options{}, size.w, size.h)
				r.tab = tab
				requireGolden(t, picture(t, a))
			})
		}
	}
	t.Run("summary ascii 80x24", func(t *testing.T) {
		a, _, _ := resultsApp(t, Options{ASCII: true}, 80, 24)
		got := picture(t, a)
		assert.NotRegexp(t, `[^\x00-\x7F]`, got, "nothing beyond ASCII")
		requireGolden(t, got)
	})
	t.Run("export 80x24", func(t *testing.T) {
		a, _, _ := resultsApp(t, Options{}, 80, 24)
		send(t, a, "e")
		requireGolden(t, picture(t, a))
	})
	t.Run("export 60x16", func(t *testing.T) {
		a, _, _ := resultsApp(t, Options{}, 60, 16)
		send(t, a, "e", "enter")
		requireGolden(t, picture(t, a))
	})
}

func TestEveryScreenOfResultsFillsEveryTerminal(t *testing.T) {
	a, r, b := resultsApp(t, Options{}, 120, 40)
	more := []screen.Screen{r}
	for _, to := range []screen.Destination{screen.Runs{}, screen.Compare{A: b.history[1].ID, B: b.history[0].ID}} {
		send(t, a, screen.OpenMsg{To: to})
		more = append(more, a.top())
	}
	for w := widget.MinWidth; w <= 200; w += 11 {
		for h := widget.MinHeight; h <= 60; h += 7 {
			for _, s := range more {
				a.stack = []screen.Screen{s}
				send(t, a, tea.WindowSizeMsg{Width: w, Height: h})
				for r.tab = range resultsTabs {
					picture(t, a)
				}
			}
		}
	}
}

func TestResultsScrollWithinTheirLines(t *testing.T) {
	a, r, _ := resultsApp(t, Options{}, 60, 16)
	first := picture(t, a)
	send(t, a, "up", "up")
	assert.Equal(t, first, picture(t, a))
	send(t, a, "G")
	last := picture(t, a)
	assert.NotEqual(t, first, last)
	send(t, a, "down", "pgdown")
	assert.Equal(t, last, picture(t, a))
	send(t, a, "g")
	assert.Equal(t, first, picture(t, a))
	send(t, a, tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelDown})
	assert.Positive(t, r.scroll[tabSummary])
}

func TestTabsAreTurnedByKeysAndByTheMouse(t *testing.T) {
	a, r, _ := resultsApp(t, Options{}, 120, 40)
	send(t, a, "tab")
	assert.Equal(t, tabPercentiles, r.tab)
	send(t, a, "left", "left")
	assert.Equal(t, tabValues, r.tab, "round the corner")
	x := strings.Index(strings.Split(picture(t, a), "\n")[1], "Segments")
	send(t, a, tea.MouseClickMsg{X: x, Y: 1, Button: tea.MouseLeft})
	assert.Equal(t, tabSegments, r.tab)
}

func TestADistributionIsShownPerOperation(t *testing.T) {
	a, r, _ := resultsApp(t, Options{}, 120, 40)
	r.tab = tabDistribution
	assert.Contains(t, picture(t, a), "[all calls]")
	send(t, a, "down")
	assert.Contains(t, picture(t, a), "[putall]")
	send(t, a, "down", "down", "down")
	assert.Contains(t, picture(t, a), "[verify]")
}

func TestExportWritesWhatIsChosenAndShowsThePaths(t *testing.T) {
	a, r, b := resultsApp(t, Options{}, 80, 24)
	send(t, a, "e", "space", "tab", "ctrl+u")
	assert.True(t, r.Typing())
	typeText(t, a, "/tmp/reports")
	send(t, a, "enter", "enter")
	id := b.history[0].ID
	want := []string{"/tmp/reports/" + id + "/report.json", "/tmp/reports/" + id + "/report.markdown", "/tmp/reports/" + id + "/report.padogrid"}
	assert.Equal(t, want, b.exported)
	for _, p := range want {
		assert.Contains(t, picture(t, a), "✓ "+p[:40])
	}
	send(t, a, "esc")
	assert.Nil(t, r.export)
}

func TestExportToTheRunsOwnFolderNamesNone(t *testing.T) {
	a, _, b := resultsApp(t, Options{}, 80, 24)
	send(t, a, "e", "enter")
	require.NotEmpty(t, b.exported)
	assert.True(t, strings.HasPrefix(b.exported[0], "/"), "dir was empty: %s", b.exported[0])
}

func TestExportNeedsAFormat(t *testing.T) {
	a, r, b := resultsApp(t, Options{}, 80, 24)
	send(t, a, "e")
	clear(r.export.on)
	send(t, a, "enter")
	assert.Empty(t, b.exported)
	assert.Contains(t, picture(t, a), "no format is chosen")
}

func TestExportByTheMouse(t *testing.T) {
	a, r, b := resultsApp(t, Options{}, 80, 24)
	send(t, a, "e")
	lines := strings.Split(picture(t, a), "\n")
	for y, l := range lines {
		if before, _, ok := strings.Cut(l, "[ ] html"); ok {
			send(t, a, tea.MouseClickMsg{X: len([]rune(before)), Y: y, Button: tea.MouseLeft})
		}
	}
	assert.Contains(t, r.export.chosen(), "html")
	x := strings.Index(lines[23], "enter write")
	send(t, a, tea.MouseClickMsg{X: len([]rune(lines[23][:x])), Y: 23, Button: tea.MouseLeft})
	assert.Len(t, b.exported, 3)
	send(t, a, tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft})
	assert.Nil(t, r.export, "a click beside the box closes it")
}

func TestCopyPutsTheSummaryOnTheClipboard(t *testing.T) {
	a, r, _ := resultsApp(t, Options{}, 80, 24)
	_, cmd := a.Update(keyPress("y"))
	require.NotNil(t, cmd)
	assert.Contains(t, ansi.Strip(sprintMsg(cmd())), "perfbench ingestion on redis")
	assert.Contains(t, picture(t, a), "summary copied")
	a.env.Now = a.env.Now.Add(time.Minute)
	send(t, a, frame(a))
	assert.Empty(t, r.toast.Text)
}

func TestARunThatWroteNothingSaysWhy(t *testing.T) {
	a := newTestApp(t, &fakeBench{}, Options{})
	err := fault.Hint(errors.New("write results: no space left on device"), "free some space")
	a.stack = []screen.Screen{newResults(a.bench, screen.Outcome{Err: err}, a.env.Now)}
	send(t, a, tea.WindowSizeMsg{Width: 80, Height: 24})
	got := picture(t, a)
	assert.Contains(t, got, "no space left on device")
	assert.Contains(t, got, "free some space")
	send(t, a, "e")
	assert.Contains(t, picture(t, a), "this run wrote no report")
}

func TestARunThatCannotBeReadSaysWhy(t *testing.T) {
	a := newTestApp(t, &fakeBench{}, Options{})
	send(t, a, tea.WindowSizeMsg{Width: 80, Height: 24}, screen.OpenMsg{To: screen.Results{ID: "gone"}})
	assert.Contains(t, picture(t, a), "run gone: not found")
	send(t, a, "tab", "e", "y", "c", "esc")
	assert.IsType(t, &picker{}, a.top())
}

func TestACourseHasGapsWhereNothingWasMeasured(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{}, Series: []rundir.SeriesRow{
		{T: 0, Op: "a", Throughput: 10, ResponseP99: 5, ResponseMax: 9}, {T: 0, Op: "b", Throughput: 5, ResponseP99: 7, ResponseMax: 9}, {T: 2, Op: "a", Throughput: 20},
	}}
	c := courseOf(f)
	require.Len(t, c.rates, 3)
	assert.InDelta(t, 15, c.rates[0], 1e-9)
	assert.True(t, math.IsNaN(c.rates[1]))
	assert.InDelta(t, 7, c.slowest[0], 1e-9)
	assert.True(t, math.IsNaN(c.slowest[2]))
	for _, n := range []int{1, 2, 3, 7, 100} {
		assert.Len(t, across(c.rates, n, true), n)
	}
	assert.Empty(t, courseOf(&rundir.Folder{}).rates)
}

func BenchmarkResultsView(b *testing.B) {
	for name, tab := range map[string]resultsTab{"summary": tabSummary, "distribution": tabDistribution} {
		b.Run(name, func(b *testing.B) {
			a, r, _ := resultsApp(b, Options{}, 120, 40)
			r.tab = tab
			for b.Loop() {
				a.View()
			}
		})
	}
}

// One picture of each screen keeps its escape codes, in every theme.
func TestScreensInColour(t *testing.T) {
	for _, theme := range []string{widget.ThemeLight, widget.ThemeDark, widget.ThemeMono} {
		t.Run("picker "+theme, func(t *testing.T) {
			a, _ := pickApp(t, newDemoBench(), Options{Theme: theme}, 80, 24)
			picture(t, a)
			requireGolden(t, a.View().Content)
		})
		t.Run("results "+theme, func(t *testing.T) {
			a, _, _ := resultsApp(t, Options{Theme: theme}, 80, 24)
			picture(t, a)
			requireGolden(t, a.View().Content)
		})
		t.Run("compare "+theme, func(t *testing.T) {
			a, _ := compareApp(t, Options{Theme: theme}, 80, 24)
			picture(t, a)
			requireGolden(t, a.View().Content)
		})
	}
}

func TestPartsOfOperationsDoNotCountTwice(t *testing.T) {
	v := 10.0
	run := rundir.Run{MeasuredS: 10, Operations: []rundir.Operation{
		{Track: "g1", Op: "invocation", Count: 100, Throughput: &v}, {Track: "g1", Op: "put", Count: 100, Throughput: &v},
	}}
	run.Parts = []string{"g1.put"}
	assert.InDelta(t, 10, widget.FiguresOf(&run).Rate, 1e-9)
	f := &rundir.Folder{Run: run, Series: []rundir.SeriesRow{{Track: "g1", Op: "invocation", Throughput: 10}, {Track: "g1", Op: "put", Throughput: 10}}}
	assert.InDelta(t, 10, courseOf(f).rates[0], 1e-9)
	assert.InDelta(t, 10, sideOf(f, nil).rate, 1e-9)
	assert.InDelta(t, 10, sideOf(f, &measure.Operation{Track: "g1", Op: "put"}).rate, 1e-9, "of itself it has a rate")
}
