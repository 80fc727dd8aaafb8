package rundir

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

// A run at 500/s whose last 50 ms hold 580 calls that were late is no run at 11.6k/s.
func TestSeriesHasNoRateOfARest(t *testing.T) {
	j, err := Create(Options{Out: t.TempDir(), Run: Run{Profile: "ingestion", Store: Store{Name: "null"}}})
	require.NoError(t, err)
	op := measure.Operation{Track: "profile", Op: "put"}
	totals := func(n int64, d time.Duration) []measure.Totals {
		return []measure.Totals{{Operation: op, Count: n, Calls: n, Active: d}}
	}
	res := measure.Result{
		Measured: 1050 * time.Millisecond, Ops: totals(1080, 1050*time.Millisecond),
		Segments: []measure.Segment{{To: time.Second, Ops: totals(500, time.Second)}, {From: time.Second, To: 1050 * time.Millisecond, Ops: totals(580, 50*time.Millisecond)}},
		Phases:   []measure.Phase{{Name: "load", Tracks: []string{"profile"}, To: 1050 * time.Millisecond}},
	}
	for i, row := range []measure.Row{{Count: 500, Seconds: 1}, {T: 1, Count: 580, Seconds: 0.05}} {
		require.NoError(t, j.Second(&measure.Second{T: i, Length: row.Seconds, Rows: []measure.Row{row}, Result: &res}))
	}
	run := j.Run()
	SetResult(&run, &res)
	require.NoError(t, j.Finish(run))
	series, err := os.ReadFile(filepath.Join(j.Dir(), SeriesFile))
	require.NoError(t, err)
	assert.Contains(t, string(series), "\n0,profile,put,500,0,500.000,")
	assert.Contains(t, string(series), "\n1,profile,put,580,0,NaN,")
	f, err := Load(j.Dir())
	require.NoError(t, err)
	require.Len(t, f.Series, 2)
	assert.True(t, math.IsNaN(f.Series[1].Throughput))
	require.NoError(t, validate(t, j.Dir()))
	require.Len(t, f.Run.Segments, 2)
	assert.Nil(t, f.Run.Segments[1].Operations[0].Throughput)
	assert.InDelta(t, 1080/1.05, f.Run.Headline().Rate, 1e-6, "the run as a whole is what it is")
	assert.Equal(t, []Phase{{Name: "load", To: 1.05, Tracks: []string{"profile"}}}, f.Run.Phases)
}

// Of phases that follow each other the headline is a mean over the time in which
// its operations ran, and takes no times of others.
func TestHeadlineIsOfWhatCounts(t *testing.T) {
	rate := 200.0
	r := Run{
		MeasuredS: 10, Unit: "events", Parts: []string{"events.durable", "query.range"},
		Phases: []Phase{{Name: "load", To: 5, Tracks: []string{"events"}}, {Name: "query", From: 5, To: 10, Tracks: []string{"query"}}},
		Operations: []Operation{
			{Track: "events", Op: "publish", Count: 1000, Calls: 100010, Throughput: &rate, Response: Latency{P50: 7, P99: 9}},
			{Track: "events", Op: "durable", Count: 990, Calls: 100010, Throughput: &rate, Response: Latency{P50: 900, P99: 901}},
			{Track: "query", Op: "range", Count: 12, Calls: 100012, Throughput: &rate, Response: Latency{P50: 5000, P99: 5000}},
		},
	}
	h := r.Headline()
	assert.InDelta(t, 200, h.Rate, 1e-9)
	assert.EqualValues(t, 1000, h.Count)
	require.Len(t, h.Timed, 1)
	assert.Equal(t, Latency{P50: 7, P99: 9}, h.Response)

	r.Parts, r.Units = nil, map[string]string{"events.durable": "batches", "query.range": "rows"}
	assert.EqualValues(t, 1000, r.Headline().Count, "what counts something else is not added")
	assert.Equal(t, []string{"events", "batches", "rows"}, []string{r.UnitOf(r.Operations[0]), r.UnitOf(r.Operations[1]), r.UnitOf(r.Operations[2])})

	r.Units = nil
	r.Operations[1].Response.P50, r.Operations[2].Response.P99 = 6000, 4000
	assert.Equal(t, Latency{P50: 5000, P99: 4000}, r.Headline().Response, "the figures of one operation, not the worst of each")
}
