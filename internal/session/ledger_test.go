package session

import (
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// The calls of each segment are set against what the servers counted in its whole seconds: of all
// servers, in each of them.
func TestRequestsAreCountedInEachSegment(t *testing.T) {
	plan := &workload.Plan{Phases: []workload.Phase{{Tracks: []workload.Track{
		{Name: "gets", Ops: []string{"get", "probe"}, OpUnits: []string{"", "probes"}},
		{Name: "near", Ops: []string{"get"}, Spares: true},
	}}}}
	l := newLedger(plan)
	of := func(n int) *hdrhistogram.Histogram {
		h := measure.NewHistogram()
		require.NoError(t, h.RecordValues(1000, int64(n)))
		return h
	}
	for s := -2; s < 20; s++ {
		calls := 100
		if s >= 10 {
			calls = 200
		}
		l.add(&measure.Second{T: s, Length: 1, Warmup: s < 0, Intervals: []measure.Interval{
			{Op: measure.Operation{Track: "gets", Op: "get"}, Response: of(calls)},
			{Op: measure.Operation{Track: "gets", Op: "probe"}, Response: of(7)},
			{Op: measure.Operation{Track: "near", Op: "get"}, Response: of(1000)},
		}})
		for _, node := range []string{"a", "b"} {
			if s != 16 || node == "a" {
				l.sampled([]rundir.Sample{
					{T: s, Source: rundir.OfStore, Node: node, Name: "commands_per_s", Value: float64(calls)/2 + 1},
					{T: s, Source: rundir.OfStore, Node: node, Name: "clients", Value: 50},
				})
			}
		}
	}
	l.add(&measure.Second{T: 20, Length: 0.4, Intervals: []measure.Interval{{Op: measure.Operation{Track: "gets", Op: "get"}, Response: of(50)}}})
	run := rundir.Run{Segments: []rundir.Segment{{To: 9.5}, {From: 9.5, To: 15.9}, {From: 15.9, To: 20.4}, {From: 13, To: 20}}}
	l.enter(&run)
	assert.Equal(t, &rundir.Requests{Seconds: 9, Asked: 918, Made: 900}, run.Segments[0].Requests)
	assert.Equal(t, &rundir.Requests{Seconds: 5, Asked: 1010, Made: 1000}, run.Segments[1].Requests)
	assert.Nil(t, run.Segments[2].Requests, "four whole seconds")
	assert.Nil(t, run.Segments[3].Requests, "in one of its seconds, a server did not answer")
	run = rundir.Run{Segments: []rundir.Segment{{To: 9.5}}}
	l.enter(&run)
	assert.Nil(t, run.Segments[0].Requests, "the whole run has them")
}
