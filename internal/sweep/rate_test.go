package sweep

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

// overRates are three runs at each of three rates, by what they did and their p99.
func overRates(t *testing.T, done [3][3]float64, p99 [3][3]int64) *Result {
	t.Helper()
	r := &Result{Rounds: 3, Open: true, Axes: []Axis{{Name: "rate", Values: []string{"1000", "2000", "3000"}}}}
	for round := range 3 {
		for i := range 3 {
			r.Runs = append(r.Runs, Run{Round: round, Point: i, ID: strconv.Itoa(len(r.Runs)), Done: new(done[i][round]), P50: 80, P99: p99[i][round]})
		}
	}
	require.NoError(t, r.Settle())
	return r
}

// One run that was disturbed does not make a knee, and one that by chance met its rate does not
// move it.
func TestTheKneeOverRatesIsThatOfMostRuns(t *testing.T) {
	fine := [3][3]int64{{100, 100, 100}, {100, 100, 100}, {100, 100, 100}}
	for name, c := range map[string]struct {
		done         [3][3]float64
		knee, missed float64
	}{
		"all met":          {[3][3]float64{{1000, 999, 1000}, {1990, 2000, 2000}, {2990, 3000, 3000}}, 3000, 0},
		"one disturbed":    {[3][3]float64{{1000, 300, 1000}, {1990, 2000, 2000}, {2000, 2100, 1900}}, 2000, 3000},
		"one by chance":    {[3][3]float64{{1000, 999, 1000}, {1500, 2000, 1400}, {1500, 1500, 1500}}, 1000, 2000},
		"none":             {[3][3]float64{{500, 500, 500}, {500, 500, 500}, {500, 500, 500}}, 0, 1000},
		"met again beyond": {[3][3]float64{{1000, 999, 1000}, {1500, 1500, 1400}, {3000, 3000, 3000}}, 1000, 2000},
	} {
		r := overRates(t, c.done, fine)
		knee, missed := r.RateKnee(0, "")
		assert.Equal(t, []float64{c.knee, c.missed}, []float64{knee, missed}, name)
	}
	r := overRates(t, [3][3]float64{{1000, 999, 1000}, {1990, 2000, 2000}, {2990, 3000, 3000}}, fine)
	for i := range r.Runs { // by chance, so many calls came
		r.Runs[i].Done, r.Runs[i].Due = new(0.9**r.Runs[i].Done), new(0.9*[]float64{1000, 2000, 3000}[r.Runs[i].Point])
	}
	knee, missed := r.RateKnee(0, "")
	assert.Equal(t, []float64{3000, 0}, []float64{knee, missed}, "all that was due was done")
	r.Runs = r.Runs[:2]
	require.NoError(t, r.Settle())
	knee, missed = r.RateKnee(0, "")
	assert.Equal(t, []float64{2000, 0}, []float64{knee, missed}, "the rest is to come")
}

// A percentile that is not known of a run is not known of its rate, as in a comparison: the p99 that stands for
// a rate is never below the p50.
func TestAHiddenPercentileIsNotTheLowest(t *testing.T) {
	r := overRates(t, [3][3]float64{}, [3][3]int64{{100, measure.Hidden, 300}, {measure.Hidden, measure.Hidden, 90}, {100, 200, 300}})
	assert.Equal(t, []int64{measure.Hidden, measure.Hidden, 182}, []int64{r.Points[0].P99, r.Points[1].P99, r.Points[2].P99})
	_, p99 := r.Latencies(0, "")
	assert.Equal(t, []int64{100, 90, 100}, p99.Low)
	assert.Equal(t, []int64{300, 90, 300}, p99.High)
}
