package measure

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheSlowestOfSeveralCallsIsComputedFromOne(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 2))
	call := func() int64 { return int64(1e5 + rnd.ExpFloat64()*1e6) }
	h, own := NewHistogram(), newHist()
	for range 400_000 {
		v := call()
		require.NoError(t, h.RecordValue(v))
		own.record(v, 1)
	}
	got := SlowestOf(h)
	assert.Equal(t, got, slowest(own.total, own.at), "the figures of a run under way are those of its log")
	for _, s := range got {
		most := make([]int64, 40_000)
		for i := range most {
			for range s.Calls {
				most[i] = max(most[i], call())
			}
		}
		slices.Sort(most)
		assert.InEpsilon(t, most[len(most)/2], s.P50, 0.02, "p50 of %d", s.Calls)
		assert.InEpsilon(t, most[len(most)*99/100], s.P99, 0.06, "p99 of %d", s.Calls)
	}
}

func TestTooFewCallsDoNotTellTheSlowestOfMany(t *testing.T) {
	h := NewHistogram()
	require.NoError(t, h.RecordValues(1000, 4900)) // p99 of 5 is p99.8, which takes 4,980
	assert.Equal(t, [3]Slowest{{5, 1000, Hidden}, {20, 1000, Hidden}, {100, 1000, Hidden}}, SlowestOf(h))
	require.NoError(t, h.RecordValues(1000, 100))
	assert.Equal(t, Slowest{5, 1000, 1000}, SlowestOf(h)[0])
	assert.Equal(t, [3]Slowest{}, SlowestOf(nil))
	assert.EqualValues(t, 99_504, NeedsOfSlowest(99, 100))
}
