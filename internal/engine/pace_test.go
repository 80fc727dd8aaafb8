package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Whatever the rate and however many tracks, all of them together read the clock for a
// fiftieth of a processor at most, or for an eighth of all where they are recorded, and each for
// long enough where due times are rare.
func TestSpinningIsBounded(t *testing.T) {
	for _, tracks := range []int{1, 3, 40} {
		for rate := 1.0; rate <= 1e6; rate *= 3 {
			spin := spinFor(1e9/rate, tracks, 4, false)
			assert.LessOrEqual(t, spin, mostSpin)
			assert.LessOrEqual(t, spin.Seconds()*rate*float64(tracks), spinShare, "%d tracks at %g/s", tracks, rate)
			for processors := 2; processors < 100; processors *= 3 {
				spin := spinFor(1e9/rate, tracks, processors, true)
				assert.LessOrEqual(t, spin, mostSpin)
				assert.LessOrEqual(t, spin.Seconds()*rate*float64(tracks), min(float64(processors)/8, 0.5))
			}
		}
	}
	assert.Equal(t, mostSpin, spinFor(1e9/50, 1, 2, false))
	assert.Equal(t, 40*time.Microsecond, spinFor(1e9/500, 1, 2, false))
	assert.Equal(t, 4*time.Microsecond, spinFor(1e9/5000, 1, 2, false))
	assert.Equal(t, 50*time.Microsecond, spinFor(1e9/5000, 1, 2, true))
	assert.Zero(t, spinFor(1e9/50, 1, 1, true))
	assert.Zero(t, spinFor(1e9/50, 1, 1, false), "the store needs the one processor that there is")
}
