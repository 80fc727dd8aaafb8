package find

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// putting is a plan of one track that stores entries.
func putting(t *testing.T, target string, threads int) *workload.Plan {
	t.Helper()
	parsed, err := store.ParseTarget(target)
	require.NoError(t, err)
	conn, err := memory.Driver.Open(t.Context(), parsed, store.OpenOptions{})
	require.NoError(t, err)
	put := func(ctx context.Context, it *workload.Iteration) error {
		m := it.Begin(0)
		err := conn.(store.Setter).Set(ctx, store.Space{Name: "a", Shape: store.Map}, []byte("k"), []byte("v"))
		return it.End(m, 1, err)
	}
	return &workload.Plan{
		Unit: "entries", Knobs: []workload.Knob{workload.Threads(), workload.Rate("entries")},
		Phases: []workload.Phase{{Name: "main", Duration: time.Hour, Tracks: []workload.Track{{
			Name: "a", Ops: []string{"put"}, Start: workload.Settings{Threads: threads},
			NewTask: func(int) (workload.Task, error) { return workload.TaskFunc(put), nil },
		}}}},
	}
}

// finding runs a search on the virtual clock.
func finding(t *testing.T, plan *workload.Plan, asked Asked, more func(*Options)) (Result, time.Duration) {
	t.Helper()
	return findingSeen(t, plan, asked, more, nil)
}

// findingSeen does so with what observed returns of this process and machine.
func findingSeen(t *testing.T, plan *workload.Plan, asked Asked, more func(*Options), observed func() *verdict.Observed) (Result, time.Duration) {
	t.Helper()
	o, err := Read(asked, plan)
	require.NoError(t, err)
	o.Time = 150 * time.Second
	if more != nil {
		more(&o)
	}
	return carriedOut(t, o, observed, engine.Options{Plan: plan, Classify: func(error) uint8 { return 1 }, Classes: []string{"", "other"}})
}

// carriedOut carries out a search in a run of its own, which is over when it returns.
func carriedOut(t *testing.T, o Options, observed func() *verdict.Observed, of engine.Options) (Result, time.Duration) {
	t.Helper()
	var f atomic.Pointer[Finder]
	of.Sink = func(s *measure.Second) error {
		if f := f.Load(); f != nil {
			f.Second(s)
		}
		return nil
	}
	run, err := engine.Start(t.Context(), of)
	require.NoError(t, err)
	f.Store(New(run, of.Plan, o, observed, true))
	r, err := f.Load().Find(t.Context(), func(Step) {})
	require.NoError(t, err)
	took := run.Elapsed()
	run.Stop(errors.New("found"))
	_, _ = run.Wait()
	return r, took
}

// Two servers of 4 ms do 500 a second, whoever asks: with a schedule that is even, until
// then nothing waits.
func TestFindOnAStoreOfKnownCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, took := finding(t, putting(t, "memory:?service=4ms&servers=2", 8), Asked{Under: []string{"p99<10ms"}}, nil)
		assert.InEpsilon(t, 500, r.Found, 0.05)
		assert.InEpsilon(t, r.Found, r.Done, 0.01)
		assert.Zero(t, r.Best, "it is not over threads")
		assert.Greater(t, r.TooMuch, r.Found)
		assert.True(t, r.Complete, r.Why)
		assert.Less(t, took, 3*time.Minute)
		assert.Equal(t, "store", r.Limit.By, r.Limit.Text)
		curve := r.Curve()
		require.Greater(t, len(curve), 5)
		assert.InDelta(t, 4e6, curve[0].Response.P50, 1e5)
		assert.Greater(t, curve[len(curve)-1].Response.P50, int64(10e6))
	})
}

// A level that is tried again does not begin with what its last try left undone, and that is no change.
func TestALevelThatIsTriedAgainBeginsWithoutABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := putting(t, "memory:?service=4ms&servers=2", 8)
		o, err := Read(Asked{Under: []string{"p99<10ms"}}, plan)
		require.NoError(t, err)
		run, err := engine.Start(t.Context(), engine.Options{Plan: plan, Classify: func(error) uint8 { return 1 }, Classes: []string{"", "other"}})
		require.NoError(t, err)
		b := newBench(run, plan, o, nil)
		b.Set(1000) // twice as much as is done
		for range 2 {
			time.Sleep(time.Second / 5)
			assert.Less(t, run.Snapshot().Gauges[0].Backlog, int64(150))
			time.Sleep(9 * time.Second / 5)
			assert.InDelta(t, 1000, run.Snapshot().Gauges[0].Backlog, 100)
			b.Set(1000)
		}
		run.Stop(errors.New("enough"))
		res, _ := run.Wait()
		assert.Len(t, res.Changes, 1)
		assert.InDelta(t, 2000, res.Ops[0].Unstarted, 40, "of both tries")
	})
}

// Where calls come independently, a second has fewer than the rate as often as it has more: that
// fewer were done is no backlog, while none of them waits.
func TestFewerCallsThanTheRateAreNoBacklog(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for seed := range int64(20) {
		synctest.Test(t, func(t *testing.T) {
			plan := putting(t, "memory:?service=1ms&servers=4", 8)
			o, err := Read(Asked{Under: []string{"p50<10s"}, From: "50", To: "50"}, plan)
			require.NoError(t, err)
			o.Time = 10 * time.Minute
			r, _ := carriedOut(t, o, nil, engine.Options{
				Plan: plan, Classes: store.ClassNames, Classify: func(error) uint8 { return 0 }, Seed: seed, Arrivals: workload.Arrivals{Poisson: true},
			})
			assert.InDelta(t, 50, r.Found, 0, r.Why)
			for _, s := range r.Steps {
				assert.True(t, s.Held, "seed %d: %s", seed, s.Why)
			}
		})
	}
}

// One thread does 250 a second of the 1000 that four servers can do. When it may, the
// search takes more; else it says whose limit it is.
func TestFindTellsTooFewThreadsFromTheStore(t *testing.T) {
	for most, want := range map[int]struct {
		rate float64
		by   string
	}{0: {250, "threads"}, 16: {1000, "store"}} {
		synctest.Test(t, func(t *testing.T) {
			r, _ := finding(t, putting(t, "memory:?service=4ms&servers=4", 1), Asked{Under: []string{"p99<20ms"}, From: "50"}, func(o *Options) { o.Threads = most })
			assert.InEpsilon(t, want.rate, r.Found, 0.05)
			assert.Equal(t, want.by, r.Limit.By, r.Limit.Text)
			assert.Equal(t, map[int]int{0: 1, 16: 4}[most], r.Threads, "of which more did not help")
		})
	}
}

// Four threads make calls of a store with two servers take twice as long, which meets the condition: that more of them do
// not help is known once it was tried.
func TestFindTriesMoreThreadsBeforeItBlamesTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := finding(t, putting(t, "memory:?service=4ms&servers=2", 4), Asked{Under: []string{"p99<60ms"}, From: "100"}, func(o *Options) { o.Threads = 16 })
		assert.InEpsilon(t, 500, r.Found, 0.05)
		fewer, more := r.InVain()
		require.NotNil(t, more)
		assert.Equal(t, []int{4, 16}, []int{fewer.Threads, more.Threads})
		assert.Equal(t, ByStore, r.Limit.By)
		assert.Contains(t, r.Limit.Text, "the store: service p50 there is 8 ms, 2 times that of low load")
	})
}

// Threads beyond the servers wait: n of them take n/2 · 4 ms, so that ten are done within
// 20 ms, and eleven are not.
func TestFindOverThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := finding(t, putting(t, "memory:?service=4ms&servers=2", 1), Asked{Under: []string{"p99<=20.1ms"}, Over: "threads"}, nil)
		assert.EqualValues(t, 10, r.Found)
		assert.EqualValues(t, 11, r.TooMuch)
		assert.InEpsilon(t, 500, r.Done, 0.01)
		assert.EqualValues(t, 2, r.Best, "one thread a server does all that they can")
		assert.InEpsilon(t, 500, r.BestDone, 0.01)
		assert.True(t, r.Enough())
		assert.Len(t, r.Of(2).Steps, 2, "the answer is tried twice")
		r, _ = finding(t, putting(t, "memory:?service=4ms&servers=2", 1), Asked{Under: []string{"mean<1s"}, Over: "threads", To: "6"}, nil)
		assert.EqualValues(t, 6, r.Found)
		assert.Equal(t, "none", r.Limit.By)
		assert.True(t, r.Complete)
	})
}

// A call takes 2 ms in the store, which no rate makes quicker, whatever else there is to
// blame: here the processors, which are all busy.
func TestFindBlamesAStoreThatIsTooSlowForTheCondition(t *testing.T) {
	busy := func() *verdict.Observed { return &verdict.Observed{Seconds: 1, Cores: 1, CPU: 1, Machine: 1} }
	for condition, want := range map[string]string{"p99<1ms": "store", "put.mean<1ms": "store", "p99<2.5ms": "machine"} {
		synctest.Test(t, func(t *testing.T) {
			plan := putting(t, "memory:?service=2ms&servers=4", 8)
			r, _ := findingSeen(t, plan, Asked{Under: []string{condition}, From: "500"}, nil, busy)
			assert.Equal(t, want, r.Limit.By, condition+": "+r.Limit.Text)
		})
	}
}

// Where the store alone is too slow for the condition, no row puts that down to the machine.
func TestNoRowBlamesTheMachineForAStoreThatIsTooSlow(t *testing.T) {
	var looks atomic.Int64
	throttled := func() *verdict.Observed {
		n := looks.Add(1)
		return &verdict.Observed{Seconds: float64(n), Cores: 2, CPU: 0.2, Machine: 0.3, Periods: 10 * n, Throttled: 9 * n, ThrottledS: 0.5 * float64(n)}
	}
	synctest.Test(t, func(t *testing.T) {
		r, _ := findingSeen(t, putting(t, "memory:?service=2ms&servers=4", 8), Asked{Under: []string{"p99<1ms"}, From: "500"}, nil, throttled)
		assert.Equal(t, ByStore, r.Limit.By, r.Limit.Text)
		require.NotEmpty(t, r.Steps)
		for _, s := range r.Steps {
			assert.Regexp(t, `took longer$`, r.Words(s))
		}
	})
}

// What a hypervisor took from the machine is a remark where the store's own service time
// carries the growth, and the limit where it does not.
func TestFindDoesNotBlameWhatWasStolenForAFullQueue(t *testing.T) {
	var looks atomic.Int64
	stolen := func() *verdict.Observed {
		return &verdict.Observed{Seconds: float64(looks.Add(1)), Cores: 4, CPU: 0.2, Machine: 0.5, Stolen: 0.3}
	}
	synctest.Test(t, func(t *testing.T) {
		r, _ := findingSeen(t, putting(t, "memory:?service=4ms&servers=2", 8), Asked{Under: []string{"p99<10ms"}, From: "100"}, nil, stolen)
		assert.InEpsilon(t, 500, r.Found, 0.05)
		assert.Equal(t, ByStore, r.Limit.By, r.Limit.Text)
		assert.Empty(t, r.Limit.Causes)
		assert.Contains(t, r.Limit.Text, "the store: service p50 there is ")
		assert.Contains(t, r.Limit.Text, "; besides, the hypervisor")
	})
	synctest.Test(t, func(t *testing.T) { // one thread for a store that could do more
		r, _ := findingSeen(t, putting(t, "memory:?service=4ms&servers=2", 1), Asked{Under: []string{"p99<10ms"}, From: "100"}, nil, stolen)
		assert.Equal(t, ByPerfbench, r.Limit.By, r.Limit.Text)
		assert.Contains(t, r.Limit.Causes, string(verdict.Stolen))
		assert.Equal(t, verdict.Stolen, r.Limit.Machine())
		tooMuch := r.Outcome(r.Of(r.TooMuch)).Shown
		assert.Equal(t, r.Limit.Causes, tooMuch.Ours)
		assert.Equal(t, "the hypervisor took processors", tooMuch.Measured())
		assert.Contains(t, r.Limit.Text, "the machine and not the store: the hypervisor gave")
	})
}

// The wait in a backlog that the store leaves, or too few threads do, is not put down to other programs of the machine.
func TestFindDoesNotBlameACrowdForAFullQueue(t *testing.T) {
	var looks atomic.Int64
	crowd := func() *verdict.Observed {
		return &verdict.Observed{Seconds: float64(looks.Add(1)), Cores: 4, CPU: 0.2, Machine: 3, Processes: []verdict.Process{{Role: "perfbench", Queue: new(0.05)}}}
	}
	synctest.Test(t, func(t *testing.T) {
		r, _ := findingSeen(t, putting(t, "memory:?service=4ms&servers=2", 8), Asked{Under: []string{"p99<60ms"}, From: "100"}, nil, crowd)
		assert.InEpsilon(t, 500, r.Found, 0.05)
		assert.Equal(t, ByStore, r.Limit.By, r.Limit.Text)
		assert.Contains(t, r.Limit.Text, "the store or the number of threads: service p50 there is 16 ms, 4 times that of low load, and all 8 were busy")
	})
	synctest.Test(t, func(t *testing.T) { // one thread does 1000 a second
		r, _ := findingSeen(t, putting(t, "memory:?service=1ms&servers=4", 1), Asked{Under: []string{"p99<60ms"}, From: "500"}, nil, crowd)
		assert.InEpsilon(t, 1000, r.Found, 0.05)
		assert.Equal(t, ByThreads, r.Limit.By, r.Limit.Text)
	})
}

// The machine is to blame where it explains all that held perfbench up, and perfbench where something
// else did as well.
func TestTheMachineIsToBlameForWhatItExplains(t *testing.T) {
	for causes, want := range map[string]verdict.Cause{
		"pauses lateness crowded": verdict.Crowded, "throttled cpu scheduler": verdict.Throttled, "stolen": verdict.Stolen,
		"lateness": "", "cpu crowded": "", "crowded gc": "", "": "",
	} {
		l := Limit{By: ByPerfbench, Causes: strings.Fields(causes)}
		assert.Equal(t, want, l.Machine(), causes)
		assert.Equal(t, want == "", l.Measured() == "perfbench itself", l.Measured())
		l.By = ByStore
		assert.Empty(t, l.Machine())
	}
}

// A search without a level to begin with tells what it did without a limit.
func TestFindTellsWhatWasDoneWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := finding(t, putting(t, "memory:?service=4ms&servers=2", 8), Asked{Under: []string{"p99<10ms"}}, nil)
		require.NotNil(t, r.Unlimited)
		assert.InEpsilon(t, 500, r.Unlimited.Done, 0.01)
		assert.Equal(t, 8, r.Unlimited.Threads)
		assert.InDelta(t, 16e6, r.Unlimited.Response.P50, 1e6)
		r, _ = finding(t, putting(t, "memory:?service=4ms&servers=2", 8), Asked{Under: []string{"p99<10ms"}, From: "100"}, nil)
		assert.Nil(t, r.Unlimited, "it began at a level")
	})
}

// A rate has each track do its part of it. Without one a quicker track does more than that, and what both did then says
// little of a rate.
func TestFindTellsThatItWasAnotherMixWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := putting(t, "memory:?service=4ms&servers=2", 4)
		quick := plan.Phases[0].Tracks[0]
		quick.Name, quick.NewTask = "b", putting(t, "memory:?service=1ms&servers=2", 4).Phases[0].Tracks[0].NewTask
		plan.Phases[0].Tracks = append(plan.Phases[0].Tracks, quick)
		r, _ := finding(t, plan, Asked{Under: []string{"p99<100ms"}, To: "700"}, nil)
		require.NotNil(t, r.Unlimited)
		assert.InDelta(t, 2500, r.Unlimited.Done, 20)
		assert.InDelta(t, 250, r.Steps[0].Level, 5, "the slow one does 500, so both do 1000 with the same rate")
		require.Len(t, r.Unlimited.Parts, 2)
		for i, want := range []Part{{"a", 0.2, 0.5}, {"b", 0.8, 0.5}} {
			p := r.Unlimited.Parts[i]
			assert.Equal(t, want.Track, p.Track)
			assert.InDeltaSlice(t, []float64{want.Share, want.AtRate}, []float64{p.Share, p.AtRate}, 0.02)
		}
		quick.NewTask = plan.Phases[0].Tracks[0].NewTask
		plan.Phases[0].Tracks[1] = quick
		r, _ = finding(t, plan, Asked{Under: []string{"p99<100ms"}, To: "300"}, nil)
		require.NotNil(t, r.Unlimited)
		assert.Empty(t, r.Unlimited.Parts)
	})
}

// Where perfbench is held up with hardly anything to do, lower rates are no use: the search ends
// after three and some more tries, says so, and counts the calls that were too slow instead of a percentile which so
// few have not.
func TestFindEndsWherePerfbenchItselfIsHeldUp(t *testing.T) {
	var looks atomic.Int64
	stolen := func() *verdict.Observed {
		return &verdict.Observed{Seconds: float64(looks.Add(1)), Cores: 4, CPU: 0.2, Machine: 2, Stolen: 0.3}
	}
	synctest.Test(t, func(t *testing.T) {
		plan := putting(t, "memory:?service=4ms&servers=2", 64)
		o, err := Read(Asked{Under: []string{"p99<4.2ms"}, From: "300"}, plan)
		require.NoError(t, err)
		o.Time = 10 * time.Minute
		r, _ := carriedOut(t, o, stolen, engine.Options{
			Plan: plan, Classes: store.ClassNames, Classify: func(error) uint8 { return 0 }, Arrivals: workload.Arrivals{Poisson: true},
		})
		tried := map[float64]bool{}
		for _, s := range r.Steps {
			tried[s.Level] = true
		}
		require.Len(t, tried, 3, "%+v", r.Steps)
		assert.False(t, r.Complete)
		assert.Zero(t, r.Found)
		assert.Equal(t, ByPerfbench, r.Limit.By, r.Limit.Text)
		assert.Equal(t, 3, oursInARow, "HeldUp says so")
		assert.Equal(t, HeldUp, r.Why)
		last := r.Of(r.Steps[len(r.Steps)-1].Level).Steps
		require.Len(t, last, 1+mostWaits, "it waits before it gives up")
		assert.True(t, last[mostWaits].Doubtful)
		assert.InDelta(t, last[0].Level, r.TooMuch, 0, "a try before it waited left no doubt, as its table has it")
		assert.Equal(t, stateTooMuch, r.Beyond())
		for i := range mostWaits {
			assert.GreaterOrEqual(t, last[i+1].FromS-last[i].ToS, float64(waitSeconds))
		}
		assert.Regexp(t, `^p99<4.2ms did not hold: \d+ of \d+ took longer$`, r.Steps[0].Why)
	})
}

// What calls did that broke a condition is told by their number while they are few.
func TestAStepSaysWhatBrokeItsCondition(t *testing.T) {
	c := Condition{Text: "p99<5ms", Bound: 0.01, Share: true, Violated: "took longer", Least: 1000}
	few := []Second{{To: 1e9, Readings: []Reading{{1, 60}}}, {From: 1e9, To: 2e9, Readings: []Reading{{0, 40}}}}
	was, s := judge([]Condition{c}, few)
	require.Equal(t, unclear, was)
	s = lean([]Condition{c}, s, few)
	assert.Equal(t, "p99<5ms is unclear: 1 of 100 took longer", s.Why)
	assert.Equal(t, "unclear · p99<5ms: 1 of 100 took longer", (&Result{}).Words(Step{Why: s.Why, Doubtful: true}))
	assert.Equal(t, "unclear", (&Result{}).Words(Step{Why: "it held", Held: true, Doubtful: true}))
	of := func(readings ...Reading) string {
		var list []Second
		for i, r := range readings {
			list = append(list, Second{From: int64(i) * 1e9, To: int64(i+1) * 1e9, Readings: []Reading{r}})
		}
		was, s := judge([]Condition{c}, list)
		require.Equal(t, unclear, was)
		return lean([]Condition{c}, s, list).Why
	}
	assert.Equal(t, "p99<5ms is unclear: 5 % took longer, seconds vary", of(Reading{600, 3000}, Reading{0, 3000}, Reading{0, 3000}, Reading{0, 3000}))
	assert.Equal(t, "p99<5ms is unclear: 1.02 % took longer, close to 1 %", of(Reading{30, 3000}, Reading{31, 3000}, Reading{31, 3000}, Reading{31, 3000}))
	_, s = judge([]Condition{c}, []Second{{To: 1e9, Readings: []Reading{{400, 2000}}}, {From: 1e9, To: 2e9, Readings: []Reading{{390, 2000}}}})
	assert.Equal(t, "p99<5ms did not hold: 19.8 % took longer", s.Why)
}

// A level at which too few calls were made to show the percentile of the condition holds
// with a doubt, and not without.
func TestAStepWithoutItsPercentileIsDoubtful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := finding(t, putting(t, "memory:?service=4ms&servers=2", 8), Asked{Under: []string{"p99<60ms"}, From: "50", To: "400"}, nil)
		for _, s := range r.Steps {
			assert.Equal(t, s.Calls < measure.Needs(99), s.Response.P99 == measure.Hidden)
			assert.True(t, s.Response.P99 != measure.Hidden || s.Doubtful, "%v/s held beyond doubt in %d calls", s.Level, s.Calls)
		}
		assert.True(t, r.Steps[0].Doubtful, "50 a second are 600 calls in the longest step")
		assert.EqualValues(t, 400, r.Found)
	})
}

// Each step keeps the figures that its conditions are about, and they agree with what was held.
func TestAStepKeepsTheFiguresOfItsConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := finding(t, putting(t, "memory:?service=4ms&servers=2", 8),
			Asked{Under: []string{"p99<60ms", "p99.service<20ms", "put.p95<=50ms", "errors<1%"}, From: "200", To: "800"}, nil)
		shown := r.Judged()
		require.Len(t, shown, 2, "the p99 of all is in each table, and so are errors")
		assert.Equal(t, "p99.service", shown[0].Name)
		assert.Equal(t, "put.p95", shown[1].Name)
		for _, s := range r.Steps {
			require.Len(t, s.Judged, 4)
			assert.Equal(t, s.Response.P99, s.Judged[0])
			assert.Equal(t, s.Service.P99, shown[0].Of(s))
			assert.EqualValues(t, measure.Hidden, s.Judged[3])
			if s.Held && !s.Doubtful {
				assert.Less(t, shown[0].Of(s), int64(20e6))
				assert.GreaterOrEqual(t, shown[1].Of(s), s.Response.P50)
				assert.LessOrEqual(t, shown[1].Of(s), s.Response.P99)
			}
		}
		assert.EqualValues(t, measure.Hidden, shown[1].Of(Step{}), "a file of before has none")
	})
}

// An interrupt ends a search and its run, and it is why, whichever of the two the search sees first.
func TestAnInterruptIsWhyASearchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := putting(t, "memory:?service=4ms&servers=2", 8)
		o, err := Read(Asked{Under: []string{"p99<10ms"}, From: "100"}, plan)
		require.NoError(t, err)
		o.Time = time.Minute
		for range 10 {
			ctx, interrupt := context.WithCancel(t.Context())
			run, err := engine.Start(ctx, engine.Options{Plan: plan, Classify: func(error) uint8 { return 1 }, Classes: []string{"", "other"}})
			require.NoError(t, err)
			interrupt()
			_, _ = run.Wait()
			r, err := New(run, plan, o, nil, true).Find(ctx, func(Step) {})
			require.ErrorIs(t, err, context.Canceled)
			assert.Equal(t, Interrupted, r.Why)
		}
	})
}

// A search that ends early says what ended it, and how many threads there were.
func TestFindEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := putting(t, "memory:?service=4ms&servers=2", 8)
		plan.Phases[0].Duration = time.Second
		r, _ := finding(t, plan, Asked{Under: []string{"p99<10ms"}, From: "100"}, nil)
		assert.False(t, r.Tried())
		assert.Equal(t, "the run ended first", r.Why)
		assert.Empty(t, r.Limit.By)
		plan.Phases[0].Duration = 10 * time.Second
		r, _ = finding(t, plan, Asked{Under: []string{"p99<10ms"}, From: "100"}, nil)
		assert.True(t, r.Tried())
		assert.Equal(t, 8, r.Threads)
		plan.Phases[0].Duration = time.Hour
		r, _ = finding(t, plan, Asked{Under: []string{"p99<10ms"}, From: "10"}, func(o *Options) { o.Time = 8 * time.Second })
		assert.False(t, r.Complete)
		assert.Positive(t, r.Found)
		assert.Equal(t, "its time was up (a longer duration, such as 6m, gives the search more time)", r.Why)
		r, _ = finding(t, plan, Asked{Under: []string{"p99<10ms"}, From: "10"}, func(o *Options) { o.Time, o.Duration = 5*time.Second, 8*time.Second })
		assert.Equal(t, "its time was up (a longer duration, such as 3m, gives the search more time)", r.Why)
		assert.False(t, r.Tried(), "a level of which five seconds do not tell does not count")
	})
}

func TestBadSearches(t *testing.T) {
	plan := putting(t, "memory:", 1)
	for want, a := range map[string]Asked{
		`under: a search needs a condition`:                                                  {},
		`over: "batch" is not rate or threads`:                                               {Over: "batch", Under: []string{"p99<1ms"}},
		`under "p99>1ms": a level is too high when a figure gets too high`:                   {Under: []string{"p99>1ms"}},
		`under "max<1ms": max is that of a single call`:                                      {Under: []string{"max<1ms"}},
		`under "throughput>9": throughput is what is sought`:                                 {Under: []string{"throughput>9"}},
		`under "errors<9": levels differ in length, so a number of errors cannot judge them`: {Under: []string{"errors<9"}},
		`under "p99<0ms": every call takes some time`:                                        {Under: []string{"p99<0ms"}},
		`under "p9x<1ms": "p9x" is not a figure that is measured`:                            {Under: []string{"p9x<1ms"}},
		`under "p99<1ms abort": a search that misses goes on with another level`:             {Under: []string{"p99<1ms abort"}},
		`under "foo.p99<1ms": this run has no track or operation "foo"`:                      {Under: []string{"foo.p99<1ms"}},
		`from: rate: "x" is not a number`:                                                    {Under: []string{"p99<1ms"}, From: "x"},
		`from: 9 is more than 5, the highest to try`:                                         {Under: []string{"p99<1ms"}, From: "9", To: "5"},
	} {
		_, err := Read(a, plan)
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.NotContains(t, strings.TrimSpace(err.Error()), "\n")
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	for _, text := range []string{"a.p99<1ms", "put.p99<1ms", "a.put.errors<1%"} {
		_, err := Read(Asked{Under: []string{text}}, plan)
		require.NoError(t, err, text)
	}
	_, err := Read(Asked{Under: []string{"putt.p99<1ms"}}, plan)
	assert.Equal(t, "did you mean put?", fault.HintOf(err))
	plan.Phases = append(plan.Phases, workload.Phase{Name: "then", After: []string{"main"}})
	_, err = Read(Asked{Under: []string{"p99<1ms"}}, plan)
	assert.ErrorContains(t, err, "runs its phases one after another")
	plan.Knobs = plan.Knobs[:1]
	_, err = Read(Asked{Under: []string{"p99<1ms"}}, plan)
	assert.ErrorContains(t, err, "no live knob rate", fmt.Sprint(err))
}

// What is wrong with a search is told as far as no plan is needed, each beside what it is about.
func TestCheckTellsWhatIsWrongWithoutAPlan(t *testing.T) {
	for want, a := range map[string]Asked{
		"":         {Under: []string{"p99<10ms", "put.p99<5ms"}, From: "1k", To: "2k/s", Within: "3m"},
		"under":    {Under: []string{"p99<5"}},
		"from":     {From: "abc"},
		"to":       {Over: OverThreads, To: "1.5"},
		"duration": {Within: "0s"},
	} {
		err := Check(a)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		assert.Len(t, fault.Parts(err), 1, want)
		assert.Equal(t, want, fault.FieldOf(fault.Parts(err)[0]), want)
	}
}

// late has one call in ten begin late while the machine is crowded.
func late(plan *workload.Plan, crowded *atomic.Bool) *workload.Plan {
	one := plan.Phases[0].Tracks[0].NewTask
	plan.Phases[0].Tracks[0].NewTask = func(worker int) (workload.Task, error) {
		task, err := one(worker)
		calls := 0
		return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
			if calls++; crowded.Load() && calls%10 == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			return task.Do(ctx, it)
		}), err
	}
	return plan
}

// A machine that is crowded while the first levels are tried, and then no longer, does not end a search: it waits, says for
// what, and answers.
func TestASearchWaitsForACrowdToPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crowded atomic.Bool
		crowded.Store(true)
		began := time.Now()
		taken := 0.0
		plan := late(putting(t, "memory:?service=4ms&servers=2", 64), &crowded)
		stolen := func() *verdict.Observed {
			now := time.Since(began).Seconds()
			if crowded.Load() {
				taken = now
			}
			return &verdict.Observed{Seconds: now, Cores: 4, CPU: 0.2, Machine: 0.5, Stolen: 0.3 * taken / max(now, 1)}
		}
		var waits []Trying
		r, _ := findingSeen(t, plan, Asked{Under: []string{"p99<10ms"}, From: "400"}, func(o *Options) {
			o.Time = 10 * time.Minute
			o.Trying = func(now Trying) {
				if now.Waits != "" {
					waits = append(waits, now)
					crowded.Store(false)
				}
			}
		}, stolen)
		require.Len(t, waits, waitSeconds)
		assert.Equal(t, Trying{Level: 100, Waits: "the hypervisor took processors", Most: waitSeconds, Again: true}, Trying{Level: waits[0].Level, Waits: waits[0].Waits, Most: waits[0].Most, Again: waits[0].Again})
		assert.InDelta(t, 490, r.Found, 15)
		assert.True(t, r.Complete, r.Why)
		assert.Equal(t, ByStore, r.Limit.By, r.Limit.Text)
	})
}

// A machine that is crowded when the answer is tried once more makes it doubtful, and no lower: a try that says nothing of the
// store does not count against what held without doubt.
func TestACrowdedMachineDoesNotLowerWhatHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var crowded atomic.Bool
		began := time.Now()
		var since time.Duration
		plan := late(putting(t, "memory:?service=4ms&servers=2", 8), &crowded)
		stolen := func() *verdict.Observed {
			now := time.Since(began)
			if !crowded.Load() {
				since = now
			}
			return &verdict.Observed{Seconds: now.Seconds(), Cores: 4, CPU: 0.2, Machine: 0.5, Stolen: 0.3 * (now - since).Seconds() / max(now.Seconds(), 1)}
		}
		r, _ := findingSeen(t, plan, Asked{Under: []string{"p99<10ms"}, From: "240"}, func(o *Options) {
			o.Trying = func(now Trying) { crowded.Store(crowded.Load() || now.Level > 480) }
		}, stolen)
		assert.InDelta(t, 480, r.Found, 0)
		assert.Less(t, r.TooMuch, 1.04*r.Found)
		assert.True(t, r.Complete, r.Why)
		o := r.Outcome(r.Of(r.Found))
		assert.Equal(t, 1+mostOurs, o.Tries)
		assert.True(t, o.Doubtful)
		assert.Regexp(t, `^unclear · held 1 of 4 tries · once .* took longer, as the hypervisor took processors$`, wording{&r}.told(o))
	})
}
