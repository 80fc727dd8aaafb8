package rundir

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
)

// What was before a fault counts, whatever the run lost by it and whatever came later.
func TestTheHeadlineOfTheTimeBeforeAFault(t *testing.T) {
	t.Parallel()
	op := func(n, p99 int64) []Operation {
		return []Operation{{Track: "mix", Op: "store", Count: n, Calls: n, Response: Latency{P99: p99}}}
	}
	r := Run{
		MeasuredS: 10, Operations: op(5000, 900), Verification: workload.Verification{State: workload.Failed},
		Segments: []Segment{{From: 0, To: 1, Operations: op(10, 7)}, {From: 1, To: 5, Operations: op(4000, 5)}, {From: 5, To: 6, Operations: op(0, 0)}, {From: 6, To: 10, Operations: op(900, 900)}},
		Faults:   []Fault{{From: 5, To: 6}},
	}
	h := r.BeforeFault()
	assert.InDelta(t, 1000, h.Rate, 1e-9)
	assert.Equal(t, int64(5), h.Response.P99)
	assert.True(t, math.IsNaN(r.Headline().Rate))

	r.Faults[0].From = 0.5
	assert.True(t, math.IsNaN(r.BeforeFault().Rate), "nothing was before it")
	r.Faults = nil
	assert.Equal(t, int64(900), r.BeforeFault().Response.P99)
}

// A run that a person ended says after how much of its time, but not one that has no other end.
func TestWhoEndedARunSaysAfterHowMuchOfIt(t *testing.T) {
	for _, c := range []struct{ by, asked, said string }{
		{"user", "60s", "ended by hand after 12.3 s of 60 s"},
		{"interrupt", "5m", "interrupted after 12.3 s of 5m"},
		{"user", "", "ended by hand after 12.3 s"},
		{"user", "forever", ""},
		{"duration", "60s", ""},
	} {
		r := Run{EndedBy: c.by, MeasuredS: 12.3456, Parameters: map[string]string{"duration": c.asked}}
		assert.Equal(t, c.said, r.Cut(), "%+v", c)
	}
}
