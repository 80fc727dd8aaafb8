package compare

import (
	"math"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Figure names what a finding is of.
type Figure string

// The figures, in the order of the findings.
const (
	Throughput Figure = "throughput" // units per second
	P50        Figure = "p50"        // response times in nanoseconds
	P90        Figure = "p90"
	P99        Figure = "p99"
	P999       Figure = "p99.9"
	Max        Figure = "max"
	Errors     Figure = "errors"     // as a share of calls
	ClientCPU  Figure = "client CPU" // nanoseconds of processor time a unit
	StoreCPU   Figure = "store CPU"
)

// figures are all of them, in order.
var figures = []Figure{Throughput, P50, P90, P99, P999, Max, Errors, ClientCPU, StoreCPU}

// percentiles are the figures that are percentiles, in per cent, the lowest first.
var percentiles = []struct {
	figure Figure
	q      float64
}{{P50, 50}, {P90, 90}, {P99, 99}, {P999, 99.9}}

// byShare says that changes of a figure are changes of a share, in points, and not
// relative to what it was.
func (f Figure) byShare() bool { return f == Errors }

// Estimate is a figure of one run and how far chance may have moved it within that run.
type Estimate struct {
	// Value is NaN where nothing can be said.
	Value float64
	// SE is the standard error within the run, NaN where nothing tells it, and DF the
	// degrees of freedom behind it.
	SE, DF float64
	// Vague says that too few calls are behind the value to report it.
	Vague bool
}

// none is the estimate of what was not measured.
var none = Estimate{Value: math.NaN(), SE: math.NaN(), Vague: true}

// Range is a figure of a side with the range in which 95 of 100 such would lie.
type Range struct {
	// Value is NaN where nothing can be said. Lo and Hi are infinite where nothing tells
	// the range.
	Value, Lo, Hi float64
	// Vague says that too few calls are behind the value to report it.
	Vague bool
}

// By is the larger of the distances from the value to the ends of the range; +Inf where
// nothing tells it.
func (r Range) By() float64 { return max(r.Hi-r.Value, r.Value-r.Lo) }

// certainty is with how much certainty ranges hold.
const certainty = 0.95

// scale is where differences of a figure are told: relative ones as differences of
// logarithms, those of shares as they are.
type scale struct{ to, from func(float64) float64 }

func (f Figure) scale() scale {
	if f.byShare() {
		same := func(v float64) float64 { return v }
		return scale{same, same}
	}
	return scale{math.Log, math.Exp}
}

// on brings an estimate of one run to the scale.
func (f Figure) on(e Estimate) stat.Estimate {
	if f.byShare() {
		return stat.Estimate{Value: e.Value, SE: e.SE, DF: e.DF}
	}
	if !(e.Value > 0) {
		return stat.Unknown()
	}
	return stat.Estimate{Value: math.Log(e.Value), SE: e.SE / e.Value, DF: e.DF}
}

// side makes the range of a side out of its runs.
func (f Figure) side(runs []Estimate) Range {
	vals := make([]float64, len(runs))
	r := Range{}
	var e stat.Estimate
	for i, one := range runs {
		e = f.on(one)
		vals[i] = e.Value
		r.Vague = r.Vague || one.Vague
		if math.IsNaN(e.Value) {
			return Range{Value: math.NaN(), Lo: math.Inf(-1), Hi: math.Inf(1), Vague: true}
		}
	}
	if len(vals) > 1 {
		e = stat.Independent(vals)
	}
	back := f.scale().from
	lo, hi := e.Interval(certainty)
	r.Value, r.Lo, r.Hi = back(e.Value), back(lo), back(hi)
	if f.byShare() {
		r.Lo = max(r.Lo, 0)
	}
	return r
}
