package dashboard

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
)

// axis is the time axis that both charts share: a span of the run over the
// columns of dots, two to a cell. It moves in leaps: the span of a run is known,
// or doubles when it is full, and in between nothing that is drawn moves.
type axis struct {
	// from is the first second shown, span how many are shown.
	from, span int
	// cells is the width; bucket how many seconds one value covers.
	cells, bucket int
}

// firstSpan is the shortest axis of a run that does not know when it will end.
const firstSpan = 30

// newAxis returns the axis after so many seconds of a run that begins with
// warmup seconds and is to last total ones more; 0: unknown.
func newAxis(cells, warmup, elapsed, total, width int) axis {
	a := axis{from: -warmup, span: firstSpan, cells: max(cells, 1), bucket: max(width, 1)}
	elapsed += warmup
	for a.span < elapsed {
		a.span *= 2
	}
	if total += warmup; total > warmup && total >= elapsed && 2*total <= 5*a.span {
		a.span = max(total, 1)
	}
	for float64(a.bucket) < a.perDot() {
		a.bucket *= 2
	}
	return a
}

func (a axis) perDot() float64 { return float64(a.span) / float64(2*a.cells) }

// cell returns the column of a moment; it may lie outside.
func (a axis) cell(t float64) int {
	return int(math.Floor((t - float64(a.from)) / float64(a.span) * float64(a.cells)))
}

// at returns the second in the middle of a column of dots.
func (a axis) at(dot int) float64 {
	return float64(a.from) + (float64(dot)+0.5)*a.perDot()
}

// series are values by bucket, from the axis's first bucket on; NaN is a gap.
type series struct {
	first int // index of the first bucket
	vals  []float64
	// whole is how many of the buckets are over: a later one is still in progress.
	whole int
}

func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// rate is the throughput over time: of one operation, or with a negative op of
// all of them together. Buckets are means.
func (a axis) rate(s *measure.Snapshot, op int) series {
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
	for i := range out.vals {
		if i >= len(length) || math.IsNaN(out.vals[i]) {
			continue
		}
		if from := (out.first + i) * a.bucket; op < 0 && from >= 0 && len(s.Ran) > 0 { // phases may follow each other within a bucket
			at := time.Duration(from) * time.Second
			length[i] = max(length[i], s.Active(at, at+time.Duration(a.bucket)*time.Second).Seconds())
		}
		out.vals[i] = measure.Rate(int64(out.vals[i]), length[i])
	}
	return out
}

// latency is the p99 over time in nanoseconds: of one operation, or with a negative op
// of the slowest. Buckets keep their maximum.
func (a axis) latency(s *measure.Snapshot, op int) series {
	return a.times(s, op, func(p measure.Point) int64 { return p.ResponseP99 })
}

// times is a figure of the response times over time, as latency is the p99.
func (a axis) times(s *measure.Snapshot, op int, of func(measure.Point) int64) series {
	return a.fold(s, op, func(v float64, _ int, p measure.Point) float64 {
		if p.ResponseMax == 0 {
			return v // nothing was timed: a gap
		}
		if math.IsNaN(v) {
			return float64(of(p))
		}
		return max(v, float64(of(p)))
	})
}

// failures is how many calls failed in each bucket; a gap where none did.
func (a axis) failures(s *measure.Snapshot, op int) series {
	return a.fold(s, op, func(v float64, _ int, p measure.Point) float64 {
		if p.Errors == 0 {
			return v
		}
		return nanAdd(v, float64(p.Errors))
	})
}

// fold gathers the points of a timeline into the axis's buckets. Points of one
// operation that share a bucket have their lengths added up first.
func (a axis) fold(s *measure.Snapshot, op int, f func(v float64, i int, p measure.Point) float64) series {
	out := series{first: floorDiv(a.from, a.bucket)}
	last := math.MinInt
	for i, line := range s.Timeline {
		if op >= 0 && op != i || op < 0 && !s.Counts(i) {
			continue
		}
		var sum measure.Point
		at := -1
		flush := func() {
			if at >= 0 {
				out.vals[at] = f(out.vals[at], at, sum)
			}
		}
		for _, p := range line {
			last = max(last, p.T+max(s.Bucket, 1))
			n := floorDiv(p.T, a.bucket) - out.first
			if n < 0 {
				continue
			}
			for len(out.vals) <= n {
				out.vals = append(out.vals, math.NaN())
			}
			if n != at {
				flush()
				at, sum = n, measure.Point{}
			}
			sum.Count += p.Count
			sum.Seconds += p.Seconds
			sum.Errors += p.Errors
			sum.ResponseP50 = max(sum.ResponseP50, p.ResponseP50)
			sum.ResponseP99 = max(sum.ResponseP99, p.ResponseP99)
			sum.ResponseMax = max(sum.ResponseMax, p.ResponseMax)
		}
		flush()
	}
	out.whole = len(out.vals)
	if n := len(out.vals); n > 0 && last < (out.first+n)*a.bucket {
		out.whole = n - 1
	}
	return out
}

// dots spreads a series over the axis's columns of dots. Between the middles of
// two buckets lies a straight line; beyond the last middle nothing is drawn, so
// that what is drawn stays as it is.
func (a axis) dots(s series) []float64 {
	out := make([]float64, 0, 2*a.cells)
	smooth := a.perDot() <= float64(a.bucket)/2
	for x := range 2 * a.cells {
		pos := a.at(x)/float64(a.bucket) - float64(s.first)
		i := int(math.Floor(pos))
		if i < 0 || i >= len(s.vals) {
			out = append(out, math.NaN())
			continue
		}
		v := s.vals[i]
		if frac := pos - float64(i) - 0.5; smooth {
			switch {
			case frac > 0 && i+1 >= len(s.vals):
				v = math.NaN()
			case frac > 0 && i+1 < len(s.vals) && !math.IsNaN(s.vals[i+1]):
				v = v*(1-frac) + s.vals[i+1]*frac
			case frac < 0 && i > 0 && !math.IsNaN(s.vals[i-1]):
				v = v*(1+frac) - s.vals[i-1]*frac
			}
		}
		out = append(out, v)
	}
	return out
}
