package find

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where perfbench itself was the limit, the time of calls in the store answers as far as it can: not
// at levels that were not done, and not for conditions on what it is not the time of.
func TestTheStoreAloneAnswers(t *testing.T) {
	step := func(level, done float64, ms, failed int64) Step {
		return Step{Level: level, Done: done, Calls: 1000, Errors: failed, Service: Times{P50: 1e5, P99: ms * 1e6}, Response: Times{P99: 90e6}}
	}
	threads := func(n int, s Step) Step {
		s.Threads = n
		return s
	}
	for name, c := range map[string]struct {
		under  []string
		steps  []Step
		holds  float64
		failed []float64
	}{
		"between two":         {[]string{"p99<10ms"}, []Step{step(4000, 3990, 30, 0), step(2000, 2000, 7, 0), step(1000, 1000, 2, 0)}, 2000, []float64{4000}},
		"one in between":      {[]string{"p99<10ms"}, []Step{step(8000, 7990, 12, 0), step(4000, 3990, 3, 0), step(2000, 2000, 17, 0), step(1000, 1000, 2, 0)}, 4000, []float64{2000, 8000}},
		"two below":           {[]string{"p99<10ms"}, []Step{step(4000, 3990, 3, 0), step(2000, 2000, 17, 0), step(1000, 1000, 12, 0)}, 4000, []float64{1000, 2000}},
		"with more threads":   {[]string{"p99<10ms"}, []Step{threads(8, step(1000, 1000, 3, 0)), threads(32, step(1000, 1000, 12, 0)), threads(8, step(2000, 2000, 12, 0)), threads(32, step(2000, 2000, 3, 0))}, 2000, nil},
		"all of them":         {[]string{"p99<10ms"}, []Step{step(4000, 3990, 3, 0), step(2000, 2000, 2, 0)}, 4000, nil},
		"none of them":        {[]string{"p99<1ms"}, []Step{step(4000, 3990, 3, 0), step(2000, 2000, 2, 0)}, 0, []float64{2000, 4000}},
		"what was not done":   {[]string{"p99<10ms"}, []Step{step(4000, 2900, 3, 0), step(2000, 2000, 2, 0)}, 2000, nil},
		"errors, too":         {[]string{"p99<10ms", "errors<1%"}, []Step{step(4000, 3990, 3, 50), step(2000, 2000, 2, 0)}, 2000, []float64{4000}},
		"another percentile":  {[]string{"p90<10ms"}, []Step{step(4000, 3990, 3, 0)}, 0, nil},
		"one operation":       {[]string{"put.p99<10ms"}, []Step{step(4000, 3990, 3, 0)}, 0, nil},
		"the lateness itself": {[]string{"p99.lateness<10ms"}, []Step{step(4000, 3990, 3, 0)}, 0, nil},
	} {
		r := Result{Over: OverRate, Under: c.under, Steps: c.steps}
		holds, failed := r.InStore()
		if c.holds == 0 {
			assert.Nil(t, holds, name)
		} else {
			require.NotNil(t, holds, name)
			assert.InDelta(t, c.holds, holds.Level, 0, name)
		}
		var levels []float64
		for _, s := range failed {
			levels = append(levels, s.Level)
		}
		assert.Equal(t, c.failed, levels, name)
	}
	r := Result{Over: OverRate, Under: []string{"p99<10ms"}, Steps: []Step{step(2000, 2000, 2, 0), step(4000, 2900, 3, 0), step(6000, 3100, 12, 0), step(8000, 1900, 3, 0)}}
	assert.InDelta(t, 2900, r.DidMore(&r.Steps[0]).Done, 0, "the others did less, or took too long")
	assert.Nil(t, r.DidMore(&r.Steps[1]))
	assert.InDelta(t, 3990, (&Result{Steps: []Step{step(2000, 2000, 1, 0), step(4000, 3990, 1, 0), step(6000, 3500, 1, 0)}}).Most().Done, 0)
	assert.Nil(t, (&Result{}).Most())
}
