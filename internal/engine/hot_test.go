package engine

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// hotLoops are the ways in which the loop can go round: as fast as it can, in closed
// loop and in open loop with everything overdue, and in open loop with sleeping, by
// alarms for each, by one alarm for all, and by timers.
var hotLoops = []struct {
	name       string
	threads    int
	rate       float64
	plain      bool
	iterations int64
	how        workload.Arrivals
}{
	{"closed", 4, 0, false, 50_000, workload.Arrivals{}},
	{"overdue", 4, workload.MaxRate, false, 50_000, workload.Arrivals{}},
	{"overdue independent", 4, 1e9 / leastMean, false, 50_000, workload.Arrivals{Poisson: true}},
	{"overdue bursts", 4, 1e9 / leastMean, false, 50_000, workload.Arrivals{Poisson: true, Factor: 2, Burst: time.Second, Calm: time.Second}},
	{"each", 4, 15_000, false, 2_000, workload.Arrivals{}},
	{"one", 4, 60_000, false, 6_000, workload.Arrivals{}},
	{"one independent", 4, 60_000, false, 6_000, workload.Arrivals{Poisson: true}},
	{"more workers than alarms", 2 * fewAlarms, 15_000, false, 2_000, workload.Arrivals{}},
	{"timers", 4, 15_000, true, 2_000, workload.Arrivals{}},
}

// circling starts a plan that goes on until the test ends and returns a function that
// waits for n more calls of do, at which the last of them wakes it.
func circling(t *testing.T, threads int, rate float64, plain bool, how workload.Arrivals, do func()) func(n int64) {
	t.Helper()
	var count, target atomic.Int64
	reached := make(chan struct{}, 1)
	r := start(t, onePhase(0, pool("p", workload.Settings{Threads: threads, Rate: rate}, func(context.Context, *workload.Iteration) error {
		do()
		if count.Add(1) == target.Load() {
			select {
			case reached <- struct{}{}:
			default: // it has yet to take the last word
			}
		}
		return nil
	})), func(o *Options) { o.PlainTimer, o.Arrivals = plain, how })
	t.Cleanup(func() {
		r.Stop(nil) // the test's context may have done it already
		_, _ = r.Wait()
	})
	return func(n int64) {
		until := count.Load() + n
		target.Store(until)
		for count.Load() < until {
			<-reached
		}
	}
}

// The whole loop allocates nothing: workers, schedule, alarms, samples, collector.
// What is allocated by the second (snapshots) is left over, far less than one each.
func TestLoopAllocatesNothing(t *testing.T) {
	for _, c := range hotLoops {
		t.Run(c.name, func(t *testing.T) {
			await := circling(t, c.threads, c.rate, c.plain, c.how, func() {})
			await(c.iterations) // until batches go round
			got := testing.AllocsPerRun(1, func() { await(c.iterations) })
			assert.Less(t, got/float64(c.iterations), 0.2)
		})
	}
}

// contended returns the stacks of locks that somebody had to wait for, in or below the
// loop of a worker.
func contended(t *testing.T, f func()) (stacks []string) {
	t.Helper()
	old := runtime.SetMutexProfileFraction(1)
	defer runtime.SetMutexProfileFraction(old)
	before := map[[32]uintptr]int64{}
	for _, r := range mutexProfile() {
		before[r.Stack0] = r.Count
	}
	f()
	for _, r := range mutexProfile() {
		if r.Count == before[r.Stack0] {
			continue
		}
		var at []string
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var fr runtime.Frame
			fr, more = frames.Next()
			at = append(at, fr.Function)
		}
		stack := strings.Join(at, "\n")
		if strings.Contains(stack, "sync.(*") && strings.Contains(stack, ".(*worker).loop") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

func mutexProfile() []runtime.BlockProfileRecord {
	for n := 64; ; n *= 2 {
		records := make([]runtime.BlockProfileRecord, n)
		if k, ok := runtime.MutexProfile(records); ok {
			return records[:k]
		}
	}
}

// No lock stands in the way of the loop: under any that is shared, workers that do
// nothing else would meet.
func TestLoopTakesNoLock(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for _, c := range hotLoops {
		t.Run(c.name, func(t *testing.T) {
			await := circling(t, c.threads, c.rate, c.plain, c.how, func() {})
			await(c.iterations)
			assert.Empty(t, contended(t, func() { await(2 * c.iterations) }))
		})
	}
}

// The test above can fail: one lock in a task is seen.
func TestALockInTheLoopIsSeen(t *testing.T) {
	var mu sync.Mutex
	n := 0
	await := circling(t, 4, 0, false, workload.Arrivals{}, func() {
		mu.Lock()
		n++
		if n%1000 == 0 {
			runtime.Gosched() // whoever is next comes to wait, on one core too
		}
		mu.Unlock()
	})
	require.Eventually(t, func() bool { return len(contended(t, func() { await(10_000) })) > 0 }, time.Minute, time.Millisecond)
}
