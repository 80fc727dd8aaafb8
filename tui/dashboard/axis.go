package dashboard

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/chart"
)

// Axis is the time axis that both charts share: an interval of the run, spread over the
// columns of dots, two per cell. It grows in leaps, each when it is full, by half at most and up to the length of the
// run; in between nothing that is drawn moves.
type Axis struct {
	// From is the first second shown, Span the number of seconds shown.
	From, Span int
	// Cells is the width.
	Cells int
	// Bucket is the interval that one value covers: a second, or several where there is no room for each.
	Bucket time.Duration
}

// firstSpan is the shortest axis of a run that lasts longer.
const firstSpan = 10

// grown returns the next longer axis: 10, 15, 20, 30, 40, 60 and so on, always less than half empty.
func grown(span int) int {
	if span%3 == 0 {
		return span / 3 * 4
	}
	return span / 2 * 3
}

// NewAxis returns the axis in the elapsed-th second of a run that begins with warmup
// seconds and is to last total more; 0 means unknown. It is whole from the start if that has something to show of the
// time to come. The second in which the last calls end is none of them.
// The values cover width or more.
func NewAxis(cells, warmup, elapsed, total int, whole bool, width time.Duration) Axis {
	a := Axis{From: -warmup, Span: firstSpan, Cells: max(cells, 1), Bucket: max(width, time.Second)}
	elapsed += warmup
	for a.Span < elapsed {
		a.Span = grown(a.Span)
	}
	if total += warmup; total > warmup && total >= elapsed-1 && (whole || total < a.Span || total < elapsed) {
		a.Span = max(total, 1)
	}
	for a.Bucket.Seconds() < a.perDot() {
		a.Bucket *= 2
	}
	return a
}

func (a Axis) perDot() float64 { return float64(a.Span) / float64(2*a.Cells) }

// Moments returns the seconds at the middle of each column of dots.
func (a Axis) Moments() []float64 {
	out := make([]float64, 2*a.Cells)
	for x := range out {
		out[x] = a.at(x)
	}
	return out
}

// Cell returns the column of a moment; it may lie outside the axis.
func (a Axis) Cell(t float64) int {
	return int(math.Floor((t - float64(a.From)) / float64(a.Span) * float64(a.Cells)))
}

// at returns the second at the middle of a column of dots.
func (a Axis) at(dot int) float64 {
	return float64(a.From) + (float64(dot)+0.5)*a.perDot()
}

// Round returns the round seconds of the axis that can be labelled: twelve cells apart
// or more.
func (a Axis) Round() []int {
	var out []int
	for _, t := range plot.Seconds(float64(a.From), float64(a.From+a.Span), 1, float64(a.Cells)/12) {
		out = append(out, int(t))
	}
	return out
}

// Series are values by bucket, starting at the axis's first bucket; NaN is a gap.
type Series struct {
	First int // index of the first bucket
	Vals  []float64
	// Whole is how many of the buckets are complete: a later one is still in progress.
	Whole int
}

// floorDiv divides and rounds down; b is positive.
func floorDiv[T ~int | ~int64](a, b T) int {
	n := a / b
	if a%b < 0 {
		n--
	}
	return int(n)
}

// first returns the first bucket of the axis, counted from the start of measurement.
func (a Axis) first() int { return floorDiv(time.Duration(a.From)*time.Second, a.Bucket) }

// Rate returns the throughput over time: of one operation, or with a negative op of all
// of them together. Buckets are means.
func (a Axis) Rate(s *measure.Snapshot, op int) Series {
	var length []float64
	out := a.fold(s, op, func(v float64, i int, p measure.Point) float64 {
		for len(length) <= i {
			length = append(length, 0)
		}
		length[i] = max(length[i], p.Seconds)
		if math.IsNaN(v) {
			v = 0
		}
		return v + float64(p.Count)
	})
	for i := range out.Vals {
		if i >= len(length) || math.IsNaN(out.Vals[i]) {
			continue
		}
		if at := time.Duration(out.First+i) * a.Bucket; op < 0 && at >= 0 && len(s.Ran) > 0 { // phases may follow each other within a bucket
			length[i] = max(length[i], s.Active(at, at+a.Bucket).Seconds())
		}
		out.Vals[i] = measure.Rate(int64(out.Vals[i]), length[i])
	}
	return out
}

// Latency returns the p99 over time in nanoseconds: of one operation, or with a
// negative op of all calls that count. Buckets keep their maximum.
func (a Axis) Latency(s *measure.Snapshot, op int) Series {
	return a.Times(s, op, func(p measure.Point) int64 { return p.ResponseP99 })
}

// Times returns a figure of the response times over time, as Latency does for the p99.
func (a Axis) Times(s *measure.Snapshot, op int, of func(measure.Point) int64) Series {
	all := timelines(s, op)
	if op < 0 {
		all = [][]measure.Point{s.Whole}
	}
	return a.foldLines(s, all, func(v float64, _ int, p measure.Point) float64 {
		if p.ResponseMax == 0 {
			return v // nothing was timed: a gap
		}
		return float64(of(p))
	})
}

// Pending returns the age of the oldest call in progress where it is more telling than
// the finished calls: where it is at least twice that of the slowest of them. Where all calls failed, only one
// of a second or more tells of a call that waits.
func (a Axis) Pending(s *measure.Snapshot, op int) Series {
	return a.fold(s, op, func(v float64, _ int, p measure.Point) float64 {
		failed := p.Count == 0 && p.Errors > 0 && p.Oldest < time.Second
		if age := p.Oldest.Nanoseconds(); age > 2*p.ResponseMax && !failed && !(v > float64(age)) {
			return float64(age)
		}
		return v
	})
}

// Failures returns how many calls failed in each bucket; a gap where none did.
func (a Axis) Failures(s *measure.Snapshot, op int) Series {
	return a.fold(s, op, func(v float64, _ int, p measure.Point) float64 {
		if p.Errors == 0 {
			return v
		}
		if math.IsNaN(v) {
			v = 0
		}
		return v + float64(p.Errors)
	})
}

// Errors returns how many operations failed per second, each once, whatever they count.
func (a Axis) Errors(s *measure.Snapshot) Series {
	var lines [][]measure.Point
	for i, line := range s.Timeline {
		if s.Fails(i) {
			lines = append(lines, line)
		}
	}
	out := a.foldLines(s, lines, func(v float64, _ int, p measure.Point) float64 {
		if math.IsNaN(v) {
			v = 0
		}
		return v + float64(p.Errors)
	})
	for i := range out.Vals {
		out.Vals[i] /= a.Bucket.Seconds()
	}
	return out
}

// Counts returns how many units succeeded in each bucket, which are as many calls or more.
func (a Axis) Counts(s *measure.Snapshot, op int) Series {
	return a.fold(s, op, func(v float64, _ int, p measure.Point) float64 {
		if math.IsNaN(v) {
			v = 0
		}
		return v + float64(p.Count)
	})
}

// Calls returns how many calls ended in each bucket: no more than units, and no more than were timed
// meanwhile.
func (a Axis) Calls(s *measure.Snapshot, op int) Series {
	out := a.Counts(s, op)
	timed := make([]float64, len(out.Vals))
	some := make([]bool, len(out.Vals))
	width := a.Bucket.Seconds()
	for i, spreads := range s.Spreads {
		if op != i && (op >= 0 || !s.Counts(i)) {
			continue
		}
		for _, sp := range spreads {
			calls, from, to := 0.0, float64(sp.T), float64(sp.T+sp.Width)
			for _, n := range sp.Counts {
				calls += float64(n)
			}
			for n := max(int(math.Floor(from/width))-out.First, 0); n < len(timed); n++ {
				begin := float64(out.First+n) * width
				part := min(begin+width, to) - max(begin, from)
				if part <= 0 {
					break
				}
				timed[n], some[n] = timed[n]+calls*part/float64(sp.Width), true
			}
		}
	}
	for n := range out.Vals {
		if some[n] {
			out.Vals[n] = min(out.Vals[n], math.Round(timed[n]))
		}
	}
	return out
}

// Few returns the columns of cells that show a p99 of too few calls for one.
func (a Axis) Few(s *measure.Snapshot, op int) []bool {
	p99, calls := a.Latency(s, op), a.Calls(s, op)
	few := make([]float64, len(p99.Vals))
	for n, v := range p99.Vals {
		if v > 0 && n < len(calls.Vals) && measure.Moment(nanos(calls.Vals[n]), 0, int64(v), 0).Shown().P99 == measure.Hidden {
			few[n] = 1
		}
	}
	p99.Vals = few
	out := make([]bool, a.Cells)
	for x, v := range a.Dots(p99) {
		out[x/2] = out[x/2] || v > 0
	}
	return out
}

// timelines returns the timeline of an operation, or with a negative op those of all that count.
func timelines(s *measure.Snapshot, op int) (out [][]measure.Point) {
	for i, line := range s.Timeline {
		if op == i || op < 0 && s.Counts(i) {
			out = append(out, line)
		}
	}
	return out
}

// fold gathers the points of an operation, or with a negative op of all that count, into the
// axis's buckets.
func (a Axis) fold(s *measure.Snapshot, op int, f func(v float64, i int, p measure.Point) float64) Series {
	return a.foldLines(s, timelines(s, op), f)
}

// foldLines gathers the points of timelines into the axis's buckets. For points of one line that
// share a bucket, the lengths are added up first.
func (a Axis) foldLines(s *measure.Snapshot, lines [][]measure.Point, f func(v float64, i int, p measure.Point) float64) Series {
	out := Series{First: a.first()}
	last := time.Duration(math.MinInt64)
	for _, line := range lines {
		var sum measure.Point
		at := -1
		flush := func() {
			if at >= 0 {
				out.Vals[at] = f(out.Vals[at], at, sum)
			}
		}
		for _, p := range line {
			last = max(last, p.At+s.Bucket)
			n := floorDiv(p.At, a.Bucket) - out.First
			if n < 0 {
				continue
			}
			for len(out.Vals) <= n {
				out.Vals = append(out.Vals, math.NaN())
			}
			if n != at {
				flush()
				at, sum = n, measure.Point{}
			}
			sum.Count += p.Count
			sum.Seconds += p.Seconds
			sum.Errors += p.Errors
			sum.Oldest = max(sum.Oldest, p.Oldest)
			sum.ResponseP50 = max(sum.ResponseP50, p.ResponseP50)
			sum.ResponseP99 = max(sum.ResponseP99, p.ResponseP99)
			sum.ResponseMax = max(sum.ResponseMax, p.ResponseMax)
		}
		flush()
	}
	out.Whole = len(out.Vals)
	if n := len(out.Vals); n > 0 && last < time.Duration(out.First+n)*a.Bucket {
		out.Whole = n - 1
	}
	return out
}

// Dots spreads a series over the axis's columns of dots, each value as a step.
func (a Axis) Dots(s Series) []float64 {
	return chart.Across(s.Vals, 2*a.Cells, func(x int) float64 { return a.place(s, x) })
}

// place returns where in a series the middle of a column of dots lies, in buckets.
func (a Axis) place(s Series, dot int) float64 {
	return a.at(dot)/a.Bucket.Seconds() - float64(s.First)
}

// within returns the buckets of a series, complete ones only, that lie in from..to.
func (a Axis) within(s Series, from, to time.Duration) (first, end int) {
	first = floorDiv(from, a.Bucket) - s.First
	if from%a.Bucket != 0 {
		first++
	}
	first = min(max(first, 0), s.Whole)
	return first, max(min(floorDiv(to, a.Bucket)-s.First, s.Whole), first)
}

// Lit returns the columns of cells that show no buckets but the complete ones in from..to.
func (a Axis) Lit(s Series, from, to time.Duration) (first, end int) {
	low, high := a.within(s, from, to)
	first, end = 2*a.Cells, 0
	for x := range 2 * a.Cells {
		at := a.place(s, x)
		if empty := high == len(s.Vals) && at >= float64(high); empty || at >= float64(low) && at < float64(high) {
			first, end = min(first, x), x+1
		}
	}
	return (first + 1) / 2, end / 2
}
