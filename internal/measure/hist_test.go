package measure

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHistAgreesWithTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 25 {
		ours, theirs := newHist(), NewHistogram()
		for range 1 + r.IntN(3000) {
			v := r.Int64N(int64(1) << (1 + r.IntN(41)))
			ours.record(v, 1)
			require.NoError(t, theirs.RecordValue(v))
		}
		require.Equal(t, Summarize(theirs), ours.summary(), "round %d", round)
		require.True(t, theirs.Equals(ours.export()), "round %d: exported counts differ", round)
		require.Equal(t, theirs.ValueAtPercentile(75), ours.at(75))
	}
}

func TestHistKeepsWhatIsOutOfRangeApart(t *testing.T) {
	h := newHist()
	h.record(-5, 1)
	h.record(Highest+1, 2)
	assert.EqualValues(t, 3, h.total)
	assert.EqualValues(t, 2, h.beyond)
	assert.EqualValues(t, 0, h.summary().Min)
	assert.GreaterOrEqual(t, h.summary().Max, Highest)
}

func TestHistMergeEqualsRecordingBoth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b, both := newHist(), newHist(), newHist()
	for range 5000 {
		v := r.Int64N(1 << 30)
		if r.IntN(2) == 0 {
			a.record(v, 1)
		} else {
			b.record(v, 1)
		}
		both.record(v, 1)
	}
	packedBack := newHist()
	a.pack().into(packedBack)
	require.Equal(t, a.summary(), packedBack.summary())
	a.merge(b)
	require.Equal(t, both.summary(), a.summary())
	a.reset()
	require.Equal(t, Summary{}, a.summary())
}

func TestTimesOfMixedLoops(t *testing.T) {
	var x times
	x.record(&Call{Due: 100, Start: 100, End: 300})           // closed: response 200
	x.record(&Call{Due: 100, Start: 400, End: 700, Late: 50}) // open: response 600, service 300, wait 300
	got := x.totals(Operation{"t", "put"})
	assert.EqualValues(t, 2, got.Calls)
	assert.EqualValues(t, 200, got.Response.Min)
	assert.EqualValues(t, 600, got.Response.Max)
	assert.EqualValues(t, 300, got.Service.Max)
	assert.EqualValues(t, 0, got.Wait.Min)
	assert.EqualValues(t, 300, got.Wait.Max)
	assert.EqualValues(t, 0, got.Lateness.Min)
	assert.EqualValues(t, 50, got.Lateness.Max)
	assert.EqualValues(t, 2, got.Lateness.Count)
	var y times
	x.pack().into(&y)
	assert.Equal(t, got, y.totals(Operation{"t", "put"}))
}
