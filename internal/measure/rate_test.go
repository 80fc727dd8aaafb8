package measure

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRateNeedsAFifthOfASecond(t *testing.T) {
	assert.InDelta(t, 500, Rate(100, 0.2), 0)
	for _, s := range []float64{0.199, 0.05, 0, -1, math.NaN()} {
		assert.True(t, math.IsNaN(Rate(580, s)), "%g s", s)
	}
}

func TestCoveredCountsNoMomentTwice(t *testing.T) {
	s := time.Second
	phases := []Phase{
		{Name: "a", Tracks: []string{"x"}, To: 2 * s},
		{Name: "b", Tracks: []string{"y", "x"}, From: s, To: 3 * s},
		{Name: "beside", Tracks: []string{"z"}, From: 3 * s, To: 9 * s},
		{Name: "c", Tracks: []string{"x"}, From: 8 * s, To: 10 * s},
	}
	x := func(track string) bool { return track == "x" }
	assert.Equal(t, 5*s, Covered(phases, x, 0, 20*s))
	assert.Equal(t, 2*s, Covered(phases, x, 2*s, 9*s))
	assert.Zero(t, Covered(phases, x, 4*s, 5*s))
	assert.Zero(t, Covered(nil, x, 0, s))
}
