package engine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// Who joins a run that is under way has its seconds, its segment and its phases, which end
// when those of the others do.
func TestARunThatOthersHaveBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := &workload.Plan{Unit: "calls", Knobs: knobs, Phases: []workload.Phase{
			{Name: "load", Tracks: []workload.Track{pool("load", workload.Settings{Threads: 1}, takes(100*time.Millisecond))}},
			{Name: "read", After: []string{"load"}, Duration: 4 * time.Second, Tracks: []workload.Track{pool("read", workload.Settings{Threads: 1}, takes(100*time.Millisecond))}},
			{Name: "rest", After: []string{"read"}, Tracks: []workload.Track{pool("rest", workload.Settings{Threads: 1}, takes(100*time.Millisecond))}},
		}}
		plan.Phases[0].Tracks[0].Iterations = 1
		plan.Phases[2].Tracks[0].Iterations = 3
		var seconds []int
		var counted [3]int64
		var ended [3]atomic.Int64
		r := start(t, plan, func(o *Options) {
			o.Held = true
			o.Late = &Late{Began: time.Now().Add(-10500 * time.Millisecond), Phases: map[string]time.Duration{"load": 0, "read": 9 * time.Second}, Segment: 2}
			o.Ended = func(track int, at time.Duration) { ended[track].Store(int64(at)) }
			o.Part = func(p *measure.Increment) {
				seconds = append(seconds, p.T)
				for _, row := range p.Rows {
					counted[row.Op] += row.Times.Count
					assert.EqualValues(t, 2, row.Segment)
				}
			}
		})
		time.Sleep(5 * time.Second)
		assert.Zero(t, ended[2].Load(), "it has not been let in")
		r.Enter("rest")
		result(t, r)
		assert.Equal(t, []int{10, 11, 12, 13, 14, 15}, seconds)
		assert.EqualValues(t, 1, counted[0])
		assert.InDelta(t, 24, counted[1], 1, "from 10.6 s to 13 s")
		assert.EqualValues(t, 3, counted[2])
		assert.InDelta(t, 13*time.Second, ended[1].Load(), float64(150*time.Millisecond))
	})
}

// A worker that is through with a phase, and is not let into the next, ends when it is told to or
// gives up: nobody may be left who could let it in.
func TestARunThatIsNotLetInEndsWhenItIsTold(t *testing.T) {
	for name, end := range map[string]func(*Run){
		"stopped": func(r *Run) { r.Stop(assert.AnError) }, "given up": func(r *Run) { r.GiveUp(assert.AnError) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := &workload.Plan{Unit: "calls", Knobs: knobs, Phases: []workload.Phase{
					{Name: "load", Tracks: []workload.Track{pool("load", workload.Settings{Threads: 1}, takes(100*time.Millisecond))}},
					{Name: "rest", After: []string{"load"}, Tracks: []workload.Track{pool("rest", workload.Settings{Threads: 1}, takes(100*time.Millisecond))}},
				}}
				plan.Phases[0].Tracks[0].Iterations = 3
				r := start(t, plan, func(o *Options) { o.Held = true })
				time.Sleep(5 * time.Second)
				end(r)
				synctest.Wait()
				select {
				case <-r.Done():
				default:
					t.Fatal("it goes on")
				}
				res, err := r.Wait()
				assert.ErrorIs(t, err, assert.AnError)
				assert.EqualValues(t, 3, res.Ops[0].Count)
			})
		})
	}
}
