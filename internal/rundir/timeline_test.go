package rundir

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
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

// The times of a second are hidden where too few calls support them: those of one batch are one call, and
// a moment of several seconds has the calls of all of them.
func TestTimesOfASecondAreThoseThatItsCallsSupport(t *testing.T) {
	f := &Folder{Run: Run{Unit: "entries", Operations: []Operation{{Track: "feed", Op: "put", Count: 20_000, Calls: 2000}}}}
	row := func(second int, units int64) {
		f.Series = append(f.Series, SeriesRow{T: second, Track: "feed", Op: "put", Count: units, ResponseP50: 2, ResponseP99: 5, ResponseMax: 9})
	}
	row(0, 30)
	row(1, 9000)
	row(2, 10_000)
	row(3, 1000)
	c := OfCalls(f)
	few := c.Times(0, 1)
	assert.Equal(t, []int64{measure.Hidden, measure.Hidden, 9}, []int64{few.P50, few.P99, few.Max}, "three calls")
	batches := c.Times(1, 2)
	assert.Equal(t, []int64{2, measure.Hidden, 9}, []int64{batches.P50, batches.P99, batches.Max}, "900 calls")
	assert.EqualValues(t, 5, c.Times(2, 3).P99)
	assert.EqualValues(t, 5, c.Times(1, 4).P99, "900, 1000 and 100 calls")
	assert.Zero(t, c.Times(7, 9))
}
