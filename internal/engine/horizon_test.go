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

// Of iterations that fall due in ticks, each step of a timetable has its own, however
// the timers of workers and timetable follow each other: what falls due at the moment
// of a change has the new settings, and what falls due at the end is nobody's.
func TestTicksBelongToTheStepThatTheyFallDueIn(t *testing.T) {
	for _, warm := range []time.Duration{0, 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			ticks := map[int]int{} // by the batch in force
			track := pool("p", workload.Settings{Threads: 2, Rate: 30_000, Batch: 300}, func(_ context.Context, it *workload.Iteration) error {
				mu.Lock()
				defer mu.Unlock()
				if !it.Warmup {
					ticks[it.Settings.Batch]++
				}
				return nil
			})
			track.Units = func(*workload.Settings) int { return 15_000 } // a tick of each worker a second
			batch := func(at time.Duration, n float64) At {
				return At{After: at, Track: workload.AllTracks, Knob: workload.Batch(), Value: n}
			}
			r := start(t, onePhase(6*time.Second, track), func(o *Options) {
				o.Warmup = warm
				// Out of order, and one that changes nothing: nobody waits for it in vain.
				o.Timetable = []At{batch(5*time.Second, 500), batch(2*time.Second, 400), batch(3*time.Second, 400)}
			})
			res := result(t, r)
			assert.Equal(t, map[int]int{300: 4, 400: 6, 500: 2}, ticks)
			assert.Zero(t, res.Ops[0].Unstarted, "nothing was due that did not start")
		})
	}
}
