package engine

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

func TestThreadsFollowSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most, now atomic.Int64
		call := func(ctx context.Context, it *workload.Iteration) error {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return takes(10*time.Millisecond)(ctx, it)
		}
		r := start(t, onePhase(4*time.Second, pool("p", workload.Settings{Threads: 4}, call)))
		for i, n := range []int{8, 1, 3} {
			time.Sleep(time.Second)
			synctest.Wait()
			require.EqualValues(t, []int{4, 8, 1}[i], most.Swap(0))
			r.Change("test", workload.AllTracks, threads(n))
			time.Sleep(20 * time.Millisecond) // workers asked to leave finish their call
			most.Store(0)
		}
		res := result(t, r)
		assert.InDelta(t, 100*(4+8+1+3), res.Ops[0].Count, 20)
		assert.Len(t, res.Segments, 4)
		assert.True(t, r.ByDuration())
	})
}

// A change that comes while the last calls of a phase are under way does not wake the
// phase up again.
func TestChangeAfterTheEndOfAPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, onePhase(time.Second, pool("p", workload.Settings{Threads: 2, Rate: 10}, takes(300*time.Millisecond))))
		time.Sleep(1100 * time.Millisecond)
		r.Change("test", workload.AllTracks, rate(20))
		res := result(t, r)
		assert.LessOrEqual(t, res.Measured, 1300*time.Millisecond)
	})
}

func TestTwentyPressesEndTwentyThreadsHigher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onePhase(3*time.Second, pool("a", workload.Settings{Threads: 8}, takes(time.Millisecond)), pool("b", workload.Settings{Threads: 24}, takes(time.Millisecond)))
		r := start(t, plan)
		time.Sleep(time.Second)
		for range 20 {
			r.Change("workbench", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Threads++; return s })
			time.Sleep(30 * time.Millisecond)
		}
		assert.Equal(t, 52, r.Settings(workload.AllTracks).Threads)
		assert.Equal(t, 13, r.Settings(0).Threads, "in proportion to what each track had")
		res := result(t, r)
		assert.Len(t, res.Changes, 20)
		assert.Len(t, res.Segments, 2, "changes less than 250 ms apart share a segment")
		for i, c := range res.Changes {
			assert.EqualValues(t, 32+i, c.From)
			assert.EqualValues(t, 33+i, c.To)
			assert.Equal(t, 1, c.Segment)
		}
		assert.EqualValues(t, 52, res.Segments[1].Settings["threads"])
	})
}

func TestSettingsReachSleepersWithin100ms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var old atomic.Int64 // iterations with the old settings after the change
		var changed atomic.Bool
		call := func(_ context.Context, it *workload.Iteration) error {
			if it.Settings.Payload == 0 && changed.Load() {
				old.Add(1)
			}
			return nil
		}
		r := start(t, onePhase(10*time.Second, pool("p", workload.Settings{Threads: 4, Rate: 1}, call)))
		time.Sleep(5500 * time.Millisecond)
		changed.Store(true)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Payload = 10; s.Rate = 1000; return s })
		res := result(t, r)
		assert.Zero(t, old.Load())
		assert.InDelta(t, 6+4500, res.Ops[0].Count, 3, "a change of rate reaches workers that wait for their due time")
	})
}

func TestSettingsAreKeptInRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, onePhase(time.Second, pool("p", workload.Settings{Threads: 4}, takes(time.Millisecond))))
		r.Change("test", workload.AllTracks, threads(-5))
		assert.Equal(t, 1, r.Settings(workload.AllTracks).Threads)
		r.Change("test", workload.AllTracks, threads(1<<30))
		assert.Equal(t, workload.MaxThreads, r.Settings(workload.AllTracks).Threads)
		r.Change("test", workload.AllTracks, threads(2))
		r.Change("test", 0, rate(math.Inf(1)))
		assert.Equal(t, float64(workload.MaxRate), r.Settings(0).Rate)
		r.Change("test", 0, rate(0))
		result(t, r)
	})
}

// A knob that turns nothing on a track leaves it alone, whoever turns it, and is no
// part of what is told of the track.
func TestWhatAKnobTurnsNothingOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := pool("read", workload.Settings{Threads: 1}, takes(time.Millisecond))
		read.Rest("payload", "it reads")
		r := start(t, onePhase(time.Second, read, pool("write", workload.Settings{Threads: 1, Payload: 10}, takes(time.Millisecond))))
		size := func(n int) func(workload.Settings) workload.Settings {
			return func(s workload.Settings) workload.Settings { s.Payload = n; return s }
		}
		assert.Equal(t, 10, r.Settings(workload.AllTracks).Payload, "of the first track that has one")
		r.Change("test", workload.AllTracks, size(20))
		assert.Equal(t, []int{0, 20}, []int{r.Settings(0).Payload, r.Settings(1).Payload})
		r.Change("test", 0, size(30))
		assert.Zero(t, r.Settings(0).Payload)
		res := result(t, r)
		require.Len(t, res.Changes, 1)
		assert.Equal(t, "payload", res.Changes[0].Name)
		got := res.Segments[len(res.Segments)-1].Settings
		assert.InDelta(t, 20, got["payload"], 0)
		assert.InDelta(t, 20, got["write.payload"], 0)
		assert.NotContains(t, got, "read.payload")
	})
}
