package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Whatever the rate and however many tracks, all of them together read the clock for a
// fiftieth of a processor at most, and each for long enough where due times are rare.
func TestSpinningIsBounded(t *testing.T) {
	for _, tracks := range []int{1, 3, 40} {
		for rate := 1.0; rate <= 1e6; rate *= 3 {
			spin := spinFor(1e9/rate, tracks, 4)
			assert.LessOrEqual(t, spin, mostSpin)
			assert.LessOrEqual(t, spin.Seconds()*rate*float64(tracks), spinShare, "%d tracks at %g/s", tracks, rate)
		}
	}
	assert.Equal(t, mostSpin, spinFor(1e9/50, 1, 2))
	assert.Equal(t, 40*time.Microsecond, spinFor(1e9/500, 1, 2))
	assert.Equal(t, 4*time.Microsecond, spinFor(1e9/5000, 1, 2))
	assert.Zero(t, spinFor(1e9/50, 1, 1), "the store needs the one processor that there is")
}
