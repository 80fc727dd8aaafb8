package tui

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

// histogramsOf makes up series, totals and histograms of a run.
func histogramsOf(f *rundir.Folder, res *measure.Result, ops []measure.Operation, threads, seed, warm, length int) map[string]*hdrhistogram.Histogram {
	out := map[string]*hdrhistogram.Histogram{}
	for i, op := range ops {
		whole, wait := measure.NewHistogram(), measure.NewHistogram()
		total := measure.Totals{Operation: op, Active: time.Duration(length) * time.Second}
		for t := -warm; t < length; t++ {
			n, at := noise(t*31+i*7+seed*1009), threads
			if t >= length/2 {
				at *= 2
			}
			row := rundir.SeriesRow{T: t, Track: op.Track, Op: op.Op, Threads: at, Payload: 1024, Batch: 100, Warmup: t < 0}
			h := measure.NewHistogram()
			calls := 40
			if i == 1 {
				calls = 12
			}
			for c := range calls {
				_ = h.RecordValue(int64(timeOf(at, noise(t*977+c*13+i+seed*37)) * (1 - 0.4*float64(i))))
			}
			s := measure.Summarize(h)
			row.ResponseP50, row.ResponseP99, row.ResponseMax, row.ServiceP99 = s.P50, s.P99, s.Max, s.P99
			row.Throughput = 12 + float64(int(3*n))
			if i == 0 {
				row.Throughput = rateOf(at, n)
			}
			row.Count = int64(row.Throughput)
			f.Series = append(f.Series, row)
			if t >= 0 {
				total.Count += row.Count
				total.Calls += int64(calls)
				whole.Merge(h)
			}
		}
		total.Response, total.Service = measure.Summarize(whole), measure.Summarize(whole)
		if i == 0 {
			total.Errors = 3
		}
		for _, p := range []struct {
			what string
			h    *hdrhistogram.Histogram
		}{{rundir.Response, whole}, {rundir.Service, whole}, {rundir.Wait, wait}} {
			out[rundir.Tag(op.Track, op.Op, p.what)] = p.h
		}
		res.Ops = append(res.Ops, total)
	}
	return out
}
