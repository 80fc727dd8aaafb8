// Package rundirtest makes up finished runs. Only tests import it.
package rundirtest

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/workload"
)

// histogramsOf makes up the series, totals and histograms of a run.
func histogramsOf(f *rundir.Folder, res *measure.Result, ops []measure.Operation, threads, seed, warm, length int) map[string]*hdrhistogram.Histogram {
	out := map[string]*hdrhistogram.Histogram{}
	for i, op := range ops {
		whole, wait, h := measure.NewHistogram(), measure.NewHistogram(), measure.NewHistogram()
		total := measure.Totals{Operation: op, Active: time.Duration(length) * time.Second}
		for t := -warm; t < length; t++ {
			n, at := Noise(t*31+i*7+seed*1009), threads
			segment := 0
			if t >= length/2 {
				at, segment = at*2, 1
			}
			row := rundir.SeriesRow{T: t, Segment: segment, Track: op.Track, Op: op.Op, Threads: at, Payload: 1024, Batch: 100, Warmup: t < 0}
			h.Reset()
			calls := 40
			if i == 1 {
				calls = 12
			}
			for c := range calls {
				took := int64(timeOf(at, Noise(t*977+c*13+i+seed*37)) * (1 - 0.4*float64(i)))
				_ = h.RecordValue(took)
				if t >= 0 {
					_ = whole.RecordValue(took)
				}
			}
			s := measure.At(h, 50, 99, 100)
			row.ResponseP50, row.ResponseP99, row.ResponseMax, row.ServiceP99 = s[0], s[1], s[2], s[1]
			row.Throughput = 12 + float64(int(3*n))
			if i == 0 {
				row.Throughput = rateOf(at, n)
			}
			row.Count = int64(row.Throughput)
			f.Series = append(f.Series, row)
			if t >= 0 {
				total.Count += row.Count
				total.Calls += int64(calls)
			}
		}
		total.Response, total.Service = measure.Summarize(whole), measure.Summarize(whole)
		if i == 0 {
			total.Errors = 3
		}
		for _, p := range []struct {
			what string
			h    *hdrhistogram.Histogram
		}{{hlog.Response, whole}, {hlog.Service, whole}, {hlog.Wait, wait}} {
			out[hlog.Tag(op.Track, op.Op, p.what)] = p.h
		}
		res.Ops = append(res.Ops, total)
	}
	return out
}

// NewFolder makes up a run of one minute with a change halfway through.
func NewFolder(started time.Time, name string, threads int, seed int64) *rundir.Folder {
	const warm, length = 5, 60
	f := &rundir.Folder{Histograms: nil, Run: rundir.Run{
		Schema: 1, ID: started.Format("060102-150405") + "-ingestion-" + name, Profile: "ingestion", Unit: "entries", Target: name + "://127.0.0.1",
		Store:   rundir.Store{Name: name, Product: name, Version: "7.2.4", Topology: "standalone"},
		Started: started, Measured: started.Add(warm * time.Second), Ended: started.Add((warm + length) * time.Second), EndedBy: "duration", Seed: 1, WarmupS: warm, MeasuredS: length,
		Settings:     map[string]float64{"threads": float64(threads), "payload": 1024, "batch": 100, "rate": 0},
		Parameters:   map[string]string{"testCase": "putall"},
		Origins:      map[string]string{"threads": "preset small", "payload": "default", "testCase": "default"},
		Verification: workload.Verification{State: workload.Passed, Summary: "0 lost of 2 472 000", Checks: []workload.Check{{Name: "entries in eligibility", OK: true, Want: "2472000", Got: "2472000"}}},
		Verdict:      rundir.Verdict{State: "VALID"}, Environment: map[string]any{"cpus": 8, "go": "go1.26", "os": "linux"},
	}}
	f.Dir = "results/" + f.Run.ID
	ops := []measure.Operation{{Track: "feed", Op: "putall"}, {Track: "feed", Op: "verify"}}
	res := measure.Result{Measured: length * time.Second}
	f.Histograms = histogramsOf(f, &res, ops, threads, int(seed), warm, length)
	res.All = measure.Summarize(measure.Merge(f.Histograms[hlog.Tag("feed", "putall", hlog.Response)], f.Histograms[hlog.Tag("feed", "verify", hlog.Response)]))
	half := length / 2 * time.Second
	res.Segments = []measure.Segment{
		{To: half, Settings: map[string]float64{"threads": float64(threads), "payload": 1024}, Ops: res.Ops, All: res.All},
		{From: half, To: length * time.Second, Settings: map[string]float64{"threads": float64(threads) * 2, "payload": 1024}, Ops: res.Ops, All: res.All},
	}
	res.Changes = []measure.Change{{At: half, Name: "threads", From: float64(threads), To: float64(2 * threads), By: "workbench", Segment: 1}}
	res.Errors = []measure.ErrorCount{{Operation: ops[0], Class: "timeout", Count: 3}}
	res.Messages = []measure.Message{{Operation: ops[0], Class: "timeout", Text: "read tcp 127.0.0.1:6379: i/o timeout after 3s"}}
	settings, params := f.Run.Settings, f.Run.Parameters
	rundir.SetResult(&f.Run, &res)
	f.Run.Settings, f.Run.Parameters = settings, params
	f.Run.Marks = []rundir.Mark{{At: 41, Note: "backup began"}}
	return f
}

// rateOf and timeOf give the rate and the response time of the made-up store under that
// many threads.
func rateOf(threads int, n float64) float64 {
	return 48e3 * float64(threads) / (float64(threads) + 11) * (0.95 + 0.1*n)
}

func timeOf(threads int, n float64) float64 {
	return (0.3e6 + 0.028e6*float64(threads)) * math.Exp(1.1*math.Sqrt2*math.Erfinv(2*min(max(n, 1e-4), 1-1e-4)-1))
}

// Noise returns a number from 0 to 1 that looks random but is always the same for the
// same x.
func Noise(x int) float64 {
	v := math.Sin(float64(x)*12.9898) * 43758.5453
	return v - math.Floor(v)
}
