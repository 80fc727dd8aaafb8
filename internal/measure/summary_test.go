package measure

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSummarizeOfNothingIsZero(t *testing.T) {
	assert.Equal(t, Summary{}, Summarize(nil))
	assert.Equal(t, Summary{}, Summarize(NewHistogram()))
}

func TestSummarizeAgreesWithSortedValues(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		h := NewHistogram()
		values := make([]int64, 1+rnd.IntN(5000))
		for i := range values {
			values[i] = rnd.Int64N(1 << (1 + rnd.IntN(41)))
			require.NoError(t, h.RecordValue(values[i]))
		}
		slices.Sort(values)
		s := Summarize(h)
		at := func(p float64) float64 { return float64(values[max(int(p*float64(len(values))+0.5)-1, 0)]) }
		assert.EqualValues(t, len(values), s.Count)
		for _, c := range []struct {
			want float64
			got  int64
		}{
			{float64(values[0]), s.Min},
			{at(0.50), s.P50},
			{at(0.90), s.P90},
			{at(0.95), s.P95},
			{at(0.99), s.P99},
			{at(0.999), s.P999},
			{at(0.9999), s.P9999},
			{float64(values[len(values)-1]), s.Max},
		} {
			assert.InDelta(t, c.want, float64(c.got), c.want/1000+1)
		}
		assert.Equal(t, h.ValueAtQuantile(99.9), s.P999, "same as the one-at-a-time call of other readers")
		assert.Equal(t, []int64{h.Min(), h.Max()}, []int64{s.Min, s.Max}, "and these")
	}
}

func TestHistogramHoldsAnHour(t *testing.T) {
	h := NewHistogram()
	require.NoError(t, h.RecordValue(0))
	require.NoError(t, h.RecordValue(Highest))
	s := Summarize(h)
	assert.Zero(t, s.Min)
	assert.GreaterOrEqual(t, s.Max, Highest)
}
