package compare

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// Side is one of two runs, for one operation or all calls together.
type Side struct {
	// Response holds the response times of the calls; nil when none was timed.
	Response *hdrhistogram.Histogram
	// Calls were timed, Errors failed; Max is the longest response time in nanoseconds.
	Calls, Errors, Max int64

	// rate is units per second; rates, p50 and p99 are by whole measured second.
	rate            float64
	rates, p50, p99 []float64
}

// SideOf gathers an operation of a run; nil: all that count.
func SideOf(f *rundir.Folder, op *measure.Operation) Side {
	s := Side{rate: math.NaN()}
	s.seconds(f, op)
	for _, o := range f.Run.Operations {
		if op != nil && (o.Track != op.Track || o.Op != op.Op) {
			continue
		}
		if op == nil && !f.Run.Counts(o) {
			continue
		}
		s.Calls += o.Calls
		s.Errors += o.Errors
		s.Max = max(s.Max, o.Response.Max)
		if op != nil && o.Throughput != nil {
			s.rate = *o.Throughput
		}
		h := f.Histograms[hlog.Tag(o.Track, o.Op, hlog.Response)]
		switch {
		case h == nil:
		case op != nil:
			s.Response = h
		default:
			if s.Response == nil {
				s.Response = measure.NewHistogram()
			}
			s.Response.Merge(h)
		}
	}
	if op == nil {
		s.rate = f.Run.Headline().Rate
	}
	return s
}

// seconds fills in the whole seconds of the measured part: of an operation, or of
// what counts.
func (s *Side) seconds(f *rundir.Folder, op *measure.Operation) {
	c := f.Course()
	n := min(int(math.Floor(f.Run.MeasuredS)), len(c.Rates)+c.First)
	n = max(n, 0)
	s.rates, s.p50, s.p99 = rundir.Gaps(n), rundir.Gaps(n), rundir.Gaps(n)
	if op == nil {
		for i := range n {
			s.rates[i], s.p50[i], s.p99[i] = c.Rates[i-c.First], c.P50[i-c.First], c.P99[i-c.First]
		}
		return
	}
	for _, r := range f.Series {
		if r.T < 0 || r.T >= n || r.Warmup || r.Track != op.Track || r.Op != op.Op {
			continue
		}
		s.rates[r.T] = r.Throughput
		if r.ResponseMax > 0 {
			s.p50[r.T], s.p99[r.T] = float64(r.ResponseP50), float64(r.ResponseP99)
		}
	}
}

// Throughput estimates the units per second.
func (s Side) Throughput() Estimate {
	_, se := meanError(s.rates)
	e := Estimate{Value: s.rate, Lo: s.rate - errorWidth*se, Hi: s.rate + errorWidth*se}
	if math.IsNaN(se) || math.IsInf(se, 0) {
		e.Lo, e.Hi = math.Inf(-1), math.Inf(1)
	}
	return e
}

// Percentile estimates a response time in nanoseconds; q in per cent.
func (s Side) Percentile(q float64) Estimate {
	if s.Response == nil || s.Response.TotalCount() == 0 {
		return none
	}
	n, p := float64(s.Response.TotalCount()), q/100
	width := errorWidth * math.Sqrt(p*(1-p)/n) * 100
	at := func(q float64) float64 { return float64(s.Response.ValueAtPercentile(min(max(q, 0), 100))) }
	e := Estimate{Value: at(q), Lo: at(q - width), Hi: at(q + width), Vague: !measure.Enough(q, s.Response.TotalCount())}
	if q+width >= 100 {
		e.Hi = math.Inf(1) // too few calls to tell
	}
	seconds := s.p99
	if q <= 50 {
		seconds = s.p50
	}
	mean, se := meanError(seconds)
	if mean > 0 {
		by := errorWidth * se / mean
		if !(by < 1) {
			by = 1
		}
		e.Lo, e.Hi = min(e.Lo, e.Value*(1-by)), max(e.Hi, e.Value*(1+by))
	}
	return e
}

// ErrorShare estimates which part of the calls failed.
func (s Side) ErrorShare() Estimate {
	n := float64(s.Calls + s.Errors)
	if n == 0 {
		return none
	}
	e, by := float64(s.Errors), errorWidth*math.Sqrt(float64(s.Errors))
	return Estimate{Value: e / n, Lo: max(e-by, 0) / n, Hi: (e + by) / n}
}
