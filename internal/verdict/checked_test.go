package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

// A run says what was looked at for its verdict and what was found; what is a reason for doubt is none of what is fine, and
// what could not be looked at is left out.
func TestWhatWasCheckedHasItsFigure(t *testing.T) {
	t.Parallel()
	ops := func() []Op {
		return []Op{{Name: "put", Counts: true, Count: 50_000, Calls: 50_000, ServiceMean: 1e6, ServiceP50: 1e6,
			Response: measure.Summary{Count: 50_000, P50: 1e6, P99: 2e6, Max: 3e6}, Lateness: measure.Summary{Count: 50_000, P99: 12e3, Max: 1e5}}}
	}
	r := Record{Seconds: 60, Ops: ops(), Verified: Passed, Phases: []Phase{{Name: "load", Seconds: 60, Calls: 60_000}},
		Observed: &Observed{Seconds: 60, Cores: 2, CPU: 0.84, Machine: 1.2, ClockCost: 25, PoolSize: 8, Ceilings: []PhaseCeiling{{Phase: "load", PerS: 10_000}}}}
	figures := func() (out map[string]string) {
		out = map[string]string{}
		for _, c := range Check(r) {
			require.NotContains(t, out, c.Name)
			if out[c.Name] = c.Figure; !c.OK {
				out[c.Name] += " !"
			}
		}
		return out
	}
	require.Equal(t, Valid, Judge(r).State, Judge(r).Reasons)
	assert.Equal(t, map[string]string{
		"answered calls": "all of 50\u2009000", "suspended": "never", "had no processor": "never", "lateness": "p99 12 µs, of responses 2 ms", "backlog": "none that lasted",
		"never sent": "0 of 50\u2009000", "own processors": "0.84 of 2", "hypervisor took": "0 %", "GC pauses": "0 %",
		"swapped in": "0 times", "connection waits": "0, 0 ns in all", "own ceiling": "10 % of 10k/s", "reading the clock": "25 ns", "calls for p99": "50\u2009000, needs 1\u2009000",
	}, figures())

	r.Observed.Processes = []Process{{Role: "perfbench", CPU: new(0.84), Queue: new(0.0)}, {Role: "redis", CPU: new(0.5), Queue: new(0.0)}}
	assert.Equal(t, "0 processors", figures()["other processes"])
	r.Observed.Others, r.Observed.OthersMost = new(0.062), new(1.0)
	assert.Equal(t, "0.06 processors, 1.00 at most", figures()["other processes"], "what the system did not count in most seconds hides nothing")
	r.Observed.OthersMost = new(0.07)
	assert.Equal(t, "0.06 processors", figures()["other processes"])
	r.Observed.Store = &Used{CPU: new(0.54 * r.Observed.Seconds)}
	assert.Equal(t, "0.02 processors", figures()["other processes"], "the rest is the store's, by its own count")
	r.Observed.Processes, r.Observed.Store, r.Observed.Others, r.Observed.OthersMost = nil, nil, nil, nil

	r.Ops[0].Errors, r.Ops[0].Unstarted, r.Ops[0].Lateness.P99 = 500, 1000, 1500e3
	r.Observed.CPU, r.Observed.Pauses, r.Observed.PausedS = 1.9, 4, 2
	got := figures()
	for name, want := range map[string]string{
		"answered calls": "500 of 50\u2009500 failed !", "never sent": "1\u2009000 of 51\u2009000 !", "lateness": "p99 1.5 ms, of responses 2 ms !", "own processors": "1.9 of 2 !",
		"suspended": "for 2 s !", "had no processor": "never",
	} {
		assert.Equal(t, want, got[name], name)
	}

	r = Record{Seconds: 60, Ops: ops()}
	r.Ops[0].Lateness = measure.Summary{}
	assert.Equal(t, map[string]string{"answered calls": "all of 50\u2009000", "calls for p99": "50\u2009000, needs 1\u2009000"}, figures(), "a closed loop of which nothing was observed")
}

// Whatever is a reason in a run and has a name is told as one there.
func TestEveryRuleWithAFigureHasAName(t *testing.T) {
	t.Parallel()
	for _, rule := range rules {
		assert.Equal(t, rule.name != "", rule.figure != nil, rule.cause)
	}
}

// What the hypervisor took has the name that people know it by.
func TestStolenIsTheHypervisorOnScreens(t *testing.T) {
	assert.Equal(t, "hypervisor", Stolen.Word())
}
