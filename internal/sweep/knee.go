package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/units"
)

// kneeShare is the fraction of the throughput that each of the first threads adds
// which a further thread must add.
const kneeShare = 0.25

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
		mean, _, _ := stat.OfSeveral(xs, certainty)
		out = append(out, level{n, mean, xs})
	}
	slices.SortFunc(out, func(a, b level) int { return cmp.Compare(a.n, b.n) })
	return out
}

// enough reports whether threads from one level to a higher one each add enough for the knee to lie above, if
// the throughput is so many times as large there.
func (l levels) enough(from, to level, times float64) bool {
	return from.x*(times-1)/(to.n-from.n) >= kneeShare*l[0].x/l[0].n
}

// first returns the index of the lowest level above which no level is what is asked for; -1 if there is none.
func (l levels) first(is func(from, to level) bool) int {
	for i, p := range l {
		above := l[i+1:]
		if len(above) > 0 && !slices.ContainsFunc(above, func(q level) bool { return is(p, q) }) {
			return i
		}
	}
	return -1
}

// knee returns the Knee of a line by its means.
func (l levels) knee() float64 {
	i := l.first(func(from, to level) bool { return l.enough(from, to, to.x/from.x) })
	if i < 0 {
		return 0
	}
	return l[i].n
}

// times returns between which bounds the throughput of a level is how many times that of another, as a comparison
// of their runs has it.
func times(from, to level) (lo, hi float64) {
	logs := func(runs []float64) (out []float64) {
		for _, x := range runs {
			out = append(out, math.Log(x))
		}
		return out
	}
	lo, hi = stat.Between(logs(from.runs), logs(to.runs)).Interval(certainty)
	return math.Exp(lo), math.Exp(hi)
}

// interval returns between which numbers of threads the knee lies, by comparisons of the runs at each with those at
// each higher number: it is above a number where threads beyond that add enough for certain, and no higher than one
// beyond which they do not for certain. low is nil if a number of threads has a single run, or there is hardly a knee,
// and high also if there may be none.
func (l levels) interval() (low, high *float64) {
	if slices.ContainsFunc(l, func(p level) bool { return len(p.runs) < 2 }) {
		return nil, nil
	}
	at := func(i int) *float64 {
		if i < 0 {
			return nil
		}
		return &l[i].n
	}
	return at(l.first(func(from, to level) bool {
			lo, _ := times(from, to)
			return l.enough(from, to, lo)
		})), at(l.first(func(from, to level) bool {
			_, hi := times(from, to)
			return !(hi < math.Inf(1)) || l.enough(from, to, hi)
		}))
}

// settle sets the knee of a line, and between which numbers of threads it lies. Where the runs do not carry the one
// that the means have, it says why instead. A single run at each number shows no scatter, and so nothing against it.
func (l levels) settle(line *Line) {
	line.Knee, line.Doubt = l.knee(), ""
	line.KneeLow, line.KneeHigh = l.interval()
	if line.Knee == 0 {
		return
	}
	wild := slices.IndexFunc(l, func(p level) bool {
		mean, _, hi := stat.OfSeveral(p.runs, certainty)
		return len(p.runs) > 1 && wild(mean, hi)
	})
	switch low, high := line.KneeLow, line.KneeHigh; {
	case wild >= 0:
		line.Doubt = fmt.Sprintf("the margin of error at %s is more than ± 100 %%", units.Plural(int64(l[wild].n), "thread"))
	case low != nil && *low == l[0].n && high == nil:
		line.Doubt = fmt.Sprintf("by chance it may be anywhere from %s on", units.Plural(int64(l[0].n), "thread"))
	case low != nil && (high == nil || *low < *high):
		line.Doubt = "the runs vary too much to tell which"
	}
	if line.Doubt != "" {
		line.Knee = 0
	}
}

// MayBe says between which of the numbers of threads that were tried the knee lies: "4 to 16 threads". It is empty if that
// is unknown, or might be any of them.
func (l Line) MayBe(r *Result) string {
	switch {
	case l.KneeLow == nil:
		return ""
	case l.KneeHigh != nil && *l.KneeLow < *l.KneeHigh:
		return units.Number(*l.KneeLow) + " to " + units.Plural(int64(*l.KneeHigh), "thread")
	case l.KneeHigh != nil:
		return units.Plural(int64(*l.KneeLow), "thread")
	}
	if n, _ := r.places(r.Across(), l.At); len(n) > 0 && n[0] == *l.KneeLow {
		return ""
	}
	return units.Plural(int64(*l.KneeLow), "thread") + " or more"
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
