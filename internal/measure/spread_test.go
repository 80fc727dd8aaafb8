package measure

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestASpreadHasEachCallInTheBandOfItsTime(t *testing.T) {
	h := newHist()
	for _, v := range []int64{1, 900, 1000, 1_000_000, 1_500_000, Highest} {
		h.record(v, 3)
	}
	s := spreadOf(h, 7, 1)
	assert.EqualValues(t, h.total, s.Calls())
	for i := range countsLen {
		band := int(bandOf()[i])
		v := float64(lowestAt(i)) + float64(sizeAt(i)-1)/2
		require.LessOrEqual(t, v, BandEnd(band)*(1+1e-6))
		require.True(t, band == 0 || v > BandEnd(band-1)*(1-1e-6), "%v in band %d", v, band)
	}
}

// However long a run: its spreads are few, lose no call, and those published stay.
func TestSpreadsStayFewAndLoseNothing(t *testing.T) {
	var l spreads
	h := newHist()
	var shown, was []Spread
	for n := -20; n < 1000; n++ {
		h.reset()
		h.record(int64(1000+n*n), int64(1+n%2&1))
		h.record(5_000_000, 2)
		l.add(h, n)
		if n == 200 {
			shown, was = l.list, slices.Clone(l.list)
		}
		require.LessOrEqual(t, len(l.list), maxSpreads)
	}
	assert.Equal(t, was, shown)
	calls, last := int64(0), -1000
	for _, s := range l.list {
		require.Zero(t, floorTo(s.T, s.Width)-s.T)
		require.GreaterOrEqual(t, s.T, last)
		last = s.T + s.Width
		calls += s.Calls()
	}
	assert.EqualValues(t, 1020*2+1020+510, calls)
}
