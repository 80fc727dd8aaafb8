package find

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Calls that perfbench began late are why a response time is too long, and no reason why the time in
// the store alone is.
func TestLatenessIsNoReasonOfAServiceTime(t *testing.T) {
	for under, want := range map[string]string{"p99<5ms": ByPerfbench, "p99.service<5ms": ByStore} {
		e, err := condition.ParseThreshold(under)
		require.NoError(t, err)
		f := &Finder{bench: &bench{}, options: Options{Under: []condition.Threshold{e}}, plan: &workload.Plan{}}
		sum := &stepSum{seconds: 3, count: 3000, response: measure.NewHistogram(), service: measure.NewHistogram(), lateness: measure.NewHistogram()}
		for range 3000 {
			_ = sum.response.RecordValue(110e6)
			_ = sum.service.RecordValue(10e6)
			_ = sum.lateness.RecordValue(100e6)
		}
		assert.Equal(t, want, f.suspect(Step{Level: 1000, Why: under + " did not hold"}, sum).By, under)
	}
}
