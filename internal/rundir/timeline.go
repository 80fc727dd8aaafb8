package rundir

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
)

// Timeline is a run second by second: the operations that count in its unit as one, and
// the others separately. NaN is a gap: nothing ran, or for less than
// measure.ShortestRate.
type Timeline struct {
	// First is the second of the first value, negative during warm-up.
	First int
	// Rates are units per second of the operations that count. P50, P99 and Max are
	// response times in nanoseconds, of the slowest operation that counts. In seconds of an outage
	// only Max is known, that of calls that were given up.
	Rates, P50, P99, Max []float64
	// Errors are the calls of the operations that count that failed.
	Errors []int64
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

// TimesIn returns the response times of the seconds from one to before another, of the slowest
// operation that counts: p50 and p99, measure.Hidden where too few calls support them, and the
// maximum. All is 0 if no call ended.
func TimesIn(f *Folder, from, to int) measure.Summary {
	var list []measure.Summary
	for _, o := range f.Run.Operations {
		if !f.Run.Counts(o) {
			continue
		}
		units, failed, p50, p99, most := int64(0), int64(0), int64(0), int64(0), int64(0)
		for _, r := range f.Series {
			if r.T >= from && r.T < to && r.Track == o.Track && r.Op == o.Op {
				units, failed = units+r.Count, failed+r.Errors
				p50, p99, most = max(p50, r.ResponseP50), max(p99, r.ResponseP99), max(most, r.ResponseMax)
			}
		}
		if most > 0 {
			list = append(list, measure.Moment(o.callsOf(units)+failed, p50, p99, most))
		}
	}
	return measure.Worst(list)
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
		name := o.Op
		if len(tracks) > 1 {
			name = o.Track + "." + o.Op
		}
		b.at[measure.Operation{Track: o.Track, Op: o.Op}] = len(b.lines)
		b.lines = append(b.lines, Line{name, Gaps(n)})
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
