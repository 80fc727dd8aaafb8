package condition

import (
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Outcome is the result of evaluating an expression.
type Outcome struct {
	OK bool
	// Got is the measured value in words: "7.1 ms", "0.3 %".
	Got string
	// Measured means that there was enough data: a latency needs calls, and a
	// percentile as many as are needed to show it.
	Measured bool
}

// Reason says in one clause what was required and what was measured.
func (e Threshold) Reason(o Outcome) string {
	return fmt.Sprintf("threshold %s missed: it was %s", e.Text, o.Got)
}

// Ends reports whether the expression ends a run that has been measured for this long
// with this outcome.
func (e Threshold) Ends(o Outcome, measured time.Duration) bool {
	return e.Abort && measured >= e.After && o.Measured && !o.OK
}

// Judge evaluates the expression for the whole run. Histograms are merged, so the
// percentile of several operations is that of all their calls. A threshold on something
// that was not measured at all counts as missed.
func (e Threshold) Judge(f *rundir.Folder) Outcome {
	switch e.Stat {
	case "errors":
		return e.errors(f)
	case "throughput":
		return e.throughput(f)
	case recovery:
		return e.recovered(f)
	case lost:
		return e.verified(f, f.Run.Verification.Lost)
	case differ:
		return e.verified(f, f.Run.Verification.Differ)
	}
	h, of := e.merged(f)
	if h == nil || h.TotalCount() == 0 {
		return Outcome{Got: "not measured: there were no calls"}
	}
	v := e.value(h)
	got := units.Duration(time.Duration(v))
	if of != "" { // which is the figure of none of its operations
		got += " over " + of
	}
	return Outcome{OK: e.holds(v), Got: got, Measured: measure.Enough(e.Percentile(), h.TotalCount())}
}

// verified judges what the verification has counted; nil: it has not.
func (e Threshold) verified(f *rundir.Folder, n *int64) Outcome {
	if n == nil {
		return Outcome{Got: "not known: " + f.Run.Verification.Summary, Measured: true}
	}
	return Outcome{OK: e.holds(float64(*n)), Got: fmt.Sprint(*n), Measured: true}
}

// fails reports whether a condition on errors counts those of an operation: of a run or a track, it counts a
// failure once, as Run.Failures does.
func (e Threshold) fails(f *rundir.Folder, o rundir.Operation) bool {
	named := e.Of == o.Op || e.Of == o.Track+"."+o.Op
	return named || e.About(measure.Operation{Track: o.Track, Op: o.Op}) && f.Run.Fails(o)
}

func (e Threshold) errors(f *rundir.Folder) Outcome {
	var failed, calls, late int64
	for _, o := range f.Run.Operations {
		if e.fails(f, o) {
			failed += o.Errors
			calls += o.Calls
		}
	}
	if !e.Percent {
		return Outcome{OK: e.holds(float64(failed)), Got: fmt.Sprint(failed), Measured: true}
	}
	for _, x := range f.Run.Errors { // a call that timed out is counted in calls too
		if x.Class == "timeout" && e.fails(f, rundir.Operation{Track: x.Track, Op: x.Op}) {
			late += x.Count
		}
	}
	all := calls + failed - late
	if all == 0 {
		return Outcome{Got: "not measured: there were no calls"}
	}
	v := 100 * float64(failed) / float64(all)
	return Outcome{OK: e.holds(v), Got: fmt.Sprintf("%.3g %%", v), Measured: true}
}

func (e Threshold) throughput(f *rundir.Folder) Outcome {
	if h := f.Run.Headline(); e.Of == "" && !math.IsNaN(h.Rate) {
		return Outcome{OK: e.holds(h.Rate), Got: units.Number(h.Rate) + "/s", Measured: true}
	}
	sum, none := 0.0, true
	for _, o := range f.Run.Operations {
		if o.Throughput != nil && e.covers(&f.Run, o) {
			sum, none = sum+*o.Throughput, false
		}
	}
	if none {
		return Outcome{Got: "not measured, or not reliable"}
	}
	return Outcome{OK: e.holds(sum), Got: units.Number(sum) + "/s", Measured: true}
}

// recovered judges by the fault after which it took longest; one of which that is not known is
// missed.
func (e Threshold) recovered(f *rundir.Folder) Outcome {
	list := rundir.FaultsOf(f)
	if len(list) == 0 {
		return Outcome{Got: "not measured: there was no fault"}
	}
	longest := 0.0
	for _, a := range list {
		if a.Recovered == nil {
			return Outcome{Got: fmt.Sprintf("not known for %s from %.3g s: %s", a.Kind, a.From, a.Why), Measured: true}
		}
		longest = max(longest, *a.Recovered)
	}
	d := time.Duration(longest * float64(time.Second))
	got := units.Duration(d)
	if d == 0 {
		got = "less than a second"
	}
	return Outcome{OK: e.holds(float64(d)), Got: got, Measured: true}
}

// covers reports whether the expression is about an operation of a run: of a whole run or track, only about
// those that count in the run's unit.
func (e Threshold) covers(run *rundir.Run, o rundir.Operation) bool {
	named := e.Of != o.Track && (e.Of == o.Op || e.Of == o.Track+"."+o.Op)
	return e.About(measure.Operation{Track: o.Track, Op: o.Op}) && (named || run.Counts(o))
}

// merged returns the times of the operations that the expression is about, and names these if they are several.
func (e Threshold) merged(f *rundir.Folder) (all *hdrhistogram.Histogram, of string) {
	var parts []*hdrhistogram.Histogram
	called := 0
	for _, o := range f.Run.Operations {
		h := f.Histograms[o.Track+"."+o.Op+"."+e.Time]
		if h == nil || h.TotalCount() == 0 || !e.About(measure.Operation{Track: o.Track, Op: o.Op}) {
			continue
		}
		if called++; e.covers(&f.Run, o) {
			parts = append(parts, h)
		}
	}
	if len(parts) > 1 {
		of = measure.CallsOf(len(parts), called)
	}
	return measure.Merge(parts...), of
}

func (e Threshold) holds(v float64) bool {
	switch e.Rel {
	case "<":
		return v < e.Limit
	case "<=":
		return v <= e.Limit
	case ">":
		return v > e.Limit
	case "=":
		return v == e.Limit
	default:
		return v >= e.Limit
	}
}

// Percentile returns the percentile that the expression is about, 99.9 for p99.9; 0 if
// it is about something else.
func (e Threshold) Percentile() float64 {
	p, _ := measure.ParsePercentile(e.Stat) // it returns 0 for anything else
	return p
}

func (e Threshold) value(h *hdrhistogram.Histogram) float64 {
	switch e.Stat {
	case "max":
		return float64(h.Max())
	case "min":
		return float64(h.Min())
	case "mean":
		return h.Mean()
	default:
		return float64(measure.Percentile(h, e.Percentile()))
	}
}
