package tui

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// resultsApp shows the newest run of the demo, read.
func resultsApp(t testing.TB, o Options, w, h int) (*testApp, *results, *fakeBench) {
	t.Helper()
	b := newDemoBench()
	a := newTestApp(t, b, o)
	a.env.now = testDay.Add(12 * time.Hour)
	r := newResultsOf(b.history[0].ID)
	send(t, a, tea.WindowSizeMsg{Width: w, Height: h}, openMsg{to: r})
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
	more := []screen{r, newHistory(""), newCompare(b.history[1].ID, b.history[0].ID)}
	for _, s := range more[1:] {
		send(t, a, openMsg{to: s})
	}
	for w := minWidth; w <= 200; w += 11 {
		for h := minHeight; h <= 60; h += 7 {
			for _, s := range more {
				a.stack = []screen{s}
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
	assert.True(t, r.typing())
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
	a.env.now = a.env.now.Add(time.Minute)
	send(t, a, frame(a))
	assert.Empty(t, r.toast.text)
}

func TestARunThatWroteNothingSaysWhy(t *testing.T) {
	a := newTestApp(t, &fakeBench{}, Options{})
	err := fault.Hint(errors.New("write results: no space left on device"), "free some space")
	send(t, a, tea.WindowSizeMsg{Width: 80, Height: 24}, openMsg{to: newResults(a.env, Outcome{Err: err})})
	got := picture(t, a)
	assert.Contains(t, got, "no space left on device")
	assert.Contains(t, got, "free some space")
	send(t, a, "e")
	assert.Contains(t, picture(t, a), "this run wrote no report")
}

func TestARunThatCannotBeReadSaysWhy(t *testing.T) {
	a := newTestApp(t, &fakeBench{}, Options{})
	send(t, a, tea.WindowSizeMsg{Width: 80, Height: 24}, openMsg{to: newResultsOf("gone")})
	assert.Contains(t, picture(t, a), "run gone: not found")
	send(t, a, "tab", "e", "y", "c", "esc")
	assert.IsType(t, &picker{}, a.top())
}

func TestTrustIsSaidInAWord(t *testing.T) {
	for _, c := range []struct {
		name string
		run  rundir.Run
		want string
	}{
		{"valid", rundir.Run{Verdict: rundir.Verdict{State: verdict.Valid}}, "✓ VALID"},
		{"with misgivings", rundir.Run{Verdict: rundir.Verdict{State: verdict.Degraded}}, "! DEGRADED"},
		{"data lost", rundir.Run{Verdict: rundir.Verdict{State: verdict.Invalid}, Verification: workload.Verification{State: workload.Failed}}, "✗ INVALID · verification failed"},
		{"threshold missed", rundir.Run{Verdict: rundir.Verdict{State: verdict.Valid, Thresholds: []rundir.Threshold{{Expr: "p99<1ms"}}}}, "✗ VALID · threshold missed"},
		{"threshold met", rundir.Run{Verdict: rundir.Verdict{State: verdict.Valid, Thresholds: []rundir.Threshold{{Expr: "p99<1ms", OK: true}}}}, "✓ VALID"},
		{"killed", rundir.Run{EndedBy: rundir.CutShort, Verdict: rundir.Verdict{State: verdict.Degraded}}, "! DEGRADED · cut short"},
		{"interrupted", rundir.Run{EndedBy: "interrupt", Verdict: rundir.Verdict{State: verdict.Valid}}, "✓ VALID · interrupted"},
		{"going on", rundir.Run{EndedBy: rundir.StillRunning}, "▶ still running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := trust(monoStyles(), &c.run)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestAFailedVerificationHasNoThroughput(t *testing.T) {
	v := 10.0
	run := rundir.Run{MeasuredS: 10, Verification: workload.Verification{State: workload.Failed}, Operations: []rundir.Operation{{Count: 100, Throughput: &v}}}
	assert.True(t, math.IsNaN(figuresOf(&run).rate))
	run.Verification.State = workload.Passed
	assert.InDelta(t, 10, figuresOf(&run).rate, 1e-9)
}

func TestBucketsHoldTheirValues(t *testing.T) {
	for _, ns := range []int64{0, 1, 2, 999, 1000, 1001, 1250, 1251, 3_150_000, 3_150_001, 1e9, measure.Highest} {
		i := bucketOf(ns)
		assert.LessOrEqual(t, float64(max(ns, 1)), edge(i), "%d", ns)
		if i > 0 {
			assert.Greater(t, float64(max(ns, 1)), edge(i-1), "%d", ns)
		}
	}
}

func TestBarsAddUpToTheWhole(t *testing.T) {
	h := measure.NewHistogram()
	for i := range 5000 {
		require.NoError(t, h.RecordValue(int64(300_000+40*i*i)))
	}
	d := distributionOf(h)
	require.EqualValues(t, 5000, d.total)
	for rows := 1; rows < 60; rows++ {
		list := bars(rows, d)[0]
		sum := int64(0)
		for _, b := range list {
			sum += b.count
		}
		assert.EqualValues(t, 5000, sum, "%d rows", rows)
		assert.InDelta(t, 1, list[len(list)-1].upTo, 1e-9)
		if rows >= 6 {
			assert.LessOrEqual(t, len(list), rows)
		}
	}
	twice := merged([]distribution{d, d, {}})
	assert.EqualValues(t, 10000, twice.total)
	assert.Equal(t, distribution{}, distributionOf(nil, hdrhistogram.New(1, 100, 3)))
	assert.Equal(t, distribution{}, merged(nil))
}

func TestDaysAreSaidAsPeopleDo(t *testing.T) {
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"today 11:40":  now.Add(-20 * time.Minute),
		"today 00:00":  now.Add(-12 * time.Hour),
		"Sat 23:59":    now.Add(-12*time.Hour - time.Minute),
		"Tue 12:00":    now.Add(-5 * 24 * time.Hour),
		"27 Apr 12:00": now.Add(-6 * 24 * time.Hour),
		"3 Apr 12:00":  now.Add(-30 * 24 * time.Hour),
		"3 May 2025":   now.Add(-365 * 24 * time.Hour),
		"4 May 12:00":  now.Add(24 * time.Hour),
		"–":            {},
	} {
		assert.Equal(t, want, dayText(at, now))
	}
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
	for _, theme := range []string{ThemeLight, ThemeDark, ThemeMono} {
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
	assert.InDelta(t, 10, figuresOf(&run).rate, 1e-9)
	f := &rundir.Folder{Run: run, Series: []rundir.SeriesRow{{Track: "g1", Op: "invocation", Throughput: 10}, {Track: "g1", Op: "put", Throughput: 10}}}
	assert.InDelta(t, 10, courseOf(f).rates[0], 1e-9)
	assert.InDelta(t, 10, sideOf(f, nil).rate, 1e-9)
	assert.InDelta(t, 10, sideOf(f, &measure.Operation{Track: "g1", Op: "put"}).rate, 1e-9, "of itself it has a rate")
}
