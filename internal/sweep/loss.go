package sweep

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/verdict"
)

// How a server may end in the runs of a sweep. In a process crash, what it had given to the kernel is
// not lost.
const (
	PowerCut     = "power cut"
	TornPowerCut = "torn power cut"
	ProcessCrash = "process crash"
)

// Loss is what the runs of a point lost of what was acknowledged, each by a crash.
type Loss struct {
	// Least and Most are the fewest and the most writes that a run lost, of the Known runs of which
	// that is known. Of the others the store was not there any more, or could not be asked.
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	Known int   `json:"known"`
	// Lossy is how many runs lost any.
	Lossy int `json:"lossy"`
}

// Safe reports whether all of several runs, of which at least one is known, kept everything.
func (p *Point) Safe() bool {
	return p.Loss != nil && p.Loss.Known == p.Runs && p.Loss.Lossy == 0 && p.Runs > 0
}

// Cost is what points are compared by beside their loss: "" stands for throughput, of which less is
// dearer. At a rate, which decides the throughput, it is p99 or, if a point has too few calls for
// that, p50.
func (r *Result) Cost() string {
	switch {
	case !r.Open:
		return ""
	case slices.ContainsFunc(r.Points, func(p Point) bool { return p.Runs > 0 && p.P99 < 0 }):
		return "p50"
	}
	return "p99"
}

// CostOf returns the cost of a point, in units per second or nanoseconds; NaN if it is not known.
func (r *Result) CostOf(p *Point) float64 {
	v := math.NaN()
	switch cost := r.Cost(); {
	case cost == "" && p.Done != nil:
		v = *p.Done
	case cost == "p50" && p.Runs > 0 && p.P50 >= 0:
		v = float64(p.P50)
	case cost == "p99" && p.Runs > 0:
		v = float64(p.P99)
	}
	return v
}

// Cheapest returns the point of the least cost of those that is holds for; -1 if there is none.
func (r *Result) Cheapest(is func(p *Point) bool) int {
	best := -1
	for i := range r.Points {
		v := r.CostOf(&r.Points[i])
		if math.IsNaN(v) || !is(&r.Points[i]) {
			continue
		}
		if best < 0 || (v < r.CostOf(&r.Points[best])) != (r.Cost() == "") {
			best = i
		}
	}
	return best
}

// loss returns what the runs of a point lost; nil without a crash.
func (r *Result) loss(point int) *Loss {
	if r.Crash == "" {
		return nil
	}
	l := &Loss{}
	for _, d := range r.Runs {
		if d.Point != point || d.Lost == nil {
			continue
		}
		if l.Known++; l.Known == 1 {
			l.Least = *d.Lost
		}
		l.Least, l.Most = min(l.Least, *d.Lost), max(l.Most, *d.Lost)
		if *d.Lost > 0 {
			l.Lossy++
		}
	}
	return l
}

// ofCrash are the causes of verdicts that a crash has by itself. They say nothing against the
// figures of the time before it.
var ofCrash = []string{string(verdict.Verification), string(verdict.Errors), string(verdict.Samples)}

// Doubtful reports whether something casts doubt on the figures of a run.
func (r *Result) Doubtful(d Run) bool {
	if r.Crash != "" && len(d.Causes) > 0 {
		return slices.ContainsFunc(d.Causes, func(c string) bool { return !slices.Contains(ofCrash, c) })
	}
	return d.Verdict != verdict.Valid
}
