package report

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
	"github.com/perfbench/perfbench/internal/workload"
)

// madeUp is a run of so many seconds on a Redis with a stall, a burst of errors and a live
// change, of which everything is sampled that a store may tell.
func madeUp(t *testing.T, seconds int) *rundir.Folder {
	t.Helper()
	run := fixtureRun()
	run.Target, run.Store = "redis://127.0.0.1:6379", rundir.Store{Name: "redis", Product: "redis", Version: "7.2.4", Topology: "standalone"}
	run.WarmupS, run.Notices, run.Parameters = 30, nil, map[string]string{"duration": fmt.Sprint(seconds, "s"), "testCase": "put"}
	run.Origins["duration"] = "flag --duration"
	j, err := rundir.Create(rundir.Options{Out: t.TempDir(), Run: run, Facts: func() any { return nil }})
	require.NoError(t, err)
	op := measure.Operation{Track: "profile", Op: "put"}
	res := &measure.Result{Ops: []measure.Totals{{Operation: op}}}
	for s := -30; s < seconds; s++ {
		sec := madeUpSecond(s, seconds, op)
		sec.Result = res
		if s >= 0 {
			h, row, o := sec.Intervals[0].Response, sec.Rows[0], &res.Ops[0]
			o.Count, o.Calls, o.Errors = o.Count+row.Count, o.Calls+h.TotalCount(), o.Errors+row.Errors
			o.Active, res.Measured = o.Active+time.Second, time.Duration(s+1)*time.Second
		}
		require.NoError(t, j.Second(sec))
		j.Sampled(madeUpSamples(s))
	}
	o := &res.Ops[0]
	o.Response = madeUpTimes(0, 80, 1).sum
	o.Service = o.Response
	half := time.Duration(seconds/2) * time.Second
	set := func(threads float64) map[string]float64 { return map[string]float64{"threads": threads} }
	res.Segments = []measure.Segment{{To: half, Settings: set(8), Ops: res.Ops}, {From: half, To: res.Measured, Settings: set(16), Ops: res.Ops}}
	res.Changes = []measure.Change{{At: half, Name: "threads", From: 8, To: 16, By: "workbench", Segment: 1}}
	res.Errors = []measure.ErrorCount{{Operation: op, Class: "timeout", Count: o.Errors}}
	res.Messages = []measure.Message{{Operation: op, Class: "timeout", Text: "read tcp 127.0.0.1:6379: i/o timeout"}}
	r := j.Run()
	rundir.SetResult(&r, res)
	r.Ended, r.EndedBy = r.Measured.Add(res.Measured), "duration"
	r.Verification = workload.Verification{State: workload.Passed, Summary: "all acknowledged entries are stored"}
	r.Verdict = r.Judge()
	require.NoError(t, j.Finish(r))
	f, err := rundir.Load(j.Dir())
	require.NoError(t, err)
	return f
}

// madeUpSecond has a stall after a third of the run and a burst of errors after two.
func madeUpSecond(s, seconds int, op measure.Operation) *measure.Second {
	segment, calls, slow, errors := 0, 80, 1.0, int64(0)
	if s >= seconds/2 {
		segment, calls = 1, 120
	}
	switch at := s - seconds/3; {
	case at >= 0 && at < 4:
		calls, slow = 2, 400
	case at >= 4 && at < 12:
		slow = 8
	}
	if at := s - 2*seconds/3; at >= 0 && at < 6 {
		errors = 30 + int64(s%7)
	}
	times := madeUpTimes(s%16, calls, slow)
	h, sum := times.h, times.sum
	rate := int64(float64(calls) * (9 + 2*rundirtest.Noise(s*31)))
	sec := &measure.Second{T: s, Length: 1, Warmup: s < 0, Rows: []measure.Row{{
		T: s, Count: rate, Errors: errors, Seconds: 1, ResponseP50: sum.P50, ResponseP99: sum.P99, ResponseMax: sum.Max, ServiceP99: sum.P99,
		Gauge: measure.Gauge{Threads: 8 << segment, Payload: 1024, Batch: 10, Segment: segment},
	}}}
	if s >= 0 {
		sec.Intervals = []measure.Interval{{Op: op, Response: h}}
	}
	return sec
}

// times are response times with what they come to.
type times struct {
	h   *hdrhistogram.Histogram
	sum measure.Summary
}

// madeUpTimes are the response times of so many calls: one of a few kinds of second.
var madeUpTimes = func() func(kind, calls int, slow float64) times {
	known := map[string]times{}
	var mu sync.Mutex
	return func(kind, calls int, slow float64) times {
		mu.Lock()
		defer mu.Unlock()
		key := fmt.Sprint(kind, calls, slow)
		if _, ok := known[key]; !ok {
			h := measure.NewHistogram()
			for c := range calls {
				_ = h.RecordValue(int64(slow * 3e5 * math.Exp(1.2*rundirtest.Noise(kind*977+c*13)+4*math.Pow(rundirtest.Noise(kind*53+c*7), 40))))
			}
			known[key] = times{h, measure.Summarize(h)}
		}
		return known[key]
	}
}()

// madeUpSamples are of perfbench, the process, the machine, and thirty counters of the store.
func madeUpSamples(s int) []rundir.Sample {
	at := func(source, name string, v float64) rundir.Sample {
		return rundir.Sample{T: s, Source: source, Name: name, Value: v}
	}
	n := rundirtest.Noise(s * 17)
	out := []rundir.Sample{
		at(rundir.OfClient, "cpu_cores", 0.4+n/4), at(rundir.OfClient, "memory_bytes", 5e7+1e6*n),
		at(rundir.OfProcess, "cpu_cores", 0.8+n/8), at(rundir.OfProcess, "memory_bytes", 9e7+1e5*float64(s)),
		at(rundir.OfMachine, "load_per_core", 0.6+n/8), at(rundir.OfStore, "evicted_keys_per_s", 0),
	}
	for i := range 30 {
		out = append(out, at(rundir.OfStore, fmt.Sprintf("counter_%d_per_s", i), 1e3*(1+rundirtest.Noise(s*7+i))))
	}
	return out
}
