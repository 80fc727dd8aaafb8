package rundir

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// Timeline is a run second by second: the operations that count in its unit as one, and
// the others separately. NaN is a gap: nothing ran, or for less than
// measure.ShortestRate.
type Timeline struct {
	// First is the second of the first value, negative during warm-up.
	First int
	// Rates are units per second of the operations that count. P50, P99 and Max are
	// response times in nanoseconds, of the slowest operation that counts; from OfCalls, of all calls that
	// count. In seconds of an outage
	// only Max is known, that of calls that were given up.
	Rates, P50, P99, Max []float64
	// Errors are the calls of the operations that count that failed.
	Errors []int64
	// Calls are how many were timed; nil unless from OfCalls.
	Calls []int64
	// Unverified says that the verification failed: Rates are what was acknowledged, and no
	// throughput.
	Unverified bool
	// Others has, for each operation that does not count but did anything, its own
	// units per second.
	Others []Line
}

// Line is one value per second of one operation.
type Line struct {
	// Name is the operation, with its track if the run has several.
	Name   string
	Values []float64
}

// longest is how many seconds a course may hold: half a year.
const longest = 183 * 86400

// Of lays out the series of a run. A run without one, or of more than half a year,
// gives an empty Course.
func Of(f *Folder) Timeline {
	var c Timeline
	if len(f.Series) == 0 {
		return c
	}
	c.First = f.Series[0].T
	last := c.First
	for _, r := range f.Series {
		c.First, last = min(c.First, r.T), max(last, r.T)
	}
	n := last - c.First + 1
	if n > longest {
		return Timeline{}
	}
	c.Rates, c.P50, c.P99, c.Max, c.Errors = Gaps(n), Gaps(n), Gaps(n), Gaps(n), make([]int64, n)
	counts, others := Gaps(n), othersOf(f, n)
	for _, r := range f.Series {
		i := r.T - c.First
		if at, ok := others.at[measure.Operation{Track: r.Track, Op: r.Op}]; ok {
			others.lines[at].Values[i] = r.Throughput
			continue
		}
		counts[i] = known(counts[i]) + float64(r.Count)
		c.Errors[i] += r.Errors
		if !math.IsNaN(r.Throughput) {
			c.Rates[i] = known(c.Rates[i]) + r.Throughput
		}
		if r.ResponseMax > 0 {
			c.P50[i] = max(known(c.P50[i]), float64(r.ResponseP50))
			c.P99[i] = max(known(c.P99[i]), float64(r.ResponseP99))
			c.Max[i] = max(known(c.Max[i]), float64(r.ResponseMax))
		}
	}
	for _, o := range slices.Concat(f.Run.Outages, f.Run.Emptied) {
		for t := int(math.Ceil(o.From)); float64(t+1) <= o.To; t++ {
			if i := t - c.First; i >= 0 && i < n {
				c.P50[i], c.P99[i] = math.NaN(), math.NaN()
			}
		}
	}
	c.Others = others.some()
	if len(f.Run.Phases) == 0 {
		return c
	}
	c.Unverified = f.Run.Failed()
	for i := max(-c.First, 0); i < n; i++ { // phases may follow each other within a second
		if t := c.First + i; !math.IsNaN(counts[i]) {
			c.Rates[i] = measure.Rate(int64(counts[i]), f.Run.ActiveIn(t))
		}
	}
	return c
}

// OfCalls is Of with the response times of all calls that count, and how many these are, instead of
// those of the slowest operation. It reads the log of a run in which several operations count; without
// one it is as Of, with about as many calls as there were.
func OfCalls(f *Folder) Timeline {
	c := Of(f)
	c.Calls = make([]int64, len(c.Rates))
	ops := map[measure.Operation]*Operation{}
	for i := range f.Run.Operations {
		if o := &f.Run.Operations[i]; f.Run.Counts(*o) {
			ops[measure.Operation{Track: o.Track, Op: o.Op}] = o
		}
	}
	for _, r := range f.Series {
		if o := ops[measure.Operation{Track: r.Track, Op: r.Op}]; o != nil && len(c.Calls) > 0 && r.ResponseMax > 0 {
			c.Calls[r.T-c.First] += o.callsOf(r.Count) + r.Errors
		}
	}
	if len(ops) < 2 || len(c.Rates) == 0 {
		return c
	}
	all, warm, some := c, max(-c.First, 0), false
	all.P50, all.P99, all.Max, all.Calls = slices.Clone(c.P50), slices.Clone(c.P99), slices.Clone(c.Max), slices.Clone(c.Calls)
	err := f.Together(func(second int, h *hdrhistogram.Histogram) {
		if i := second - c.First; i >= warm && i < len(c.P99) && !math.IsNaN(c.P99[i]) {
			at := measure.At(h, 50, 99, 100)
			all.P50[i], all.P99[i], all.Max[i], all.Calls[i], some = float64(at[0]), float64(at[1]), float64(at[2]), h.TotalCount(), true
		}
	})
	if err != nil || !some {
		return c
	}
	return all
}

// Together calls each with the response times of all calls that count, second by second; seconds without
// a call are left out. The histogram is valid only during the call.
func (f *Folder) Together(each func(second int, all *hdrhistogram.Histogram)) error {
	counts := map[string]bool{}
	for _, o := range f.Run.Operations {
		counts[hlog.Tag(o.Track, o.Op, hlog.Response)] = f.Run.Counts(o)
	}
	second, sum := 0, hlog.NewMerger()
	told := func() {
		if all := sum.Histograms()[""]; all != nil && all.TotalCount() > 0 {
			each(second, all)
		}
	}
	err := f.Intervals(func(iv hlog.Interval) error {
		if !counts[iv.Tag] || iv.T < 0 {
			return nil
		}
		if at := f.Run.SecondOf(iv.T); at != second {
			told()
			second, sum = at, hlog.NewMerger()
		}
		iv.Tag = ""
		return sum.Add(iv)
	})
	told()
	return err
}

// Times returns the response times of the seconds from one to before another, counted from First: p50 and
// p99, measure.Hidden where too few calls support them, and the maximum. All is 0 if no call ended.
func (c *Timeline) Times(from, to int) measure.Summary {
	calls, p50, p99, most := int64(0), int64(0), int64(0), int64(0)
	for i := max(from, 0); i < min(to, len(c.Calls)); i++ {
		if calls += c.Calls[i]; c.Max[i] > 0 {
			most = max(most, int64(c.Max[i]))
		}
		if c.P99[i] > 0 {
			p50, p99 = max(p50, int64(c.P50[i])), max(p99, int64(c.P99[i]))
		}
	}
	if p99 == 0 { // no call is timed in an outage
		return measure.Summary{Max: most}
	}
	return measure.Moment(calls, p50, p99, most).Shown()
}

// callsOf returns in about how many calls so many units were done: in as many each as in the whole run.
func (o *Operation) callsOf(units int64) int64 {
	if o.Count <= 0 || o.Calls >= o.Count {
		return units
	}
	return int64(math.Round(float64(units) * float64(o.Calls) / float64(o.Count)))
}

// Sampled returns a number of store.csv over the n seconds from first, added up over
// the nodes of a source; NaN where it is missing.
func Sampled(f *Folder, source, name string, first, n int) []float64 {
	out := Gaps(n)
	for _, s := range f.Samples {
		if i := s.T - first; s.Source == source && s.Name == name && i >= 0 && i < n {
			out[i] = known(out[i]) + s.Value
		}
	}
	return out
}

// beside holds the lines of the operations that do not count.
type beside struct {
	at    map[measure.Operation]int
	lines []Line
}

func othersOf(f *Folder, n int) beside {
	b := beside{at: map[measure.Operation]int{}}
	tracks := map[string]bool{}
	for _, o := range f.Run.Operations {
		tracks[o.Track] = true
	}
	for _, o := range f.Run.Operations {
		if f.Run.Counts(o) {
			continue
		}
		op := measure.Operation{Track: o.Track, Op: o.Op}
		b.at[op] = len(b.lines)
		b.lines = append(b.lines, Line{op.Among(len(tracks)), Gaps(n)})
	}
	return b
}

// some returns the lines that have any values.
func (b beside) some() []Line {
	var out []Line
	for _, l := range b.lines {
		for _, v := range l.Values {
			if v > 0 {
				out = append(out, l)
				break
			}
		}
	}
	return out
}

// Gaps returns n values, all unknown.
func Gaps(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// known returns v, or 0 if it is unknown.
func known(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
