package rundir

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// A run that failed its verification has no throughput, but what it was acknowledged is seen by the
// second: that is where it broke.
func TestARunThatFailedKeepsItsTimeline(t *testing.T) {
	f := &Folder{
		Run: Run{
			Unit: "entries", MeasuredS: 3, Phases: []Phase{{Name: "load", To: 3, Tracks: []string{"load"}}},
			Operations: []Operation{{Track: "load", Op: "put"}}, Verification: workload.Verification{State: workload.Failed},
		},
		Series: []SeriesRow{
			{T: 0, Track: "load", Op: "put", Count: 100, Throughput: math.NaN()},
			{T: 1, Track: "load", Op: "put", Count: 0, Throughput: math.NaN()},
			{T: 2, Track: "load", Op: "put", Count: 50, Throughput: math.NaN()},
		},
	}
	c := Of(f)
	assert.True(t, c.Unverified)
	assert.Equal(t, []float64{100, 0, 50}, c.Rates)
	f.Run.Verification.State = workload.Passed
	assert.False(t, Of(f).Unverified)
}
