package sweep

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

// crashing is a sweep over a setting: one that keeps all and is slow, one that loses some, and one
// of whose runs nobody knows what they lost.
func crashing() *Result {
	r := &Result{
		Profile: "mix", Unit: "operations", Rounds: 2, Crash: PowerCut,
		Axes: []Axis{{Name: "innodb_flush_log_at_trx_commit", Values: []string{"1", "2", "0"}, Server: true}},
	}
	for round := range 2 {
		for point, done := range []float64{100, 300, 200} {
			lost := int64(point * (10 + round))
			d := Run{Round: round, Point: point, Done: &done, P50: int64(1e6 - done), P99: int64(2e6 - done), Verdict: "INVALID", Causes: []string{"verification", "errors"}, Lost: &lost}
			if point == 2 {
				d.Lost, d.Causes = nil, []string{"crowded"}
			}
			r.Runs = append(r.Runs, d)
		}
	}
	return r
}

func TestWhatACrashCosts(t *testing.T) {
	t.Parallel()
	r := crashing()
	require.NoError(t, r.Settle())
	assert.Equal(t, &Loss{Known: 2}, r.Points[0].Loss)
	assert.Equal(t, &Loss{Least: 10, Most: 11, Known: 2, Lossy: 2}, r.Points[1].Loss)
	assert.Equal(t, &Loss{}, r.Points[2].Loss)
	assert.Equal(t, []int{0, 0, 2}, []int{r.Points[0].Doubtful, r.Points[1].Doubtful, r.Points[2].Doubtful}, "what a crash does by itself is no doubt")
	assert.True(t, r.Points[0].Safe())
	assert.False(t, r.Points[1].Safe())
	assert.False(t, r.Points[2].Safe(), "nobody knows")
	assert.Equal(t, -1, r.Across(), "numbers of a setting are ways")
	any := func(*Point) bool { return true }
	assert.Equal(t, 1, r.Cheapest(any))
	assert.Equal(t, 0, r.Cheapest((*Point).Safe))

	r.Open = true
	assert.Equal(t, "p99", r.Cost())
	assert.InDelta(t, 2e6-300, r.CostOf(&r.Points[1]), 1e-9)
	assert.Equal(t, 1, r.Cheapest(any))
	r.Points[0].P99 = measure.Hidden
	assert.Equal(t, "p50", r.Cost())
	assert.InDelta(t, 1e6-100, r.CostOf(&r.Points[0]), 1e-9)

	r.Crash, r.Points = "", nil
	require.NoError(t, r.Settle())
	assert.Nil(t, r.Points[0].Loss)
	assert.Equal(t, 2, r.Points[0].Doubtful)
}
