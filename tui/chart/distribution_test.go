package chart

import (
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/widget"
)

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
	d := NewDistribution(h)
	require.EqualValues(t, 5000, d.Total)
	for rows := 1; rows < 60; rows++ {
		list := Bars(rows, d)[0]
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
	twice := Merged([]Distribution{d, d, {}})
	assert.EqualValues(t, 10000, twice.Total)
	assert.Equal(t, Distribution{}, NewDistribution(nil, hdrhistogram.New(1, 100, 3)))
	assert.Equal(t, Distribution{}, Merged(nil))

	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	one := measure.NewHistogram()
	for range 50000 {
		require.NoError(t, one.RecordValue(500_000))
	}
	for _, w := range []int{60, 80} {
		lines := NewDistribution(one).Draw(s, s.Plain, w, 3)
		last := ansi.Strip(lines[len(lines)-1])
		assert.Contains(t, last, "p50 p90 p99 p99.9", "none is cut")
		assert.LessOrEqual(t, ansi.StringWidth(last), w)
	}
}
