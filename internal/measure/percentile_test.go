package measure_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
)

func TestParsePercentile(t *testing.T) {
	for name, want := range map[string]float64{"p50": 50, "p95.5": 95.5, "p99.99": 99.99, "p0.1": 0.1, "p5": 5} {
		got, ok := measure.ParsePercentile(name)
		assert.True(t, ok, name)
		assert.InDelta(t, want, got, 1e-9, name)
	}
	for _, name := range []string{"", "p", "p0", "p100", "p0.0", "99", "p99.", "p-5", "p99.99999", "q99", "p9 9"} {
		_, ok := measure.ParsePercentile(name)
		assert.False(t, ok, name)
	}
}
