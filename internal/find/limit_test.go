package find

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
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

// One cause is told: pauses for garbage that hardly any processor time went into are those of a machine which
// gave its processors to others, and where perfbench itself was busy collecting it, that is what is told.
func TestTheLimitOfAStepHasOneCause(t *testing.T) {
	for cpu, want := range map[float64]struct {
		text   string
		causes []string
	}{
		0.1: {"the machine and not the store: the hypervisor", []string{string(verdict.Stolen)}},
		2:   {"perfbench and not the store: garbage collection", []string{string(verdict.Stolen), string(verdict.GC)}},
	} {
		f := &Finder{bench: &bench{}, plan: &workload.Plan{}}
		sum := &stepSum{seconds: 3, count: 3000, response: measure.NewHistogram(), service: measure.NewHistogram(), lateness: measure.NewHistogram()}
		sum.after = &verdict.Observed{Seconds: 3, Cores: 4, CPU: 0.2, Machine: 0.5, Stolen: 0.3, GCPauses: 0.02, GCCPU: cpu}
		for range 3000 {
			_ = sum.response.RecordValue(10e6)
			_ = sum.service.RecordValue(10e6)
		}
		l := f.suspect(Step{Level: 1000, Why: "p99<5ms did not hold"}, sum)
		assert.ElementsMatch(t, want.causes, l.Causes)
		assert.Contains(t, l.Text, want.text)
	}
}
