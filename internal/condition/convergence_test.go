package condition

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
)

func TestParseGoals(t *testing.T) {
	for text, want := range map[string]Goal{
		"p99 ±2%":          {Text: "p99 ±2%", Figure: "p99", Within: 0.02},
		"p99.9+-0.5 %":     {Text: "p99.9+-0.5 %", Figure: "p99.9", Within: 0.005},
		"throughput +/-1%": {Text: "throughput +/-1%", Figure: "throughput", Within: 0.01},
	} {
		got, err := ParseGoal(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"p99": `until: "p99" is not FIGURE ±PERCENT%`, "p100 ±2%": `until: no confidence interval is known for "p100"`, "max ±2%": `until: no confidence interval is known for "max"`, "p99 ±0%": "until: ±0% is not in",
	} {
		_, err := ParseGoal(text)
		require.ErrorContains(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

// When the goal is reached, the figure is as near to the truth as it says: seconds whose
// rate goes up and down with a memory, around a known one.
func TestTheGoalIsKept(t *testing.T) {
	const runs, within = 200, 0.03
	wrong, longest := 0, 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := NewConvergence(Goal{Figure: "throughput", Within: within})
		drift, sum, n := 0.0, 0.0, 0
		for reached := false; !reached; n++ {
			drift = 0.5*drift + 0.05*r.NormFloat64()
			sum += drift
			reached = w.Add(nil, 1000*math.Exp(drift), 0)
		}
		longest = max(longest, n)
		if math.Abs(sum/float64(n)) > within {
			wrong++
		}
		assert.Empty(t, w.Missed(time.Minute))
	}
	assert.LessOrEqual(t, wrong, runs/10, "runs that ended too early")
	assert.Less(t, longest, 600)
}

func TestWhyAGoalWasMissed(t *testing.T) {
	w := NewConvergence(Goal{Text: "throughput ±1%", Figure: "throughput", Within: 0.01})
	for range 6 {
		w.Add(nil, 20_000, 0)
	}
	assert.Contains(t, w.Missed(6*time.Second), "it takes 10 whole seconds without a change of settings, and the last stretch had 6: make it longer")
	for i := range 7 {
		w.Add(nil, math.Pow(1000, float64(i%3)), 0)
	}
	assert.Regexp(t, `at the end it was known to ±[0-9]{3,} %$`, w.Missed(13*time.Second))
}

func TestPercentilesNeedCalls(t *testing.T) {
	w := NewConvergence(Goal{Text: "p99 ±5%", Figure: "p99", Within: 0.05})
	r := rand.New(rand.NewPCG(1, 1))
	second := func(calls int) bool {
		h := measure.NewHistogram()
		for range calls {
			require.NoError(t, h.RecordValue(int64(1e6*(1+r.ExpFloat64()))))
		}
		return w.Add(h, float64(calls), 0)
	}
	for range 50 {
		assert.False(t, second(100), "ten seconds make one p99")
	}
	assert.Contains(t, w.Missed(50*time.Second), "until p99 ±5% was not reached within 50s: there were too few calls to tell")
	n := 0
	for !second(20_000) {
		n++
		require.Less(t, n, 500)
	}
	assert.False(t, w.Add(measure.NewHistogram(), 1, 1), "another segment begins anew")
}
