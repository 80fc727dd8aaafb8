package rundir

import (
	"cmp"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
)

// Headline sums up a run in one line. It covers the operations that count in its unit,
// without their parts and what was measured beside them.
type Headline struct {
	// Count is in units, Rate in units per second while any of the operations ran; NaN
	// if there is no rate.
	Count int64
	Rate  float64
	// Timed are the operations that count and were called.
	Timed []Operation
	// Slowest is the one of them with the highest p99 or, if there were too few calls
	// for that, p50 or mean. Response is its summary as shown.
	Slowest  Operation
	Response Latency
}

// Headline returns the headline of the run.
func (r *Run) Headline() Headline {
	h := Headline{Rate: math.NaN()}
	known := false
	for _, o := range r.Operations {
		if !r.Counts(o) {
			continue
		}
		h.Count += o.Count
		known = known || o.Throughput != nil
		if o.Calls > 0 {
			h.Timed = append(h.Timed, o)
		}
	}
	if len(h.Timed) > 0 {
		h.Slowest = slices.MaxFunc(h.Timed, func(a, b Operation) int {
			x, y := a.Response.Shown(a.Calls), b.Response.Shown(b.Calls)
			return cmp.Or(cmp.Compare(x.P99, y.P99), cmp.Compare(x.P50, y.P50), cmp.Compare(x.Mean, y.Mean))
		})
		h.Response = h.Slowest.Response.Shown(h.Slowest.Calls)
	}
	if known && !r.Failed() {
		h.Rate = measure.Rate(h.Count, r.Active(0, math.Inf(1)))
	}
	return h
}

// Active returns for how many seconds of from..to operations ran that count in the
// run's unit. If the run's phases are not known, that is all of its measured part.
func (r *Run) Active(from, to float64) float64 {
	from, to = max(from, 0), min(to, r.MeasuredS)
	if len(r.Phases) == 0 {
		return max(to-from, 0)
	}
	phases := make([]measure.Phase, len(r.Phases))
	for i, p := range r.Phases {
		phases[i] = measure.Phase{Tracks: p.Tracks, From: seconds(p.From), To: seconds(p.To)}
	}
	counts := func(track string) bool {
		return slices.ContainsFunc(r.Operations, func(o Operation) bool { return o.Track == track && r.Counts(o) })
	}
	return measure.Covered(phases, counts, seconds(from), seconds(to)).Seconds()
}
