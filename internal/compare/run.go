package compare

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// Run is one finished run in the form that comparisons need. It is never modified once
// made.
type Run struct {
	// Dir is the folder that it was read from; empty for a run of a baseline.
	Dir        string     `json:"-"`
	Conditions Conditions `json:"conditions"`
	// Parts are all calls together, then each operation.
	Parts []Measured `json:"parts"`
}

// Measured is the result of one operation of a run, or of all calls that count.
type Measured struct {
	// Operation is nil for all calls together.
	Operation *measure.Operation
	// Figures are those that are known.
	Figures map[Figure]Estimate
	// Calls is how many calls were timed, Errors how many failed, and TimedOut how many are both.
	Calls, Errors, TimedOut int64
	// Response holds the response times of the calls; nil if none was timed, or if the
	// run comes from a baseline, which keeps no histograms.
	Response *hdrhistogram.Histogram

	// counted is how many operations it is of that were called; 0 if that is not known, as of a baseline.
	counted int
	// late is how much of each percentile was perfbench's own lateness, 0 to 1, as far as there was any.
	late map[Figure]float64
}

// Of reads what comparisons need from a run's folder.
func Of(f *rundir.Folder) (*Run, error) {
	r := &Run{Dir: f.Dir, Conditions: *ConditionsOf(&f.Run)}
	ops := []*measure.Operation{nil}
	for _, o := range f.Run.Operations {
		ops = append(ops, &measure.Operation{Track: o.Track, Op: o.Op})
	}
	times, err := readBatches(f)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", f.Run.ID, err)
	}
	for _, op := range ops {
		r.Parts = append(r.Parts, measuredOf(f, op, times))
	}
	long := 0.0
	for _, o := range f.Run.Outages {
		long += f.Run.Silent(o)
	}
	r.Parts[0].set(Outage, Estimate{Value: long * 1e9, SE: math.NaN()})
	if err := r.search(f.Dir); err != nil {
		return nil, fmt.Errorf("run %s: %w", f.Run.ID, err)
	}
	return r, nil
}

// measuredOf gathers the figures of an operation of a run; nil stands for all that
// count.
func measuredOf(f *rundir.Folder, op *measure.Operation, times batches) Measured {
	m := Measured{Operation: op, Figures: map[Figure]Estimate{}}
	rate, longest := math.NaN(), int64(0)
	if op == nil {
		rate = f.Run.Headline().Rate
	}
	var tags []string
	var late *hdrhistogram.Histogram
	for _, o := range f.Run.Operations {
		if op != nil && (o.Track != op.Track || o.Op != op.Op) || op == nil && !f.Run.Counts(o) {
			continue
		}
		if o.Calls+o.Errors > 0 {
			m.counted++
		}
		m.Calls += o.Calls
		m.Errors += o.Errors
		m.TimedOut += f.Run.TimedOut(&o)
		longest = max(longest, o.Response.Max)
		if op != nil && o.Throughput != nil {
			rate = *o.Throughput
		}
		tag := hlog.Tag(o.Track, o.Op, hlog.Response)
		tags = append(tags, tag)
		m.Response = measure.Merge(m.Response, f.Histograms[tag])
		late = measure.Merge(late, f.Histograms[hlog.Tag(o.Track, o.Op, hlog.Lateness)])
	}
	m.lateness(late)
	rates, errs := seconds(f, op)
	m.set(Throughput, relative(rate, level(batched(rates), times.segments)))
	if size := f.Run.UnitBytes(); op == nil && size > 0 {
		e := m.Figures[Throughput]
		m.set(Bytes, Estimate{Value: e.Value * size, SE: e.SE * size, DF: e.DF, Low: e.Low * size, High: e.High * size, Least: e.Least * size, Most: e.Most * size, Few: e.Few})
	}
	m.percentiles(times.of(tags), times.segments)
	if longest > 0 {
		m.set(Max, Estimate{Value: float64(longest), SE: math.NaN()})
	}
	m.set(Errors, errorShare(m.Calls-m.TimedOut, m.Errors, errs))
	if op == nil {
		m.cpu(&f.Run)
	}
	return m
}

// lateness notes how much of each percentile was perfbench's own lateness.
func (m *Measured) lateness(late *hdrhistogram.Histogram) {
	if m.Response == nil || late == nil || late.TotalCount() == 0 {
		return
	}
	m.late = map[Figure]float64{}
	for _, p := range percentiles {
		if all := measure.Percentile(m.Response, p.q); all > 0 {
			m.late[p.figure] = min(float64(measure.Percentile(late, p.q))/float64(all), 1)
		}
	}
}

// set notes a figure that is known.
func (m *Measured) set(f Figure, e Estimate) {
	if !math.IsNaN(e.Value) {
		m.Figures[f] = e
	}
}

// relative returns a value whose relative error is that of the mean of its parts, by
// batch; it is unknown for too few of them to show any scatter.
func relative(value float64, parts []float64) Estimate {
	mean := stat.Successive(parts)
	if len(parts)-unknown(parts) < leastBatches {
		mean.SE = math.NaN()
	}
	e := Estimate{Value: value, SE: value * mean.SE / mean.Value, DF: mean.DF}
	e.Low, e.High = spread(parts, outside)
	if e.DF < fewAlike {
		e.Least, e.Most = spread(parts, 0)
		e.Few = tooFew(parts)
	}
	return e
}

// telling is how many values tell their error by stat.Successive to fewAlike degrees of freedom, if none is like the one
// before.
const telling = 9

// tooFew reports whether there are so few values that their error would hardly be known even if none was like another.
func tooFew(vals []float64) bool { return len(vals)-unknown(vals) < telling }

// unknown counts the values that are not known.
func unknown(vals []float64) (n int) {
	for _, v := range vals {
		if math.IsNaN(v) {
			n++
		}
	}
	return n
}

// seconds returns the rates and errors of the complete measured seconds, for an
// operation or for everything that counts.
func seconds(f *rundir.Folder, op *measure.Operation) (rates, errs []float64) {
	n := max(int(math.Floor(f.Run.MeasuredS)), 0)
	c := rundir.Of(f)
	n = min(n, len(c.Rates)+c.First)
	if n <= 0 {
		return nil, nil
	}
	rates, errs = rundir.Gaps(n), make([]float64, n)
	if op == nil && !c.Unverified {
		for i := range n {
			rates[i] = c.Rates[i-c.First]
		}
	}
	for _, r := range f.Series {
		switch {
		case r.T < 0 || r.T >= n || r.Warmup:
		case op == nil && f.Run.Counts(rundir.Operation{Track: r.Track, Op: r.Op}):
			errs[r.T] += float64(r.Errors)
		case op != nil && r.Track == op.Track && r.Op == op.Op:
			errs[r.T] += float64(r.Errors)
			rates[r.T] = r.Throughput
		}
	}
	return rates, errs
}

// errorShare estimates which fraction of the calls failed: errors are random events,
// and more frequent in some seconds than in others.
func errorShare(calls, errs int64, bySecond []float64) Estimate {
	n := float64(calls + errs)
	if n == 0 {
		return none
	}
	e := Estimate{Value: float64(errs) / n, SE: math.Sqrt(float64(errs)) / n, DF: math.Inf(1)}
	if mean := stat.Successive(batched(bySecond)); mean.Value > 0 && mean.SE/mean.Value*e.Value > e.SE {
		e.SE, e.DF = mean.SE/mean.Value*e.Value, mean.DF
	}
	return e
}

// cpu adds the processor time that perfbench and the store took per unit, if the run
// has it. Within a run their errors are unknown.
func (m *Measured) cpu(r *rundir.Run) {
	o, count := r.Observed, float64(r.Headline().Count)
	if o == nil || count <= 0 || r.Failed() {
		return
	}
	set := func(f Figure, seconds float64) {
		if seconds > 0 {
			m.Figures[f] = Estimate{Value: seconds / count * 1e9, SE: math.NaN()}
		}
	}
	set(ClientCPU, o.Worked()*o.Seconds)
	stores, all, cores := 0, true, 0.0
	for _, p := range o.Processes {
		if p.Role == "perfbench" {
			continue
		}
		stores++
		if p.CPU == nil {
			all = false
			continue
		}
		cores += *p.CPU
	}
	switch {
	case stores > 0 && all:
		set(StoreCPU, cores*o.Seconds)
	case o.Store != nil && o.Store.CPU != nil:
		set(StoreCPU, *o.Store.CPU)
	}
}
