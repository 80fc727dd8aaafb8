package sweep

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/units"
)

const (
	// kneeShare is the fraction of the throughput that each of the first threads adds
	// which a further thread must add.
	kneeShare = 0.25
	// draws is how often the runs are resampled to see how chance affects the knee.
	draws = 2000
	// leastSpare is how many runs there must be in excess of one at each number of
	// threads.
	leastSpare = 3
)

// level holds the runs with one number of threads: n threads, with x the mean
// throughput.
type level struct {
	n, x float64
	runs []float64
}

// levels are ordered by threads.
type levels []level

func levelsOf(runs []Sample) levels {
	by := map[float64][]float64{}
	for _, p := range runs {
		by[p.N] = append(by[p.N], p.X)
	}
	var out levels
	for n, xs := range by {
		sum := 0.0
		for _, x := range xs {
			sum += x
		}
		out = append(out, level{n, sum / float64(len(xs)), xs})
	}
	slices.SortFunc(out, func(a, b level) int { return cmp.Compare(a.n, b.n) })
	return out
}

// knee returns the Knee of a line.
func (l levels) knee() float64 {
	for i, p := range l {
		above := l[i+1:]
		if len(above) > 0 && !slices.ContainsFunc(above, func(q level) bool { return (q.x-p.x)/(q.n-p.n) >= kneeShare*l[0].x/l[0].n }) {
			return p.n
		}
	}
	return 0
}

// doubt says why the runs of a line do not carry its knee; "" if they do, or if it has none. A single
// run at each number shows no scatter, and so nothing against it.
func (l levels) doubt(line Line) string {
	if line.Knee == 0 {
		return ""
	}
	wild := slices.IndexFunc(l, func(p level) bool {
		e := stat.Independent(p.runs)
		lo, hi := e.Interval(certainty)
		return len(p.runs) > 1 && hi-lo > 2*e.Value
	})
	switch {
	case wild >= 0:
		return fmt.Sprintf("the runs at %s vary by more than ± 100 %%", units.Plural(int64(l[wild].n), "thread"))
	case line.KneeLow != nil && *line.KneeLow == l[0].n && line.KneeHigh == nil && line.Knee > l[0].n:
		return fmt.Sprintf("by chance it may be anywhere from %s on", units.Plural(int64(l[0].n), "thread"))
	}
	return ""
}

// fewest is how many numbers of threads it takes to see where a curve bends.
const fewest = 3

// leastNamed is how many numbers of threads have figures before a knee is named while more are to come.
const leastNamed = 4

// Awaited returns how many numbers of threads of a line that is under way have figures, and how many of
// them it takes before its knee is named; 0 where nothing is waited for.
func (l Line) Awaited(r *Result) (numbers, of int) {
	numbers, _ = l.thin(r)
	of = min(leastNamed, len(r.Axes[r.Across()].List()))
	if r.Complete() || numbers >= of {
		return numbers, 0
	}
	return numbers, of
}

// thin returns at how many numbers of threads the line has runs, and whether one of them has a single
// run.
func (l Line) thin(r *Result) (numbers int, single bool) {
	across := r.Across()
	runs := map[float64]int{}
	for _, p := range r.Points {
		if p.Done != nil && r.Of(p, across, l.At) {
			runs[r.N(p, across)] += p.Runs
		}
	}
	for _, n := range runs {
		single = single || n == 1
	}
	return len(runs), single
}

// Thin says what is too little to be certain of the knee of a line of a sweep, as the subject of a
// sentence; "" if nothing is: from two numbers of threads a curve has no bend, and of a single run nobody
// knows how far chance moved it.
func (l Line) Thin(r *Result) string {
	numbers, single := l.thin(r)
	switch few := numbers < fewest; {
	case few && single:
		return "two points with so few runs"
	case few:
		return "two points"
	case single:
		return "points with a single run"
	}
	return ""
}

// Surer says what would make certain of a knee that Thin doubts.
func (l Line) Surer(r *Result) string {
	numbers, single := l.thin(r)
	switch few := numbers < fewest; {
	case few && single:
		return "more points and three runs of each (--repeat 3)"
	case few:
		return "more points"
	}
	return "three runs of each (--repeat 3)"
}

// interval returns between which numbers of threads the knee lies, by a bootstrap: the
// relative deviations of runs from their mean, which are assumed to be distributed
// alike everywhere, as for the law, are redistributed at random. low is nil if there
// are too few runs or there is hardly a knee, and high also if there may be none. The
// same runs always give the same interval.
func (l levels) interval() (low, high *float64) {
	var off []float64
	for _, p := range l {
		for _, x := range p.runs {
			off = append(off, x/p.x-1)
		}
	}
	spare := len(off) - len(l)
	if spare < leastSpare {
		return nil, nil
	}
	wider := math.Sqrt(float64(len(off)) / float64(spare)) // runs are closer to their own mean than to the true one
	rnd := rand.New(rand.NewPCG(uint64(len(off)), 1))
	found := make([]float64, draws)
	drawn := slices.Clone(l)
	for i := range found {
		for j, p := range l {
			sum := 0.0
			for range p.runs {
				sum += off[rnd.IntN(len(off))]
			}
			drawn[j].x = p.x * (1 + wider*sum/float64(len(p.runs)))
		}
		if found[i] = drawn.knee(); found[i] == 0 {
			found[i] = math.Inf(1)
		}
	}
	slices.Sort(found)
	tail := int((1 - certainty) / 2 * draws)
	if at := found[tail]; !math.IsInf(at, 1) {
		low = &at
	}
	if at := found[draws-1-tail]; !math.IsInf(at, 1) {
		high = &at
	}
	return low, high
}
