package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParsePercentile(t *testing.T) {
	for name, want := range map[string]float64{"p50": 50, "p95.5": 95.5, "p99.99": 99.99, "p0.1": 0.1, "p5": 5} {
		got, ok := ParsePercentile(name)
		assert.True(t, ok, name)
		assert.InDelta(t, want, got, 1e-9, name)
	}
	for _, name := range []string{"", "p", "p0", "p100", "p0.0", "99", "p99.", "p-5", "p99.99999", "q99", "p9 9"} {
		_, ok := ParsePercentile(name)
		assert.False(t, ok, name)
	}
}

func TestAPercentileNeedsTenSamplesBeyondIt(t *testing.T) {
	for p, n := range map[float64]int64{50: 20, 90: 100, 95: 200, 99: 1000, 99.9: 10_000, 99.99: 100_000} {
		assert.Equal(t, n, Needs(p), "p%v", p)
		assert.True(t, Enough(p, n), "p%v of %d", p, n)
		assert.False(t, Enough(p, n-1), "p%v of %d", p, n-1)
	}
}

func TestPercentilesWithTooFewSamplesAreHidden(t *testing.T) {
	s := Summary{Count: 1500, Mean: 5, Min: 1, P50: 2, P90: 3, P95: 4, P99: 5, P999: 6, P9999: 7, Max: 8}
	assert.Equal(t, Summary{Count: 1500, Mean: 5, Min: 1, P50: 2, P90: 3, P95: 4, P99: 5, P999: Hidden, P9999: Hidden, Max: 8}, s.Shown())
	assert.EqualValues(t, 6, s.P999, "the summary itself keeps its numbers")
}
