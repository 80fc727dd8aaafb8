package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// recording is a fake one: moments by worker.
type recording struct {
	mu      sync.Mutex
	moments [][]float64
	at      []int
}

func (r *recording) Next(worker int, _ <-chan struct{}) (float64, bool, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[worker] == len(r.moments[worker]) {
		return 0, false, true
	}
	return r.moments[worker][r.at[worker]], true, true
}

func (r *recording) take(worker int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[worker] == len(r.moments[worker]) {
		return false
	}
	r.at[worker]++
	return true
}

func (r *recording) Reached() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	least := float64(1 << 30)
	for w, at := range r.at {
		if at < len(r.moments[w]) {
			least = min(least, r.moments[w][at])
		}
	}
	return least
}

func (r *recording) Count(moment float64) (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, all := range r.moments {
		for _, m := range all {
			if m <= moment {
				n++
			}
		}
	}
	return n
}

func (r *recording) Made() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.at {
		n += int64(at)
	}
	return n
}

// replaying is a plan that makes the calls of a recording, each of which takes a while; began
// collects when each began, by worker.
func replaying(r *recording, rate float64, takes time.Duration, began *[2][]int64) *workload.Plan {
	call := func(_ context.Context, it *workload.Iteration) error {
		if !r.take(it.Worker) {
			return workload.ErrDone
		}
		m := it.Begin(0)
		began[it.Worker] = append(began[it.Worker], it.Now())
		time.Sleep(takes)
		return it.End(m, 1, nil)
	}
	return &workload.Plan{
		Unit: "calls", Replays: true, Knobs: []workload.Knob{workload.Threads(), workload.Rate("calls")},
		Phases: []workload.Phase{{Name: "replay", Tracks: []workload.Track{{
			Name: "replay", Ops: []string{"call"}, Recorded: r, Idle: map[string]string{"threads": "it is a replay"}, Start: workload.Settings{Threads: 2, Rate: rate},
			NewTask: func(int) (workload.Task, error) { return workload.TaskFunc(call), nil },
		}}}},
	}
}

func seconds(at []int64) (out []float64) {
	for _, ns := range at {
		out = append(out, float64(ns)/1e9)
	}
	return out
}

// The calls of a recording begin when they were made, those of each worker in their order, at
// whatever rate is asked for; a call that takes long makes those behind it of the same worker wait,
// and no others.
func TestARecordingIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began [2][]int64
		r := &recording{moments: [][]float64{{0, 1, 5, 5.5}, {2, 3, 4}}, at: make([]int, 2)}
		res := result(t, start(t, replaying(r, 1, 100*time.Millisecond, &began)))
		assert.InDeltaSlice(t, []float64{0, 1, 5, 5.5}, seconds(began[0]), 0.001)
		assert.InDeltaSlice(t, []float64{2, 3, 4}, seconds(began[1]), 0.001)
		assert.EqualValues(t, 7, res.Ops[0].Count)
		assert.Zero(t, res.Ops[0].Unstarted)

		r, began = &recording{moments: [][]float64{{0, 1, 2}, {1.5}}, at: make([]int, 2)}, [2][]int64{}
		res = result(t, start(t, replaying(r, 2, 800*time.Millisecond, &began)))
		assert.InDeltaSlice(t, []float64{0, 0.8, 1.6}, seconds(began[0]), 0.001)
		assert.InDeltaSlice(t, []float64{0.75}, seconds(began[1]), 0.001)
		assert.InEpsilon(t, 1.4e9, res.Ops[0].Response.Max, 0.01, "due at 1 s, answered at 2.4 s")
		assert.Zero(t, res.Ops[0].Lateness.Max, "it waited for its connection")
	})
}

// A replay goes on where it is when its rate changes, when it has paused, and when it had none.
func TestALiveChangeLeavesOutNoRecordedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began [2][]int64
		r := &recording{moments: [][]float64{{0, 2, 4, 6, 8}, {1, 3, 5, 7}}, at: make([]int, 2)}
		run := start(t, replaying(r, 1, time.Millisecond, &began))
		time.Sleep(1500 * time.Millisecond)
		run.Change("test", workload.AllTracks, rate(2)) // from moment 1.5 on, twice as fast
		time.Sleep(time.Second)                         // moment 3.5
		run.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = true; return s })
		time.Sleep(10 * time.Second)
		run.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { s.Paused = false; return s })
		time.Sleep(600 * time.Millisecond)              // the next call, of moment 4, has begun at once, 5 half a second later
		run.Change("test", workload.AllTracks, rate(0)) // as fast as possible
		res := result(t, run)
		assert.InDeltaSlice(t, []float64{0, 1.75, 12.5, 13.1, 13.101}, seconds(began[0]), 0.002)
		assert.InDeltaSlice(t, []float64{1, 2.25, 13, 13.1}, seconds(began[1]), 0.002)
		assert.EqualValues(t, 9, res.Ops[0].Count)
		assert.Zero(t, res.Ops[0].Unstarted)
	})
}

// Of a replay that ends early, the calls that were due are counted and those that were not are no
// matter.
func TestARecordingThatIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began [2][]int64
		r := &recording{moments: [][]float64{{0, 1, 2, 3, 4, 5}, {1, 2, 3, 100}}, at: make([]int, 2)}
		p := replaying(r, 1, 2*time.Second, &began)
		p.Phases[0].Duration = 4500 * time.Millisecond
		run := start(t, p)
		time.Sleep(3200 * time.Millisecond)
		assert.EqualValues(t, 7-4, run.Snapshot().Gauges[0].Backlog)
		res := result(t, run)
		assert.EqualValues(t, 5, res.Ops[0].Count)
		assert.EqualValues(t, 8-5, res.Ops[0].Unstarted)
	})
}
