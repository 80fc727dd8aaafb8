package sweep

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRatesAroundAKnee(t *testing.T) {
	assert.Equal(t, []string{"400", "800", "1200", "1400", "1600", "1800", "1900", "2000", "2200", "2500"}, Around([]Knee{{Rate: 2000}}))
	two := Around([]Knee{{Rate: 4000}, {Rate: 1000}})
	assert.Equal(t, "200", two[0], "a fifth of the lower knee")
	assert.Equal(t, "5000", two[len(two)-1], "a quarter more than the higher knee")
	assert.Equal(t, "4.19", Around([]Knee{{Rate: 20.95}})[0])
}

// Until the rates are chosen there are as many points as there will be, in words.
func TestRatesThatAreYetToBeChosen(t *testing.T) {
	axes, err := Parse([]string{"rate=auto", "payload=64,128"})
	require.NoError(t, err)
	assert.Equal(t, 0, AutoAxis(axes))
	points, err := Points(axes, 3)
	require.NoError(t, err)
	assert.Len(t, points, 20)
	assert.Equal(t, []string{"20 % of the knee", "128"}, points[1])
	r := &Result{Axes: axes, Rounds: 3}
	assert.Equal(t, 60, r.All())
	assert.Equal(t, "rate=125 % of the knee and payload=128", r.Place(19))
	for over, want := range map[string]string{
		"rate=auto,500": "over rate: auto stands beside other values",
		"threads=auto":  "over threads: one value does not make a sweep",
	} {
		_, err := Parse([]string{over})
		assert.EqualError(t, err, want)
	}
}
