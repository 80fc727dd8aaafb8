package padogrid_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// none is counted beside units.
type none struct{}

// iteration is one under settings, whose clock begins now.
func iteration(set workload.Settings) *workload.Iteration {
	it, epoch := &workload.Iteration{Settings: &set}, time.Now()
	it.Bind(func() int64 { return int64(time.Since(epoch)) }, nil, 0)
	return it
}

func TestPiecesEndWithTheirRun(t *testing.T) {
	w := padogrid.NewWork[none](padogrid.Job{Shares: []int64{5, 0}, Runs: 2}, nil, nothing)
	l, it := w.Loop(0), iteration(workload.Settings{Threads: 2})
	var got []padogrid.Piece
	for p, ok := l.Next(it, 3); ok; p, ok = l.Next(it, 3) {
		got = append(got, p)
	}
	assert.Equal(t, []padogrid.Piece{{Run: 0, Off: 0, N: 3}, {Run: 0, Off: 3, N: 2, Last: true}, {Run: 1, Off: 0, N: 3}, {Run: 1, Off: 3, N: 2, Last: true}}, got)
	assert.True(t, w.Over())
	assert.EqualValues(t, 5, w.Reached(), "distinct units")
	it.Warmup = true
	p, ok := l.Next(it, 9)
	assert.True(t, ok, "the warm-up has shares of its own")
	assert.EqualValues(t, 5, p.N)
}

// A worker helps others in open loop, and once threads have changed; not before.
func TestWorkersHelpOthers(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  workload.Settings
		want bool
	}{
		{"closed loop", workload.Settings{Threads: 2}, false},
		{"open loop", workload.Settings{Threads: 2, Rate: 1}, true},
		{"threads changed", workload.Settings{Threads: 3}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := padogrid.NewWork[none](padogrid.Job{Shares: []int64{1, 1}, Runs: 1}, nil, nothing)
			l, it := w.Loop(1), iteration(tt.set)
			p, ok := l.Next(it, 1)
			require.True(t, ok)
			assert.Equal(t, 1, p.Share, "its own first")
			p, ok = l.Next(it, 1)
			assert.Equal(t, tt.want, ok)
			assert.Zero(t, p.Share)
			assert.Equal(t, tt.want, w.Over())
			assert.Equal(t, tt.set.Threads != 2, w.Record(func(*none) {}).ThreadsChanged)
		})
	}
}

func TestPiecesDoneBeforeAreLeftOut(t *testing.T) {
	w := padogrid.NewWork[none](padogrid.Job{Shares: []int64{4}, Runs: 1, Skip: func(p padogrid.Piece) bool { return p.Off != 2 }}, nil, nothing)
	l, it := w.Loop(0), iteration(workload.Settings{Threads: 1})
	p, ok := l.Next(it, 1)
	assert.True(t, ok)
	assert.EqualValues(t, 2, p.Off)
	_, ok = l.Next(it, 1)
	assert.False(t, ok)
}

// Two runs of two units that take 15 ms each, with a pause of a second after each run.
func TestThreadTimesLeavePausesOut(t *testing.T) {
	for name, rate := range map[string]float64{"closed loop": 0, "open loop": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				w := padogrid.NewWork[none](padogrid.Job{Shares: []int64{2}, Runs: 2, Interval: time.Second}, nil, nothing)
				l, it := w.Loop(0), iteration(workload.Settings{Threads: 1, Rate: rate})
				units := 0
				for {
					if l.Paused(t.Context(), it) {
						continue
					}
					p, ok := l.Next(it, 1)
					if !ok {
						break
					}
					l.Enter(it)
					require.NoError(t, l.Sleep(t.Context(), 15*time.Millisecond))
					units++
					l.Leave(t.Context(), it, p, map[bool]error{true: errors.New("the last one failed")}[units == 4])
				}
				r := w.Record(func(*none) {})
				assert.EqualValues(t, 3, r.Done)
				assert.EqualValues(t, 1, r.Failed)
				assert.Equal(t, []int64{60}, r.ThreadMS)
				assert.Equal(t, began, r.Started.In(began.Location()))
				assert.Equal(t, 2060*time.Millisecond, r.Stopped.Sub(*r.Started), "with the pause after each run")
			})
		})
	}
}

// Waiting for work to be due is loop time in open loop, from the first operation of
// all on; time that a change of settings kept a worker away is not.
func TestThreadTimesInOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := padogrid.NewWork[none](padogrid.Job{Shares: []int64{9, 9}, Runs: 1}, nil, nothing)
		it := iteration(workload.Settings{Threads: 2, Rate: 1})
		unit := func(l *padogrid.Loop[none]) {
			p, ok := l.Next(it, 1)
			require.True(t, ok)
			l.Enter(it)
			time.Sleep(10 * time.Millisecond)
			l.Leave(t.Context(), it, p, nil)
		}
		one, two := w.Loop(0), w.Loop(1)
		unit(one)
		time.Sleep(time.Second)
		unit(two)
		unit(two)
		it.Settings = &workload.Settings{Threads: 2, Rate: 2}
		time.Sleep(time.Second)
		unit(two)
		assert.Equal(t, []int64{10, 1040}, w.Record(func(*none) {}).ThreadMS)
	})
}
