package rundir

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Nothing was done for the seconds in which a store was dead, and not in pauses, at low rates, without
// threads, between calls that take as long, or in phases whose work does not count.
func TestOutagesOfARun(t *testing.T) {
	dead := func() *Folder {
		f := &Folder{Run: Run{
			MeasuredS: 26, Operations: []Operation{{Track: "map", Op: "put", Count: 50_000, Calls: 50_000, Errors: 4000, Response: Latency{P50: 8e9}, Service: Latency{P50: 1e6}}},
			Segments: []Segment{{From: 0, To: 26, Settings: map[string]float64{"threads": 8, "rate": 2000}}}, Phases: []Phase{{From: 0, To: 26, Tracks: []string{"map"}}},
			Silences: []measure.Silence{{From: 2 * time.Second, To: 2300 * time.Millisecond}, {From: 9990 * time.Millisecond, To: 24 * time.Second}},
			Changes:  []Change{{At: 10, Name: "fault-pause", To: 1}},
		}}
		for t := -3; t < 26; t++ {
			row := SeriesRow{T: t, Track: "map", Op: "put", Warmup: t < 0}
			if t >= 0 && t < 10 || t >= 24 {
				row.Count = 4000
			}
			f.Series = append(f.Series, row)
		}
		return f
	}
	f := dead()
	f.Run.Outages = outages(&f.Run, f.Run.Silences)
	assert.Equal(t, []verdict.Outage{{From: 9.99, To: 24}}, f.Run.Outages)
	assert.Equal(t, []verdict.Broken{{Name: "pause", From: 10, To: 26}}, recordOf(&f.Run).Broken)
	assert.Contains(t, f.Run.Judge().Reasons[0], "nothing was done from 00:10 to 00:24 of the run (14 s of 26 s), and 4")
	for name, spoil := range map[string]func(r *Run){
		"paused":       func(r *Run) { r.Segments[0].Settings["paused"] = 1 },
		"no threads":   func(r *Run) { r.Segments[0].Settings["threads"] = 0 },
		"a low rate":   func(r *Run) { r.Segments[0].Settings["rate"] = 0.5 },
		"little done":  func(r *Run) { r.Operations[0].Count = 10 },
		"as long":      func(r *Run) { r.Operations[0].Service.P50 = 8e9 },
		"other phases": func(r *Run) { r.Phases[0].Tracks = []string{"queries"} },
	} {
		f := dead()
		spoil(&f.Run)
		assert.Empty(t, outages(&f.Run, f.Run.Silences), name)
	}
}

// Where no call was due or under way, nothing was done and yet there was no outage, also once the run is read back.
func TestALowRateMakesNoOutage(t *testing.T) {
	const s = time.Second
	res := &measure.Result{
		Measured: 10 * s, Ops: []measure.Totals{{Operation: measure.Operation{Track: "map", Op: "put"}, Count: 160, Calls: 16, Active: 10 * s}},
		Segments: []measure.Segment{{To: 10 * s, Settings: map[string]float64{"rate": 16}}}, Silences: []measure.Silence{{From: 2 * s, To: 4600 * time.Millisecond}},
	}
	r := Run{}
	SetResult(&r, res)
	assert.Empty(t, r.Outages)
	assert.Empty(t, Idle(&Folder{Run: r}))
	res.Undone = []measure.Silence{{From: 2100 * time.Millisecond, To: 4600 * time.Millisecond}}
	res.Unanswered = res.Undone
	SetResult(&r, res)
	assert.Equal(t, []verdict.Outage{{From: 2.1, To: 4.6}}, r.Outages)
}

// An outage ends when the store answers, though without its records; nothing is done then either.
func TestAnOutageEndsWhereTheStoreAnswersWithoutRecords(t *testing.T) {
	out := func(list ...float64) (out []verdict.Outage) {
		for i := 0; i < len(list); i += 2 {
			out = append(out, verdict.Outage{From: list[i], To: list[i+1]})
		}
		return out
	}
	assert.Equal(t, out(5, 30), without(out(2, 30), out(2, 5)))
	assert.Equal(t, out(2, 4, 6, 9), without(out(2, 9), out(4, 6)))
	assert.Empty(t, without(out(2, 9), out(2, 9)))
	assert.Empty(t, without(out(2, 9.05), out(2, 9)), "no more than a moment")
	f := &Folder{Run: Run{Outages: out(2, 5), Emptied: out(5, 30)}}
	assert.Equal(t, out(2, 5, 5, 30), Idle(f))
	f.Run.MeasuredS = 40
	f.Run.Operations = []Operation{{Track: "map", Op: "put", Count: 10, Calls: 10, Errors: 4000}}
	f.Run.Errors = []Error{{Track: "map", Op: "put", Class: "lost", Count: 3000}}
	assert.Contains(t, f.Run.Judge().Reasons[0], "nothing was done from 00:02 to 00:05 of the run (3 s of 40 s)")
	assert.Contains(t, f.Run.Judge().Reasons[0], "from 00:05 of the run on, 3\u2009000 calls found no record")
}

// A call that is part of an operation fails with it, which is counted once; what is measured beside the work
// fails by itself.
func TestAFailureIsCountedOnce(t *testing.T) {
	r := Run{
		MeasuredS: 10, Parts: []string{"saga.call", "queries.read"},
		Operations: []Operation{
			{Track: "saga", Op: "saga", Count: 900, Calls: 900, Errors: 1100}, {Track: "saga", Op: "call", Count: 5000, Calls: 5000, Errors: 3000},
			{Track: "queries", Op: "read", Count: 10, Calls: 10, Errors: 5},
		},
		Errors: []Error{{Track: "saga", Op: "saga", Class: "lost", Count: 7}, {Track: "saga", Op: "call", Class: "lost", Count: 20}},
	}
	assert.EqualValues(t, 1105, r.Failures())
	assert.EqualValues(t, 3000, r.Within())
	assert.Contains(t, r.Judge().Reasons[0], "1\u2009100 calls failed, 55 % of those that count")
	assert.Contains(t, r.Judge().Reasons[0], "7 calls found no record")
	r.Operations[0].Errors, r.Operations[2].Errors = 0, 0
	assert.Contains(t, r.Judge().Reasons[0], "3\u2009000 calls failed, 38 % of those that are parts of operations", "nothing else says so")
}
