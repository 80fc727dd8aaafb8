package dashboard

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/tui/widget"
)

func TestAHeatMapIsDenserWhereMoreCallsAre(t *testing.T) {
	a := NewAxis(4, 0, 4, 4, false, time.Second)
	h := NewHeat(a, 4, []measure.Spread{
		{T: 0, Width: 1, First: 96, Counts: []int64{1000, 0, 3, 0}}, // 96: up to 1 ms
		{T: 2, Width: 2, First: 98, Counts: []int64{0, 5}},
	})
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)
	assert.Equal(t, "  ██\n░   \n    \n█   ", ansi.Strip(strings.Join(h.Draw(s), "\n")), "each moment has shades of its own, a gap none")
	assert.Equal(t, []Tick{{3, "1e+06"}}, h.Ticks(number))
	assert.Nil(t, NewHeat(a, 4, nil))
}

// The axis of a heat map ends just above the longest time, however few rows it has.
func TestAHeatMapEndsNearTheLongestTime(t *testing.T) {
	a := NewAxis(4, 0, 4, 4, false, time.Second)
	for rows := 2; rows < 40; rows++ {
		for _, lo := range []int{50, 70, 85, 96, 110} {
			h := NewHeat(a, rows, []measure.Spread{{Width: 1, First: lo, Counts: append(make([]int64, 112-lo), 1)}}) // 10 ms
			top := math.Pow(10, (h.first+float64(rows))/h.each)
			require.GreaterOrEqual(t, top*(1+1e-9), measure.BandEnd(112), "%d rows from band %d", rows, lo)
			require.LessOrEqual(t, top, 100*measure.BandEnd(112)*(1+1e-9), "%d rows from band %d", rows, lo)
			if rows >= 9 {
				require.LessOrEqual(t, top, 10*measure.BandEnd(112)*(1+1e-9), "%d rows from band %d", rows, lo)
			}
		}
	}
}

func TestACurveEndsWhereThereAreTooFewCalls(t *testing.T) {
	spread := measure.Spread{First: 96, Counts: make([]int64, 17)} // from 1 to 10 ms
	for i := range spread.Counts {
		spread.Counts[i] = 100
	}
	c := NewCurve(30, 9, []measure.Spread{spread, {First: 96, Counts: []int64{3}}}, []int{1, 0}, number)
	require.NotNil(t, c)
	assert.Equal(t, "0 %           90 %        99 %", c.Foot(), "1700 calls tell p99 and not p99.9")
	line := c.Areas[0].To
	assert.InEpsilon(t, 4.7e6, line[len(line)/4], 0.1, "the p69")
	for i := range line[1:] {
		require.GreaterOrEqual(t, line[i+1], line[i])
	}
	spread.Counts = []int64{99}
	assert.Nil(t, NewCurve(30, 9, []measure.Spread{spread}, []int{0}, number), "p90 takes a hundred calls")
}

func TestAHistogramHasABarForEachBand(t *testing.T) {
	h := NewHistogram(8, 4, []measure.Spread{{First: 96, Counts: []int64{100, 0, 200}}, {First: 97, Counts: []int64{0, 100}}}, []int{0, 1})
	require.NotNil(t, h)
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor)
	assert.Equal(t, "    ▆┊  \n"+
		"    ▄┊  \n"+
		"▂   █┊  \n"+
		"█   █┊  ", ansi.Strip(strings.Join(h.Draw(s), "\n")), "what no call took has no bar")
	assert.Equal(t, []Tick{{3, "0"}, {1, "50 %"}}, h.Ticks())
	long := NewHistogram(40, 4, []measure.Spread{{First: 80, Counts: []int64{1}}, {First: 150, Counts: []int64{1}}}, []int{0, 0})
	assert.Equal(t, 4, long.each, "bars that would be too thin are of several bands")
	assert.Equal(t, "      1e+06   1e+07   1e+08   1e+09     ", long.Foot(number))
	decade := []measure.Spread{{First: 92, Counts: append(make([]int64, 24), 1)}}
	assert.Equal(t, "        1e+06    2e+06        5e+06     1e+07    2e+07      ", NewHistogram(60, 4, decade, []int{0}).Foot(number))
	assert.Equal(t, "   1e+06  3e+06    1e+07  ", NewHistogram(26, 4, decade, []int{0}).Foot(number), "no label is left out between others")
	assert.Nil(t, NewHistogram(8, 4, []measure.Spread{{}}, []int{0}))
}
