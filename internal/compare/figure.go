package compare

import (
	"math"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Figure names what a finding is about.
type Figure string

// The figures, in the order of the findings.
const (
	// What searches found: the highest rate or number of threads that held, and the highest base
	// load from which the store recovered.
	HighestRate Figure = "highest rate"
	MostThreads Figure = "most threads"
	HighestBase Figure = "highest base load"

	Throughput Figure = "throughput" // units per second
	Bytes      Figure = "bytes"      // that the values had per second; only where payloads differ
	P50        Figure = "p50"        // response times in nanoseconds
	P90        Figure = "p90"
	P99        Figure = "p99"
	P999       Figure = "p99.9"
	Max        Figure = "max"
	Outage     Figure = "outage"     // for how long the store answered nothing, in nanoseconds
	Errors     Figure = "errors"     // as a fraction of calls
	ClientCPU  Figure = "client CPU" // nanoseconds of processor time per unit
	StoreCPU   Figure = "store CPU"
)

// figures are all figures, in order.
var figures = []Figure{HighestRate, MostThreads, HighestBase, Throughput, Bytes, P50, P90, P99, P999, Max, Outage, Errors, ClientCPU, StoreCPU}

// percentiles are the figures that are percentiles, in per cent, the lowest first.
var percentiles = []struct {
	figure Figure
	q      float64
}{{P50, 50}, {P90, 90}, {P99, 99}, {P999, 99.9}}

// percentile reports whether a figure is one of percentiles.
func (f Figure) percentile() bool {
	for _, p := range percentiles {
		if p.figure == f {
			return true
		}
	}
	return false
}

// byShare reports whether changes of a figure are given as differences of a percentage,
// in points, rather than relative to its value.
func (f Figure) byShare() bool { return f == Errors }

// linear reports whether differences of a figure are computed as they are, as those of what may be nothing.
func (f Figure) linear() bool { return f == Errors || f == Outage }

// better reports whether more of a figure is better.
func (f Figure) better() bool { return f == Throughput || f == Bytes || f.bySearch() }

// Estimate is a figure of one run, and how far chance may have moved it within that
// run.
type Estimate struct {
	// Value is NaN if unknown.
	Value float64
	// SE is the standard error within the run, NaN if unknown, and DF its degrees of
	// freedom.
	SE, DF float64
	// Low and High are between which values eight tenths of the run's batches lie; 0 if unknown.
	Low, High float64
	// Least and Most are between which values all of them lie, if these are so much alike that SE is hardly
	// known; 0 otherwise.
	Least, Most float64
	// Few means that SE is hardly known because there are few of them, however much they are alike.
	Few bool
	// AtLeast means that it may be any larger: a search held at the highest level that it was to try.
	AtLeast bool
	// Vague means that the value rests on too few calls to be reported.
	Vague bool
}

// none is the estimate of something that was not measured.
var none = Estimate{Value: math.NaN(), SE: math.NaN(), Vague: true}

// Range is a figure of a side with its 95 % confidence interval, which for one run is no wider than what its
// batches did if these are much alike.
type Range struct {
	// Value is NaN if unknown. Lo and Hi are infinite if the range is unknown.
	Value, Lo, Hi float64
	// AtLeast means that the value of one of the runs may be any larger.
	AtLeast bool
	// Vague means that the value rests on too few calls to be reported.
	Vague bool
}

// By returns the larger of the distances from the value to the ends of the range; +Inf
// if unknown.
func (r Range) By() float64 { return max(r.Hi-r.Value, r.Value-r.Lo) }

// certainty is the confidence level of ranges.
const certainty = 0.95

// scale is the scale on which differences of a figure are computed: logarithmic for
// relative differences, linear for others.
type scale struct{ to, from func(float64) float64 }

func (f Figure) scale() scale {
	if f.linear() {
		same := func(v float64) float64 { return v }
		return scale{same, same}
	}
	return scale{math.Log, math.Exp}
}

// on converts an estimate of one run to the figure's scale.
func (f Figure) on(e Estimate) stat.Estimate {
	if f.linear() {
		return stat.Estimate{Value: e.Value, SE: e.SE, DF: e.DF}
	}
	if !(e.Value > 0) {
		return stat.Unknown()
	}
	return stat.Estimate{Value: math.Log(e.Value), SE: e.SE / e.Value, DF: e.DF}
}

// side computes the range of a side from its runs.
func (f Figure) side(runs []Estimate) Range {
	vals, raw := make([]float64, len(runs)), make([]float64, len(runs))
	r := Range{}
	var e stat.Estimate
	for i, one := range runs {
		e = f.on(one)
		vals[i], raw[i] = e.Value, one.Value
		r.Vague, r.AtLeast = r.Vague || one.Vague, r.AtLeast || one.AtLeast
		if math.IsNaN(e.Value) {
			return Range{Value: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1), Vague: true}
		}
	}
	switch {
	case len(vals) > 1 && !f.linear():
		r.Value, r.Lo, r.Hi = stat.OfSeveral(raw, certainty)
		return r
	case len(vals) > 1:
		e = stat.Independent(vals)
	}
	back := f.scale().from
	lo, hi := e.Interval(certainty)
	if f.byShare() && len(runs) == 1 {
		lo, hi = stat.Events(e, certainty)
	}
	r.Value, r.Lo, r.Hi = back(e.Value), back(lo), back(hi)
	if one := runs[0]; len(runs) == 1 && one.Least > 0 && r.Hi-r.Lo < math.Inf(1) {
		r.Lo, r.Hi = max(r.Lo, min(one.Least, r.Value)), min(r.Hi, max(one.Most, r.Value))
	}
	if f.byShare() {
		r.Lo, r.Hi = max(r.Lo, 0), min(r.Hi, 1)
	}
	return r
}
