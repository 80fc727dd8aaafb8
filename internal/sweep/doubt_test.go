package sweep

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A knee is not stated where the runs at its threads vary so much that chance may have made it.
func TestAKneeThatItsRunsDoNotCarryIsNotStated(t *testing.T) {
	of := func(scatter float64) Line {
		r := Result{Axes: []Axis{{Name: "threads", Values: []string{"1", "2", "4", "8", "16"}}}, Rounds: 3}
		for point, x := range []float64{1000, 1900, 3500, 3600, 3650} {
			for round, off := range []float64{-1, 0, 1} {
				done := x * (1 + scatter*off)
				r.Runs = append(r.Runs, Run{Round: round, Point: point, Threads: []float64{1, 2, 4, 8, 16}[point], Done: &done})
			}
		}
		if assert.NoError(t, r.Settle()) && assert.Len(t, r.Lines, 1) {
			return r.Lines[0]
		}
		return Line{}
	}
	steady := of(0.01)
	assert.InDelta(t, 4, steady.Knee, 0)
	assert.Empty(t, steady.Doubt)
	wild := of(0.9)
	assert.Zero(t, wild.Knee)
	assert.Nil(t, wild.KneeLow)
	assert.Regexp(t, `^the runs at \d+ threads? vary by more than ± 100 %$`, wild.Doubt)
}
