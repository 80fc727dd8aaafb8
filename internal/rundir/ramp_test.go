package rundir

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
)

// A ramp is a segment with figures of its own.
func TestARampHasPercentiles(t *testing.T) {
	r := &Run{Segments: []Segment{
		{To: 2, Settings: map[string]float64{"rate": 5}},
		{From: 2, To: 8, Settings: map[string]float64{"rate": 10}, SettingsEnd: map[string]float64{"rate": 30}, Operations: []Operation{{Op: "put", Calls: 60, Response: Latency{P99: 9}}}},
		{From: 8, To: 10, Settings: map[string]float64{"rate": 40}},
	}}
	for i, to := range []float64{10, 20, 30, 40} {
		r.Changes = append(r.Changes, Change{At: 2 + 2*float64(i), Name: "rate", From: to - 10, To: to, Segment: 1 + i/3, Ramp: 1})
	}
	got := r.Stretches()
	assert.Len(t, got, 3)
	assert.Equal(t, Stretch{Segment: r.Segments[1], First: 1, Last: 1, End: map[string]float64{"rate": 30}}, got[1])
	assert.Equal(t, []bool{false, true, false, false}, []bool{r.OnRamp(0), r.OnRamp(1), r.OnRamp(2), r.OnRamp(3)})
}

// A ramp in four steps, of which the last holds, between a plain change and another, as
// runs of earlier versions have it: each step is a segment.
func TestARampIsShownAsOne(t *testing.T) {
	r := &Run{}
	for i, rate := range []float64{5, 10, 20, 30, 40, 7} {
		perS := rate
		r.Segments = append(r.Segments, Segment{From: float64(i), To: float64(i + 1), Settings: map[string]float64{"rate": rate}, Operations: []Operation{
			{Op: "put", Count: int64(rate), Calls: int64(rate), Errors: 1, ActiveS: 1, Throughput: &perS, Response: Latency{P99: 9, Max: int64(100 + i)}},
		}})
		if i > 0 {
			r.Changes = append(r.Changes, Change{At: float64(i), Name: "rate", From: r.Segments[i-1].Settings["rate"], To: rate, Segment: i})
		}
	}
	for i := range 4 {
		r.Changes[i].Ramp = 1
	}
	moves := r.Moves()
	assert.Len(t, moves, 2)
	assert.Equal(t, Move{Change: Change{At: 1, Name: "rate", From: 10, To: 40, Segment: 1, Ramp: 1}, Until: 4, Last: 4}, moves[0], "it begins where its first step came to")
	got := r.Stretches()
	assert.Len(t, got, 4)
	ramp := got[1]
	assert.Equal(t, []int{1, 3}, []int{ramp.First, ramp.Last})
	assert.Equal(t, []float64{1, 4, 10, 30}, []float64{ramp.From, ramp.To, ramp.Settings["rate"], ramp.End["rate"]})
	o := ramp.Operations[0]
	assert.EqualValues(t, 60, o.Count)
	assert.EqualValues(t, 3, o.Errors)
	assert.InDelta(t, 20, *o.Throughput, 1e-9)
	assert.Equal(t, Latency{Max: 103}, o.Response, "a percentile of percentiles is none")
	assert.Equal(t, 4, got[2].First, "what a ramp came to has its own figures")
	assert.EqualValues(t, 30, *r.Segments[3].Operations[0].Throughput, "the run is left as it is")
	assert.NotContains(t, r.Judge().Causes, "changes", "a change is no doubt: segments have figures of their own")
	assert.Equal(t, []string{"2 changes mid-run: figures of the whole run mix what came before and after; those of segments 0 to 5 do not."}, r.Remarks())
}

// What quick presses of a key passed through is one stretch, without percentiles; what they came to is the next.
func TestQuickPressesAreOneStretch(t *testing.T) {
	r := &Run{}
	for i, at := range []float64{0, 6.2, 6.5, 6.8, 14.6} {
		r.Segments = append(r.Segments, Segment{From: at, To: at + 1, Settings: map[string]float64{"threads": 8 + float64(i)}, Operations: []Operation{
			{Op: "put", Count: 10, Calls: 10, ActiveS: 1, Response: Latency{P99: 9, Max: int64(100 + i)}},
		}})
		if i > 0 {
			r.Changes = append(r.Changes, Change{At: at, Name: "threads", From: 7 + float64(i), To: 8 + float64(i), By: "workbench", Segment: i})
		}
	}
	got := r.Stretches()
	assert.Len(t, got, 4)
	assert.Equal(t, [][2]int{{0, 0}, {1, 2}, {3, 3}, {4, 4}}, [][2]int{{got[0].First, got[0].Last}, {got[1].First, got[1].Last}, {got[2].First, got[2].Last}, {got[3].First, got[3].Last}})
	assert.Equal(t, []float64{9, 10}, []float64{got[1].Settings["threads"], got[1].End["threads"]})
	assert.Equal(t, Latency{Max: 102}, got[1].Operations[0].Response)
	assert.EqualValues(t, 9, got[2].Operations[0].Response.P99)
	assert.Equal(t, len(r.Segments)-len(got), measure.Passed(r.Did()), "a run that goes on says as many")
	assert.Equal(t, []string{"2 changes mid-run: figures of the whole run mix what came before and after; those of segments 0 to 4 do not."}, r.Remarks())
}

// A change counts as often as the list of changes has it, for however many tracks it was; pauses and
// faults are told by themselves.
func TestChangesAreAsManyAsTheirListHas(t *testing.T) {
	r := Run{Changes: []Change{
		{At: 10, Name: "threads", From: 8, To: 16, By: "workbench", Segment: 1},
		{At: 30, Name: "a.rate", From: 10, To: 20, By: "undo", Segment: 2},
		{At: 30, Name: "b.rate", From: 20, To: 40, By: "undo", Segment: 2},
	}}
	assert.Len(t, r.Moves(), 3)
	assert.Len(t, r.Did(), 2)
	assert.Equal(t, "2 changes later", r.Changed("later"))
	r.MeasuredS = 60
	r.Segments = []Segment{{To: 40}, {From: 40, To: 52, Settings: map[string]float64{"paused": 1}}, {From: 52, To: 60}}
	r.Changes = append(r.Changes,
		Change{At: 35, Name: "a.rate", From: 20, To: 10, By: "workbench"},
		Change{At: 40, Name: "paused", To: 1, By: "workbench", Segment: 1}, Change{At: 52, Name: "paused", From: 1, By: "workbench", Segment: 2},
		Change{At: 54, Name: "fault-delay", To: 5, By: "timetable"}, Change{At: 56, Name: "fault-delay", From: 5, By: "timetable"},
	)
	assert.Equal(t, "3 changes later, paused 12 s, 1 fault", r.Changed("later"))
	r.Changes = r.Changes[4:6]
	assert.Equal(t, "paused 12 s", r.Changed("later"))
	assert.Contains(t, r.Remarks(), "Paused 12 s: figures of the whole run mix what came before and after; those of segments 0 to 2 do not.")
}
