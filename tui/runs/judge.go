package runs

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/tui/widget"
)

// A comparison of two runs is judged figure by figure, by one plain rule:
//
//   - same: less than 1 % apart.
//   - unsure: the ranges in which the two figures may lie overlap.
//   - better, worse: they do not; more throughput is better, less time is.
//
// The range of throughput is the mean of the measured whole seconds ± two standard
// errors. The range of a percentile is the wider of two: where the percentile of
// so many calls may lie by chance alone (the values at the ranks n·q ± 2·√(n·q·(1−q))),
// and the figure ± two relative standard errors of the seconds' own p50 (for p50)
// or p99 (for the others), since calls of one second resemble each other. The
// largest value of a run is chance: it is shown and not judged. Errors are judged
// as shares of calls, ± two times the root of their number.
const (
	sameWithin = 0.01
	errorWidth = 2.0
)

// judgement is the verdict on one figure.
type judgement string

const (
	better judgement = "better"
	worse  judgement = "worse"
	same   judgement = "same"
	unsure judgement = "unsure"
	noted  judgement = "" // shown, not judged
)

// estimate is a figure with the range in which it may lie.
type estimate struct{ value, lo, hi float64 }

// judge compares two figures.
func judge(a, b estimate, moreIsBetter bool) judgement {
	switch {
	case math.IsNaN(a.value) || math.IsNaN(b.value):
		return noted
	case a.value == b.value, math.Abs(b.value-a.value) < sameWithin*math.Abs(a.value):
		return same
	case a.lo <= b.hi && b.lo <= a.hi:
		return unsure
	case (b.value > a.value) == moreIsBetter:
		return better
	}
	return worse
}

// spread of a series: its mean and the standard error of that.
func meanError(vals []float64) (mean, se float64) {
	n, sum := 0.0, 0.0
	for _, v := range vals {
		if !math.IsNaN(v) {
			n, sum = n+1, sum+v
		}
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	mean = sum / n
	if n < 2 {
		return mean, math.Inf(1)
	}
	sq := 0.0
	for _, v := range vals {
		if !math.IsNaN(v) {
			sq += (v - mean) * (v - mean)
		}
	}
	return mean, math.Sqrt(sq / (n - 1) / n)
}

// runSide is one of two runs, for one operation or all calls together.
type runSide struct {
	hist *hdrhistogram.Histogram
	// rates, p50 and p99 are by whole measured second.
	rates, p50, p99 []float64
	rate            float64
	calls, errors   int64
	max             int64
}

// sideOf gathers an operation of a run; nil: all of them.
func sideOf(f *rundir.Folder, op *measure.Operation) runSide {
	s := runSide{rate: math.NaN()}
	s.seconds(f, op)
	for _, o := range f.Run.Operations {
		if op != nil && (o.Track != op.Track || o.Op != op.Op) {
			continue
		}
		if op == nil && !f.Run.Counts(o) {
			continue
		}
		s.calls += o.Calls
		s.errors += o.Errors
		s.max = max(s.max, o.Response.Max)
		if op != nil && o.Throughput != nil {
			s.rate = *o.Throughput
		}
		h := f.Histograms[rundir.Tag(o.Track, o.Op, rundir.Response)]
		switch {
		case h == nil:
		case op != nil:
			s.hist = h
		default:
			if s.hist == nil {
				s.hist = measure.NewHistogram()
			}
			s.hist.Merge(h)
		}
	}
	if op == nil {
		s.rate = f.Run.Headline().Rate
	}
	return s
}

// seconds fills in the whole seconds of the measured part: of an operation, or of
// what counts.
func (s *runSide) seconds(f *rundir.Folder, op *measure.Operation) {
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

func (s runSide) throughput() estimate {
	_, se := meanError(s.rates)
	e := estimate{s.rate, s.rate - errorWidth*se, s.rate + errorWidth*se}
	if math.IsNaN(se) || math.IsInf(se, 0) {
		e.lo, e.hi = math.Inf(-1), math.Inf(1)
	}
	return e
}

// percentile estimates one; q in per cent.
func (s runSide) percentile(q float64) estimate {
	if s.hist == nil || s.hist.TotalCount() == 0 {
		return estimate{math.NaN(), 0, 0}
	}
	n, p := float64(s.hist.TotalCount()), q/100
	width := errorWidth * math.Sqrt(p*(1-p)/n) * 100
	at := func(q float64) float64 { return float64(s.hist.ValueAtPercentile(min(max(q, 0), 100))) }
	e := estimate{at(q), at(q - width), at(q + width)}
	if q+width >= 100 {
		e.hi = math.Inf(1) // too few calls to tell
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
		e.lo, e.hi = min(e.lo, e.value*(1-by)), max(e.hi, e.value*(1+by))
	}
	return e
}

// unknown is how a figure is written that cannot be told.
const unknown = "–"

// text writes a percentile, or a dash when too few calls are behind it.
func (s runSide) text(q float64, e estimate) string {
	if s.hist == nil || !measure.Enough(q, s.hist.TotalCount()) {
		return unknown
	}
	return nsText(e.value)
}

func (s runSide) errorShare() estimate {
	n := float64(s.calls + s.errors)
	if n == 0 {
		return estimate{math.NaN(), 0, 0}
	}
	e, by := float64(s.errors), errorWidth*math.Sqrt(float64(s.errors))
	return estimate{e / n, max(e-by, 0) / n, (e + by) / n}
}

// finding is one row of a comparison.
type finding struct {
	group, name, a, b string
	// change is how B differs from A, with a direction; verdict what that means.
	change  string
	verdict judgement
}

// compareSides judges two sides, figure by figure.
func compareSides(unit string, a, b runSide) []finding {
	ta, tb := a.throughput(), b.throughput()
	out := []finding{{"throughput", unit + "/s", withError(ta), withError(tb), movement(ta.value, tb.value), judge(ta, tb, true)}}
	group := "latency"
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}} {
		ea, eb := a.percentile(q.q), b.percentile(q.q)
		change := movement(ea.value, eb.value)
		if a.text(q.q, ea) == unknown || b.text(q.q, eb) == unknown {
			change = ""
		}
		out = append(out, finding{group, q.name, a.text(q.q, ea), b.text(q.q, eb), change, judge(ea, eb, false)})
		group = ""
	}
	out = append(out, finding{"", "max", widget.Nanos(a.max), widget.Nanos(b.max), movement(float64(a.max), float64(b.max)), noted})
	ea, eb := a.errorShare(), b.errorShare()
	change := movement(ea.value, eb.value)
	if a.errors == 0 && b.errors > 0 {
		change = "▲ new"
	}
	return append(out, finding{"errors", "", widget.Whole(a.errors), widget.Whole(b.errors), change, judge(ea, eb, false)})
}

// movement writes how a figure changed: ▲ 37.8 %.
func movement(a, b float64) string {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return ""
	case a == b:
		return "="
	case a == 0:
		return ""
	}
	sign, p := "▲", (b-a)/a*100
	if p < 0 {
		sign, p = "▼", -p
	}
	if p >= 1000 {
		return fmt.Sprintf("%s ×%.0f", sign, b/a)
	}
	return fmt.Sprintf("%s %.1f %%", sign, p)
}

// difference is something in which two runs differ beside their figures.
type difference struct{ name, a, b string }
