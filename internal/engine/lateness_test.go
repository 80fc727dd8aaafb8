package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// oversleeper is a track whose worker wakes late where late says so, by that much:
// what a worker does between its waking and its call is no part of the call.
func oversleeper(s workload.Settings, late, takes func(seq int64) time.Duration) workload.Track {
	p := pool("p", s, nil)
	p.NewTask = func(int) (workload.Task, error) {
		return workload.TaskFunc(func(_ context.Context, it *workload.Iteration) error {
			time.Sleep(late(it.Seq))
			m := it.Begin(0)
			time.Sleep(takes(it.Seq))
			return it.End(m, 1, nil)
		}), nil
	}
	return p
}

func lateness(t *testing.T, d time.Duration, p workload.Track) measure.Totals {
	t.Helper()
	var op measure.Totals
	synctest.Test(t, func(t *testing.T) {
		op = result(t, start(t, onePhase(d-time.Microsecond, p))).Ops[0]
	})
	require.Equal(t, op.Calls, op.Lateness.Count)
	return op
}

func at(n int64, d time.Duration) func(int64) time.Duration {
	return func(seq int64) time.Duration {
		if seq%n == n/2 {
			return d
		}
		return 0
	}
}

func always(d time.Duration) func(int64) time.Duration {
	return func(int64) time.Duration { return d }
}

// A free worker that wakes late is late itself; so is what falls due behind it until
// it has caught up. The store had no part in any of it.
func TestLateWakeUpIsLateness(t *testing.T) {
	op := lateness(t, time.Second, oversleeper(workload.Settings{Threads: 1, Rate: 5000},
		at(100, 600*time.Microsecond), always(50*time.Microsecond)))
	assert.EqualValues(t, 5000, op.Count)
	assert.InEpsilon(t, 600e3, op.Wait.Max, 0.005)
	assert.Equal(t, op.Wait, op.Lateness, "those due 200, 400 and 600 µs after it start 450, 300 and 150 µs late")
	assert.InEpsilon(t, 50e3, op.Service.Max, 0.005)
}

// Where a worker woke late and its call then took long, each answers for its own:
// what queued up is late by no more than the wake-up was.
func TestLatenessAndBacklogAreKeptApart(t *testing.T) {
	takes := func(seq int64) time.Duration { return 100*time.Microsecond + at(1000, 50*time.Millisecond)(seq) }
	op := lateness(t, 4*time.Second, oversleeper(workload.Settings{Threads: 1, Rate: 1000}, at(1000, 2*time.Millisecond), takes))
	assert.EqualValues(t, 4000, op.Count)
	assert.Greater(t, op.Wait.Max, int64(50*time.Millisecond))
	assert.InEpsilon(t, 2e6, op.Lateness.Max, 0.005)
	assert.InEpsilon(t, 2e6, op.Lateness.P99, 0.005, "50 of 1000 queue up behind it and would have started 2 ms earlier")
	assert.Zero(t, op.Lateness.P90)
}

// With a worker free for every call, the rest of them cannot make it late.
func TestFreeWorkersHaveNoBacklog(t *testing.T) {
	op := lateness(t, 2*time.Second, oversleeper(workload.Settings{Threads: 8, Rate: 1000}, at(10, 3*time.Millisecond), always(time.Millisecond)))
	assert.EqualValues(t, 2000, op.Count)
	assert.InEpsilon(t, 3e6, op.Wait.Max, 0.005)
	assert.Equal(t, op.Wait, op.Lateness)
}

// A change of the rate begins a new rhythm: workers that slept are free for its
// first call, and a paused run owes nothing.
func TestLatenessAfterAChangeOfTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := oversleeper(workload.Settings{Threads: 2, Rate: 10}, always(0), always(time.Millisecond))
		r := start(t, onePhase(3*time.Second-time.Microsecond, p))
		time.Sleep(time.Second + time.Millisecond)
		r.Change("test", workload.AllTracks, rate(1000))
		time.Sleep(time.Second)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = true; return s })
		time.Sleep(time.Millisecond)
		r.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = false; return s })
		op := result(t, r).Ops[0]
		assert.Greater(t, op.Count, int64(1900))
		assert.Zero(t, op.Lateness.Max)
		assert.Zero(t, op.Wait.Max)
	})
}
