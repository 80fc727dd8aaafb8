package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// store is a run of ten seconds as event-store makes them: five of publishing, with
// storing measured beside it, and five of reading, which is no publishing.
func store() *rundir.Folder {
	rate := 200.0
	op := func(track, op string) rundir.Operation {
		return rundir.Operation{Track: track, Op: op, Count: 1000, Calls: 100, Throughput: &rate}
	}
	f := &rundir.Folder{Run: rundir.Run{
		Profile: "event-store", Unit: "events", MeasuredS: 10, Parts: []string{"events.durable", "query.range"},
		Phases:     []rundir.Phase{{Name: "load", To: 5, Tracks: []string{"events"}}, {Name: "query", From: 5, To: 10, Tracks: []string{"query"}}},
		Operations: []rundir.Operation{op("events", "publish"), op("events", "durable"), op("query", "range")},
	}}
	row := func(t int, track, op string, n, p99 int64) {
		f.Series = append(f.Series, rundir.SeriesRow{T: t, Track: track, Op: op, Count: n, Throughput: float64(n), ResponseP50: p99 / 2, ResponseP99: p99, ResponseMax: p99})
	}
	for t := range 5 {
		row(t, "events", "publish", 200, 1e6)
		row(t, "events", "durable", 190, 9e8)
		row(t+5, "query", "range", 7000, 4e9)
	}
	return f
}

func TestChartsShowTheHeadlineAndTheOthersBesideIt(t *testing.T) {
	sections := RunPage(store()).Sections
	at := slices.IndexFunc(sections, func(s Section) bool { return s.Heading == "Course" })
	require.GreaterOrEqual(t, at, 0)
	all := sections[at].Charts
	require.Len(t, all, 3)
	rates, times, beside := all[0], all[1], all[2]
	assert.Equal(t, "events per second", rates.Title)
	require.Len(t, rates.Lines, 1)
	for i, v := range rates.Lines[0].Values {
		if i < 5 {
			assert.InDelta(t, 200, v, 0, "what was stored is no second event: %d", i)
		} else {
			assert.True(t, math.IsNaN(v), "reads are no events: %d", i)
		}
	}
	require.Len(t, beside.Lines, 2)
	assert.Equal(t, "events.durable", beside.Lines[0].Name)
	assert.InDelta(t, 190, beside.Lines[0].Values[0], 0)
	assert.Equal(t, "query.range", beside.Lines[1].Name)
	assert.InDelta(t, 7000, beside.Lines[1].Values[9], 0)
	assert.Equal(t, "response time of publish", times.Title)
	require.Equal(t, "p99", times.Lines[times.Main].Name)
	assert.InDelta(t, 1e6, times.Lines[times.Main].Values[0], 0)
	assert.True(t, math.IsNaN(times.Lines[times.Main].Values[9]))
}

func TestEveryReportMarksPhasesAndNamesTheLinesBesideIt(t *testing.T) {
	for _, id := range []string{"text", "markdown"} {
		doc := printed(t, store(), id)
		assert.Contains(t, doc, "events.durable", id)
		assert.Contains(t, doc, "peak 7k", id)
		var marks int
		for line := range strings.Lines(doc) {
			if at := strings.Index(line, "|load"); at >= 0 && strings.TrimSpace(line[:at]) == "" {
				marks++
				assert.Equal(t, ChartWidth/2, strings.Index(line, "|query")-at, "half of the run was the one, half the other")
			}
		}
		assert.Equal(t, 2, marks, "%s: under throughput and under times", id)
		assert.NotContains(t, doc, "7.19k", "no sum of what counts and what does not")
	}
	page := printed(t, store(), "html")
	assert.Equal(t, 3, strings.Count(page, "<figure "))
	assert.Equal(t, 3, strings.Count(page, "<title>phase query from 00:05</title>"))
	assert.Contains(t, page, "</i>query.range</span>")
}

func TestOnePhaseNeedsNoMark(t *testing.T) {
	f := store()
	f.Run.Phases = f.Run.Phases[:1]
	assert.NotContains(t, printed(t, f, "html"), "<title>phase")
	assert.NotContains(t, printed(t, f, "text"), "|load")
}

// A check that counts offenders says among how many: 0 of 4.3 million is no 0 of 0.
func TestChecksSayHowMuchWasLookedAt(t *testing.T) {
	f := store()
	f.Run.Verification = workload.Verification{State: workload.Passed, Checks: []workload.Check{{Name: "missing", OK: true, Of: 4_300_000, Want: "0", Got: "0"}}}
	for _, id := range []string{"text", "markdown", "html"} {
		doc := printed(t, f, id)
		assert.Contains(t, doc, "4300000", id)
		assert.NotContains(t, doc, "acknowledged", id)
	}
	f.Run.Verification.Checks[0].OK, f.Run.Verification.Checks[0].Got = false, "2"
	assert.Contains(t, printed(t, f, "junit"), "2 of the 4\u2009300\u2009000 checked")
}

func TestTheLinesOfATextChartAreRound(t *testing.T) {
	for _, c := range []struct {
		peak  float64
		bytes bool
		rows  int
		top   float64
	}{
		{1960, false, 10, 2000}, {123, false, 7, 140}, {999, false, 10, 1000}, {1, false, 10, 1}, {5.01e6, false, 11, 5.5e6},
		{700 << 20, true, 11, 704 << 20}, {0, false, 8, 8}, {math.NaN(), false, 8, 8},
	} {
		rows, top := ruled([]float64{0, c.peak, math.NaN()}, 8, c.bytes)
		assert.Equal(t, c.rows, rows, "%v", c.peak)
		assert.InEpsilon(t, c.top, top, 1e-9, "%v", c.peak)
	}
}
