package rundir

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
)

// Headline is what a run came to in one line: the operations that count its unit,
// and none of their parts or of what was measured beside them.
type Headline struct {
	// Count is units, Rate units per second while any of the operations ran; NaN when
	// there is none to tell.
	Count int64
	Rate  float64
	// Timed are the operations that count and were called.
	Timed []Operation
	// Response holds, of each figure, that of the slowest of them; 0 for a percentile
	// that none of them has enough calls for.
	Response Latency
}

// Headline sums the run up.
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
			h.Response = slower(h.Response, o.Response.Shown(o.Calls))
		}
	}
	if known && !r.Failed() {
		h.Rate = measure.Rate(h.Count, r.Active(0, math.Inf(1)))
	}
	return h
}

func slower(a, b Latency) Latency {
	return Latency{
		Mean: max(a.Mean, b.Mean), Min: max(a.Min, b.Min), P50: max(a.P50, b.P50), P90: max(a.P90, b.P90), P95: max(a.P95, b.P95),
		P99: max(a.P99, b.P99), P999: max(a.P999, b.P999), P9999: max(a.P9999, b.P9999), Max: max(a.Max, b.Max),
	}
}

// Active tells for how many seconds of from..to operations ran that count the
// run's unit. Of a run that knows no phases it is all of its measured part.
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
