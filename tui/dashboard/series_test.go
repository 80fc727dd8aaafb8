package dashboard

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/dashboard/plot"
	"github.com/perfbench/perfbench/tui/tuitest"
	"github.com/perfbench/perfbench/tui/widget"
)

func TestEffectComparesTenSecondsBeforeWithThoseSince(t *testing.T) {
	row := func(t int, count int64, p99 int64) measure.Row {
		return measure.Row{T: t, Count: count, Seconds: 1, ResponseP99: p99}
	}
	s := &measure.Snapshot{
		Recent: [][]measure.Row{{row(0, 9999, 1), row(5, 100, 10), row(14, 200, 30), row(15, 150, 20), row(16, 300, 50), row(17, 500, 70)}},
		Changes: []measure.Change{
			{At: 2 * time.Second, Name: "threads", From: 1, To: 16},
			{At: 15200 * time.Millisecond, Name: "threads", From: 16, To: 17},
			{At: 15900 * time.Millisecond, Name: "threads", From: 17, To: 18},
		},
	}
	e, ok := lastEffect(s)
	require.True(t, ok)
	assert.InDelta(t, 16, e.from, 0, "presses close together are one change")
	assert.InDelta(t, 18, e.to, 0)
	assert.Equal(t, stretch{2, 150, 30}, e.before, "whole seconds only, at most ten of them")
	assert.Equal(t, stretch{2, 400, 70}, e.after)
}

// What is left of a run after its last whole second is drawn and told by no screen.
func TestARestOfASecondHasNoRateOnScreens(t *testing.T) {
	s := &measure.Snapshot{
		At: 2050 * time.Millisecond, Tracks: []string{"p"}, Gauges: make([]measure.Gauge, 1), Bucket: 1,
		Ops:      []measure.Totals{{Operation: measure.Operation{Track: "p", Op: "put"}}},
		Recent:   [][]measure.Row{{{T: 0, Count: 500, Seconds: 1}, {T: 1, Count: 510, Seconds: 1}, {T: 2, Count: 580, Seconds: 0.05}}},
		Timeline: [][]measure.Point{{{T: 0, Count: 500, Seconds: 1}, {T: 1, Count: 510, Seconds: 1}, {T: 2, Count: 580, Seconds: 0.05}}},
	}
	line := plot.NewAxis(100, 0, 3, 3, 1).Rate(s, -1)
	assert.InDelta(t, 510, chart.Peak(line.Vals), 0)
	f := digest(s, -1)
	assert.Equal(t, 1, f.second)
	assert.InDelta(t, 510, f.rate, 0)
	assert.InDelta(t, 510, chart.Peak(recentRates(s, 0, 2, 3)), 0)
	assert.InDelta(t, 505, between(s, 0, math.Inf(1)).rate, 0)
}

// Phases that share a second share its rate: it is no sum of two.
func TestPhasesOfOneSecondMakeOneRate(t *testing.T) {
	half := 500 * time.Millisecond
	s := &measure.Snapshot{
		At: time.Second, Tracks: []string{"a", "b"}, Bucket: 1,
		Ops:      []measure.Totals{{Operation: measure.Operation{Track: "a", Op: "put"}}, {Operation: measure.Operation{Track: "b", Op: "get"}}},
		Ran:      []measure.Phase{{Name: "a", Tracks: []string{"a"}, To: half}, {Name: "b", Tracks: []string{"b"}, From: half, To: time.Second}},
		Timeline: [][]measure.Point{{{Count: 250, Seconds: 0.5}}, {{Count: 250, Seconds: 0.5}}},
	}
	assert.Equal(t, []float64{500}, plot.NewAxis(1, 0, 1, 1, 1).Rate(s, -1).Vals)
}

func TestAChangeOfSeveralTracksIsToldWhole(t *testing.T) {
	plan := tuitest.NewPlan(3) // feed, profile, claims
	at := func(ms int, name string, from, to float64, by string) measure.Change {
		return measure.Change{At: time.Duration(ms) * time.Millisecond, Name: name, From: from, To: to, By: by}
	}
	for _, c := range []struct {
		name    string
		changes []measure.Change
		want    string
	}{
		{"one track", []measure.Change{at(0, "feed.payload", 1024, 2048, "workbench")}, "feed payload 1 KiB → 2 KiB"},
		{
			"all tracks, each from where it stands",
			[]measure.Change{at(0, "feed.payload", 1024, 2048, ""), at(0, "profile.payload", 10240, 20480, ""), at(0, "claims.payload", 4096, 8192, "")},
			"payload 1 KiB–10 KiB → 2 KiB–20 KiB",
		},
		{
			"twice",
			[]measure.Change{
				at(0, "feed.payload", 1024, 2048, ""), at(0, "profile.payload", 10240, 20480, ""), at(0, "claims.payload", 4096, 8192, ""),
				at(300, "feed.payload", 2048, 4096, ""), at(300, "profile.payload", 20480, 40960, ""), at(300, "claims.payload", 8192, 16384, ""),
			},
			"payload 1 KiB–10 KiB → 4 KiB–40 KiB",
		},
		{
			"two of three",
			[]measure.Change{at(0, "profile.threads", 16, 20, ""), at(100, "feed.threads", 16, 8, "")},
			"feed, profile threads 16 → 8–20",
		},
		{
			"a total after a track",
			[]measure.Change{at(0, "feed.threads", 16, 8, ""), at(100, "threads", 40, 41, "")},
			"threads 40 → 41",
		},
		{
			"no limit is the highest rate",
			[]measure.Change{at(0, "feed.rate", 0, 500, ""), at(0, "profile.rate", 100, 500, ""), at(0, "claims.rate", 100, 500, "")},
			"rate 100–max → 500",
		},
		{
			"a reset",
			[]measure.Change{at(0, "feed.threads", 20, 16, "reset"), at(0, "feed.batch", 5, 100, "reset"), at(0, "profile.batch", 5, 100, "reset")},
			"every knob reset",
		},
		{
			"another knob before",
			[]measure.Change{at(0, "threads", 20, 16, ""), at(100, "feed.batch", 5, 100, ""), at(100, "profile.batch", 5, 100, ""), at(100, "claims.batch", 5, 100, "")},
			"batch 5 → 100",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, ok := lastEffect(&measure.Snapshot{Changes: c.changes})
			require.True(t, ok)
			assert.Equal(t, c.want, e.what(plan))
		})
	}
}

func TestAxisLeapsAndNeverRedrawsThePast(t *testing.T) {
	for _, c := range []struct {
		name                   string
		warmup, elapsed, total int
		span                   int
	}{
		{"a short run is known whole", 0, 1, 15, 15},
		{"warm-up belongs to it", 5, 1, 60, 65},
		{"a long run begins with thirty seconds", 0, 1, 600, 30},
		{"and doubles", 0, 31, 600, 60},
		{"until its end is near", 0, 250, 600, 600},
		{"an unknown end doubles", 0, 100, 0, 120},
		{"a run beyond its end doubles", 0, 61, 60, 120},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.span, plot.NewAxis(60, c.warmup, c.elapsed, c.total, 1).Span) })
	}
	run := tuitest.NewRun(1)
	var before []float64
	for range 60 {
		run.Tick(time.Second)
		a := plot.NewAxis(100, 5, widget.Seconds(run.At)+1, 60, 1)
		dots := a.Dots(a.Rate(run.Snapshot(), -1))
		for i, v := range before {
			if v == v {
				require.InDelta(t, v, dots[i], 1e-9, "column %d at %v", i, run.At)
			}
		}
		before = dots
	}
}
