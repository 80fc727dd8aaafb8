package rundir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
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
	assert.Contains(t, string(series), "\n0,profile,put,1080,0,1028.571,")
	f, err := Load(j.Dir())
	require.NoError(t, err)
	require.Len(t, f.Series, 1)
	require.NoError(t, validate(t, j.Dir()))
	require.Len(t, f.Run.Segments, 2)
	assert.Nil(t, f.Run.Segments[1].Operations[0].Throughput)
	assert.InDelta(t, 1080/1.05, f.Run.Headline().Rate, 1e-6, "the run as a whole is what it is")
	assert.Equal(t, []Phase{{Name: "load", To: 1.05, Tracks: []string{"profile"}}}, f.Run.Phases)
}

// The few calls that end with the run are the slowest of all, and no second of their own:
// the last row of a series has them, with percentiles of all its calls, in the file and
// in folders of versions that gave them a row.
func TestTheRestOfARunIsNoPeak(t *testing.T) {
	j, err := Create(Options{Out: t.TempDir(), Run: Run{Profile: "ingestion", Store: Store{Name: "null"}}})
	require.NoError(t, err)
	ops := []measure.Operation{{Track: "a", Op: "put"}, {Track: "b", Op: "get"}}
	spread := func(from, n int) *hdrhistogram.Histogram {
		h := measure.NewHistogram()
		for i := range n {
			require.NoError(t, h.RecordValue(int64(from+i)*1000))
		}
		return h
	}
	second := func(at int, length float64, calls ...*hdrhistogram.Histogram) *measure.Second {
		s := &measure.Second{T: at, Length: length, Result: &measure.Result{
			Measured: seconds(float64(at) + length), Phases: []measure.Phase{{Name: "p", Tracks: []string{"a", "b"}, To: seconds(float64(at) + length)}},
		}}
		for op, h := range calls {
			s.Result.Ops = append(s.Result.Ops, measure.Totals{Operation: ops[op]})
			if h == nil {
				continue
			}
			sum := measure.Summarize(h)
			s.Rows = append(s.Rows, measure.Row{T: at, Op: op, Count: sum.Count, Seconds: length, ResponseP50: sum.P50, ResponseP99: sum.P99, ResponseMax: sum.Max, ServiceP99: sum.P99})
			s.Intervals = append(s.Intervals, measure.Interval{Op: ops[op], Response: h, Service: h})
		}
		return s
	}
	require.NoError(t, j.Second(second(0, 1, spread(1000, 1000), spread(1, 10))))
	require.NoError(t, j.Second(second(1, 1, spread(1000, 1000), nil)))
	require.NoError(t, j.Second(second(2, 0.05, spread(192_000, 8), spread(7, 3))))
	require.NoError(t, j.close())
	raw := j.Run()
	old, err := Load(j.Dir()) // as an older version, or a process that died, left it
	require.NoError(t, err)
	require.NoError(t, j.Finish(raw))
	f, err := Load(j.Dir())
	require.NoError(t, err)
	all := spread(1000, 1000)
	all.Merge(spread(192_000, 8))
	want := measure.Summarize(all)
	for name, f := range map[string]*Folder{"old": old, "new": f} {
		require.Len(t, f.Series, 4, name)
		last := f.Series[2]
		assert.Equal(t, []int64{1, 1008, want.P50, want.P99, want.Max, want.P99}, []int64{int64(last.T), last.Count, last.ResponseP50, last.ResponseP99, last.ResponseMax, last.ServiceP99}, name)
		assert.Less(t, last.ResponseP99, int64(3_000_000), name)
		assert.InDelta(t, 1008/1.05, last.Throughput, 1e-3, name)
		late := f.Series[3]
		assert.Equal(t, "get", late.Op)
		assert.Equal(t, []int64{1, 3}, []int64{int64(late.T), late.Count}, "%s: an operation that ended nothing in the whole second has a row of it all the same", name)
		assert.InDelta(t, 3/1.05, late.Throughput, 1e-3, name)
	}
	series, err := os.ReadFile(filepath.Join(j.Dir(), SeriesFile))
	require.NoError(t, err)
	assert.NotContains(t, string(series), "NaN")
	assert.NotContains(t, string(series), "\n2,")
	assert.InDelta(t, 1.05, f.Run.ActiveIn(1), 1e-6)
	assert.InDelta(t, 1, f.Run.ActiveIn(0), 1e-6)
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

	assert.Equal(t, "publish", new(r.Headline()).Of(&r), "other operations have other times")
	assert.Equal(t, "the counted operation", r.Covered())
	r.Units = map[string]string{"query.range": "rows"}
	assert.Equal(t, "the 2 counted operations", new(r.Headline()).Of(&r))
	assert.Equal(t, "the 2 counted operations", r.Covered())
	r.Operations[1].Errors = 5
	assert.Equal(t, "answered calls of the 2 counted operations", new(r.Headline()).Of(&r))
	r.Operations[1].Errors, r.Units = 0, nil
	assert.Equal(t, "all calls", r.Covered())
	r.Response = &Latency{P50: 8, P99: 900, P999: 5000}
	h = r.Headline()
	assert.Equal(t, Latency{P50: 8, P99: 900, P999: 5000}, h.Response)
	assert.Equal(t, "all calls of 3 operations", h.Of(&r))
	r.Operations[1].Errors = 5
	assert.Equal(t, "answered calls of 3 operations", h.Of(&r))
	r.Errors = []Error{{Track: "events", Op: "durable", Class: "timeout", Count: 3}}
	assert.Equal(t, "calls answered or timed out of 3 operations", h.Of(&r))
	r.Errors = []Error{{Track: "events", Op: "durable", Class: "timeout", Count: 5}}
	assert.Equal(t, "all calls of 3 operations", h.Of(&r), "what timed out has a time")
	one := Run{Unit: "events", Operations: []Operation{{Track: "events", Op: "publish", Calls: 300, Errors: 5}, {Track: "query", Op: "range", Calls: 20, Errors: 5}}, Parts: []string{"query.range"}}
	assert.Equal(t, "publish, answered calls", new(one.Headline()).Of(&one))
	one.Operations = one.Operations[:1]
	assert.Equal(t, "answered calls", new(one.Headline()).Of(&one))
	r.Operations[1].Errors, r.Errors = 0, nil
	for i := range r.Operations {
		r.Operations[i].Calls = 300
	}
	h = r.Headline()
	assert.Equal(t, []int64{8, measure.Hidden}, []int64{h.Response.P50, h.Response.P99}, "900 calls show no p99")
	r.Response = nil
	assert.EqualValues(t, measure.Hidden, new(r.Headline()).Response.P50, "a run of an older version")
	r.Operations = r.Operations[:1]
	assert.Empty(t, new(r.Headline()).Of(&r))
}
