// Package course lays a finished run out second by second, for whatever draws or
// explains one.
package course

import (
	"math"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Course is a run second by second: what counts its unit as one, and the others
// beside it. NaN is a gap: nothing ran, or for less than measure.ShortestRate.
type Course struct {
	// First is the second of the first value, negative in warm-up.
	First int
	// Rates are units per second of what counts; P50, P99 and Max are response times in
	// nanoseconds, of the slowest operation that counts.
	Rates, P50, P99, Max []float64
	// Others are, per operation that does not count and did anything, its own units per
	// second.
	Others []Line
}

// Line is a value each second of one operation.
type Line struct {
	// Name is the operation, with its track where the run has several.
	Name   string
	Values []float64
}

// longest is how many seconds a course may hold: half a year.
const longest = 183 * 86400

// Of lays the series of a run out; one without, or of more than half a year, has none.
func Of(f *rundir.Folder) Course {
	var c Course
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
		return Course{}
	}
	c.Rates, c.P50, c.P99, c.Max = Gaps(n), Gaps(n), Gaps(n), Gaps(n)
	counts, others := Gaps(n), othersOf(f, n)
	for _, r := range f.Series {
		i := r.T - c.First
		if at, ok := others.at[measure.Operation{Track: r.Track, Op: r.Op}]; ok {
			others.lines[at].Values[i] = r.Throughput
			continue
		}
		counts[i] = known(counts[i]) + float64(r.Count)
		if !math.IsNaN(r.Throughput) {
			c.Rates[i] = known(c.Rates[i]) + r.Throughput
		}
		if r.ResponseMax > 0 {
			c.P50[i] = max(known(c.P50[i]), float64(r.ResponseP50))
			c.P99[i] = max(known(c.P99[i]), float64(r.ResponseP99))
			c.Max[i] = max(known(c.Max[i]), float64(r.ResponseMax))
		}
	}
	c.Others = others.some()
	if len(f.Run.Phases) == 0 || f.Run.Failed() {
		return c
	}
	for i := max(-c.First, 0); i < n; i++ { // phases may follow each other within a second
		if t := float64(c.First + i); !math.IsNaN(counts[i]) {
			c.Rates[i] = measure.Rate(int64(counts[i]), f.Run.Active(t, t+1))
		}
	}
	return c
}

// Sampled is a number of store.csv over the n seconds from first on, added up over the
// nodes of a source; NaN where there is none.
func Sampled(f *rundir.Folder, source, name string, first, n int) []float64 {
	out := Gaps(n)
	for _, s := range f.Samples {
		if i := s.T - first; s.Source == source && s.Name == name && i >= 0 && i < n {
			out[i] = known(out[i]) + s.Value
		}
	}
	return out
}

// beside are the lines of the operations that do not count.
type beside struct {
	at    map[measure.Operation]int
	lines []Line
}

func othersOf(f *rundir.Folder, n int) beside {
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

// some returns the lines with anything on them.
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

// Gaps returns n values of which none is known yet.
func Gaps(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// known is v, and 0 where it is not known.
func known(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
