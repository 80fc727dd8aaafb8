package widget

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

func TestTurned(t *testing.T) {
	threads, payload, batch, rate := workload.Threads(), workload.Payload(), workload.Batch(), workload.Rate("entries")
	usual := payload
	usual.Usual = 512
	for _, c := range []struct {
		name    string
		k       workload.Knob
		from    float64
		up, ten bool
		now     float64
		want    float64
	}{
		{"a thread more", threads, 16, true, false, 0, 17},
		{"ten threads fewer", threads, 16, false, true, 0, 6},
		{"never below one thread", threads, 4, false, true, 0, 1},
		{"never above the most threads", threads, workload.MaxThreads, true, false, 0, workload.MaxThreads},
		{"payload doubles", payload, 1000, true, false, 0, 2000},
		{"payload halves", payload, 1001, false, false, 0, 500},
		{"payload starts at nothing", payload, 0, true, false, 0, 64},
		{"ten times nothing is as much", payload, 0, true, true, 0, 64},
		{"payload goes on from what records have", usual, 0, true, false, 0, 1024},
		{"payload halves what records have", usual, 0, false, false, 0, 256},
		{"a tenth of what records have", usual, 0, false, true, 0, 51},
		{"payload halves down to a byte where 0 is more", usual, 1, false, false, 0, 1},
		{"payload ends at nothing", payload, 1, false, false, 0, 0},
		{"a filling begins with a step", workload.Filling("record"), 0, true, false, 0, 64},
		{"a filling smaller than a step is none", workload.Filling("record"), 100, false, false, 0, 0},
		{"a batch climbs the ladder", batch, 100, true, false, 0, 150},
		{"a small batch climbs by whole numbers", batch, 1, true, false, 0, 2},
		{"a batch comes down the ladder", batch, 100, false, false, 0, 80},
		{"a batch times ten", batch, 100, true, true, 0, 1000},
		{"a rate without limit comes down to the notch below what is had", rate, 0, false, false, 288_000, 250_000},
		{"a rate without limit comes down to the notch just below what is had", rate, 0, false, false, 104_000, 100_000},
		{"a rate without limit comes down to a little less than is had at least", rate, 0, false, false, 101_000, 80_000},
		{"a rate without limit of a slow store comes down to one", rate, 0, false, false, 0.5, 1},
		{"a rate without limit of which nothing is known comes down from a thousand", rate, 0, false, false, math.NaN(), 800},
		{"a rate without limit has no up", rate, 0, true, false, 41_200, 0},
		{"a rate far above what can be had keeps a limit", rate, 80_000, true, false, 41_200, 100_000},
		{"not even ten times as far takes a limit away", rate, 80_000, true, true, 41_200, 800_000},
		{"a rate never becomes unlimited downwards", rate, 1, false, true, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.InDelta(t, c.want, Turned(c.k, c.from, c.up, c.ten, c.now), 1e-9)
		})
	}
}

func TestNotchesClimbAndComeDown(t *testing.T) {
	for v := 1.0; v < 1e7; {
		up := notch(v, true)
		require.Greater(t, up, v)
		require.LessOrEqual(t, up, 2*v)
		require.InDelta(t, v, notch(up, false), 1e-9, "down from %v", up)
		v = up
	}
}

func TestSlidersLieWhereTheirValuesAre(t *testing.T) {
	knobs := []workload.Knob{
		workload.Threads(), workload.Payload(), workload.Batch(), workload.Rate("checks"),
		{Name: "share", Min: 0, Max: 100, Step: 1},
		{Name: "wide", Min: 10, Max: 10_000, Step: 1, Log: true},
	}
	for _, k := range knobs {
		for w := range 80 {
			for col := range w {
				v := Slid(k, col, w)
				require.GreaterOrEqual(t, v, k.Min)
				require.LessOrEqual(t, v, k.Max)
				require.InDelta(t, col, Slide(k, v, w), 4, "%s: column %d of %d is %v", k.Name, col, w, v)
			}
			for _, v := range []float64{k.Min, k.Max, (k.Min + k.Max) / 3, math.NaN(), -5, 1e30} {
				at := Slide(k, v, w)
				require.True(t, at >= 0 && at < max(w, 1), "%s: %v in %d is %d", k.Name, v, w, at)
			}
		}
	}
	assert.Equal(t, 39, Slide(workload.Rate("x"), 0, 40), "no limit is at the right end")
	assert.InDelta(t, 0, Slid(workload.Rate("x"), 39, 40), 0)
	assert.InDelta(t, 1024, Slid(workload.Payload(), Slide(workload.Payload(), 1024, 60), 60), 0, "payload slides by powers of two")
}

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		k    workload.Knob
		text string
		want float64
		ok   bool
	}{
		{workload.Payload(), "4KiB", 4096, true},
		{workload.Payload(), "10kb", 10_000, true},
		{workload.Payload(), "x", 0, false},
		{workload.Threads(), "64", 64, true},
		{workload.Threads(), "6.4.", 0, false},
		{workload.Threads(), "NaN", 0, false},
		{workload.Rate("entries"), "2.5k", 2500, true},
		{workload.Rate("entries"), "unlimited", 0, true}, {workload.Rate("entries"), "max", 0, true},
	} {
		got, ok := Typed(c.k, c.text)
		assert.Equal(t, c.ok, ok, c.text)
		if c.ok {
			assert.InDelta(t, c.want, got, 1e-9, c.text)
		}
	}
}
