package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// ramp is a ramp of the rate of all tracks in steps of a quarter of a second.
func ramp(from, to time.Duration, first, last float64) []At {
	n := int((to - from) / Together)
	var out []At
	for i := range n + 1 {
		part := float64(i) / float64(n)
		out = append(out, At{After: from + time.Duration(i)*Together, Track: workload.AllTracks, Knob: workload.Rate("calls"), Value: first + part*(last-first), Ramp: 1, First: i == 0, Last: i == n})
	}
	return out
}

// A rate that falls due once in four steps keeps its rhythm across them: what a step has
// waited counts in the next. From 1 to 3 a second in 20 s is 2 a second on average.
func TestRampKeepsTheRhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onePhase(20*time.Second, pool("p", workload.Settings{Threads: 8, Rate: 1}, takes(time.Millisecond)))
		res := result(t, start(t, plan, func(o *Options) { o.Timetable = ramp(0, 20*time.Second, 1, 3) }))
		assert.InDelta(t, 40, res.Ops[0].Count, 2)
		assert.Zero(t, res.Ops[0].Unstarted)
		assert.InDelta(t, 1e6, res.Ops[0].Response.Max, 1e4, "nothing begins late")
		assert.Len(t, res.Segments, 2, "the ramp is one segment; its last step comes as the run ends")
	})
}

// A ramp to more than the store does builds up a backlog, and keeps it. Rates from 100 to
// 295 in 40 steps, 1975 calls in all, of which the store does at most 200 a second: by
// the end the 19 steps above that have left 5+10+…+95 calls a second, each for a quarter
// of a second, 237 calls. These fell due in the last 0.82 s.
func TestRampKeepsTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onePhase(10*time.Second, pool("p", workload.Settings{Threads: 2, Rate: 100}, takes(10*time.Millisecond)))
		r := start(t, plan, func(o *Options) { o.Timetable = ramp(0, 10*time.Second, 100, 300) })
		res := result(t, r)
		op := res.Ops[0]
		assert.InDelta(t, 237, op.Unstarted, 3)
		assert.InDelta(t, 1975, op.Count+op.Unstarted, 3, "all that was due, and nothing twice")
		assert.InEpsilon(t, 820e6, op.Response.Max, 0.05)
		require.NotEmpty(t, res.Changes)
		for i, c := range res.Changes {
			assert.Equal(t, 1, c.Ramp)
			assert.Equal(t, 1+i/(len(res.Changes)-1), c.Segment, "one for the ramp, and one for what it came to")
		}
	})
}

// A ramp is one segment, with percentiles of all its calls, and what it came to is the
// next. A change by hand divides it.
func TestARampIsOneSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := onePhase(10*time.Second, pool("p", workload.Settings{Threads: 8, Rate: 100}, takes(time.Millisecond)))
		r := start(t, plan, func(o *Options) {
			o.Timetable = append(ramp(2*time.Second, 8*time.Second, 100, 700), At{After: 5100 * time.Millisecond, Track: workload.AllTracks, Knob: workload.Threads(), Value: 9})
		})
		res := result(t, r)
		require.Len(t, res.Segments, 4, "before, the ramp up to the change, from there on, what it came to")
		var at, calls []float64
		for _, s := range res.Segments {
			at, calls = append(at, s.From.Seconds()), append(calls, float64(s.Ops[0].Response.Count))
			assert.InDelta(t, 1e6, s.Ops[0].Response.P99, 1e4)
		}
		assert.InDeltaSlice(t, []float64{0, 2.25, 5.1, 8}, at, 1e-3, "the first step changes nothing")
		assert.InDeltaSlice(t, []float64{225, 725, 1570, 1400}, calls, 40)
		assert.InDelta(t, 125, res.Segments[1].Settings["rate"], 1e-9)
		assert.InDelta(t, 400, res.Segments[1].SettingsEnd["rate"], 1e-9)
		assert.InDelta(t, 400, res.Segments[2].Settings["rate"], 1e-9)
		assert.InDelta(t, 675, res.Segments[2].SettingsEnd["rate"], 1e-9)
		assert.InDelta(t, 9, res.Segments[2].SettingsEnd["threads"], 1e-9)
		assert.Nil(t, res.Segments[3].SettingsEnd, "what holds is no ramp")
	})
}
