package find

import (
	"slices"
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

// Calls that waited for a thread while the store alone was quick enough leave open whether more threads help; where the
// store itself broke the condition, they do not.
func TestCallsWaitForAThreadWhereTheStoreAloneIsQuickEnough(t *testing.T) {
	e, err := condition.ParseThreshold("p99<10ms")
	require.NoError(t, err)
	b := &bench{options: Options{Under: []condition.Threshold{e}}, quick: 1e6}
	step := func(busy int, slow float64) {
		b.step = stepSum{seconds: 3, busy: busy, slow: []Reading{{slow, 3000}}, service: measure.NewHistogram()}
		for range 3000 {
			_ = b.step.service.RecordValue(2e6)
		}
	}
	step(3, 29)
	assert.True(t, b.waited())
	assert.False(t, b.tooFew(), "calls took twice as long as at first")
	step(3, 31)
	assert.False(t, b.waited(), "more than 1 % took longer in the store")
	step(1, 0)
	assert.False(t, b.waited(), "threads were free")
	b.options.Under = nil
	step(3, 0)
	assert.False(t, b.waited(), "nothing is known of the store")
}

// What slows the store at one level, and not at a higher one at which it did more, is not the rate.
func TestAStoreThatWasQuickerAtAHigherRateIsNoLimit(t *testing.T) {
	r := &Result{Over: OverRate, Steps: []Step{
		{Level: 100, Done: 100, Service: Times{P50: 525e3}}, {Level: 200, Done: 99, Service: Times{P50: 200e3}}, {Level: 200, Done: 190, Service: Times{P50: 360e3}},
	}}
	assert.Nil(t, r.quicker(r.Steps[0]))
	r.Steps[2].Service.P50 = 340e3
	assert.Equal(t, &r.Steps[2], r.quicker(r.Steps[0]))
}

// A level of which it is unclear whether it holds says nothing of the limit, if a higher one is too much without doubt.
func TestTheLimitIsThatOfALevelThatIsTooMuchWithoutDoubt(t *testing.T) {
	unclear := Step{Level: 128, Done: 128, Doubtful: true, Why: "p99<5ms did not hold"}
	r := &Result{Over: OverRate, Found: 90, TooMuch: 128, Steps: []Step{
		{Level: 90, Done: 90, Held: true}, {Level: 181, Done: 150, Why: "p99<5ms did not hold"}, unclear,
	}}
	assert.InDelta(t, 181, r.sure(), 0)
	assert.Equal(t, 1, r.decides(r.sure(), make([]Limit, len(r.Steps))))
	r.Steps = slices.Delete(r.Steps, 1, 2)
	assert.InDelta(t, 128, r.sure(), 0, "there is no other")
	assert.True(t, r.Unsure(r.sure()))
	r.Steps[1].Doubtful = false
	assert.False(t, r.Unsure(r.sure()))
	r.TooMuch = 0
	assert.Zero(t, r.sure())
}

// That all threads were busy advises more of them only where calls took no longer than at a lower rate that held, and where
// a processor was free for more.
func TestMoreThreadsAreAdvisedWhereTheyAreKnownToBeTheLimit(t *testing.T) {
	for want, c := range map[string]struct{ quick, machine float64 }{
		"threads: all 8 were busy, and calls took no longer than at a lower rate; try --threads 16": {1e6, 1},
		"unknown: all 8 threads were busy, but no lower rate held to compare with":                  {0, 1},
		"the processors of this machine, all busy":                                                  {1e6, 4},
	} {
		f := &Finder{bench: &bench{quick: c.quick}, options: Options{Over: workload.Knob{Name: OverRate}}, plan: &workload.Plan{}, inProcess: true}
		sum := &stepSum{seconds: 3, busy: 3, threads: 8, count: 3000, response: measure.NewHistogram(), service: measure.NewHistogram(), lateness: measure.NewHistogram()}
		for range 3000 {
			_ = sum.response.RecordValue(90e6)
			_ = sum.service.RecordValue(1e6)
		}
		sum.after = &verdict.Observed{Seconds: 3, Cores: 4, CPU: 0.5, Machine: c.machine}
		f.bench.step = *sum
		assert.Contains(t, f.suspect(Step{Level: 4000, Why: "p99<5ms did not hold"}, sum).Text, want)
	}
}

// What the search itself changed between two levels, the number of threads, is told with how quick the store was at each.
func TestAStoreThatWasQuickerIsToldWithTheThreadsThatDiffer(t *testing.T) {
	r := &Result{Over: OverRate}
	slow, quick := Step{Level: 100, Threads: 8, Service: Times{P50: 525e3}}, Step{Level: 200, Threads: 32, Service: Times{P50: 340e3}}
	assert.Equal(t, "unknown: service p50 was 525 µs at 100 with 8 threads, but 340 µs at 200 with 32, so the rate did not slow the store", wording{r}.notTheRate(&slow, &quick))
	quick.Threads = 8
	assert.Equal(t, "unknown: service p50 was 525 µs at 100, but 340 µs at 200, so the rate did not slow the store", wording{r}.notTheRate(&slow, &quick))
}

// Where only the tail of the response times grows, the figure that stayed is named as one that did.
func TestOnlyTheSlowestCallsTakeLonger(t *testing.T) {
	f := &Finder{plan: &workload.Plan{}, bench: &bench{quick: 200e3}}
	s := Step{}
	s.Service.P50 = 207e3
	assert.Equal(t, "only its slowest calls take longer, service p50 is still 207 µs", f.slower(s))
}
