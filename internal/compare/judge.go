// Package compare judges two finished runs: figure by figure, each with the range in
// which it may lie, and in what their conditions differ. It neither reads nor writes
// files, and nothing in it changes a run.
//
// A figure is judged by one plain rule:
//
//   - same: less than 1 % apart.
//   - unsure: the ranges in which the two figures may lie overlap.
//   - better, worse: they do not; more throughput is better, less time is.
//
// The range of throughput is the mean of the measured whole seconds ± two standard
// errors. The range of a percentile is the wider of two: where the percentile of
// so many calls may lie by chance alone (the values at the ranks n·q ± 2·√(n·q·(1−q))),
// and the figure ± two relative standard errors of the seconds' own p50 (for p50)
// or p99 (for the others), since calls of one second resemble each other. The
// largest value of a run is chance: it is reported and not judged. Errors are judged
// as shares of calls, ± two times the root of their number.
package compare

import "math"

const (
	sameWithin = 0.01
	errorWidth = 2.0
)

// Verdict is what the second run's figure is, measured against the first one's.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	Same   Verdict = "same"
	Unsure Verdict = "unsure"
	Noted  Verdict = "" // reported, not judged
)

// Estimate is a figure with the range in which it may lie. Its value is NaN where
// nothing can be said.
type Estimate struct {
	Value, Lo, Hi float64
	// Vague says that too few calls are behind the value to report it.
	Vague bool
}

// none is the estimate of what was not measured.
var none = Estimate{Value: math.NaN(), Vague: true}

// StandardError is how far the value may be off by chance; NaN or infinite where that
// is not known.
func (e Estimate) StandardError() float64 { return (e.Hi - e.Value) / errorWidth }

// Judge compares a figure of the second run, b, with that of the first.
func Judge(a, b Estimate, moreIsBetter bool) Verdict {
	switch {
	case math.IsNaN(a.Value) || math.IsNaN(b.Value):
		return Noted
	case a.Value == b.Value, math.Abs(b.Value-a.Value) < sameWithin*math.Abs(a.Value):
		return Same
	case a.Lo <= b.Hi && b.Lo <= a.Hi:
		return Unsure
	case (b.Value > a.Value) == moreIsBetter:
		return Better
	}
	return Worse
}

// meanError returns the mean of what is known of a series and the standard error of
// that mean: infinite for a single value, NaN for none.
func meanError(vals []float64) (mean, se float64) {
	n, sum := 0.0, 0.0
	for _, v := range vals {
		if !math.IsNaN(v) {
			n, sum = n+1, sum+v
		}
	}
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	mean = sum / n
	if n < 2 {
		return mean, math.Inf(1)
	}
	sq := 0.0
	for _, v := range vals {
		if !math.IsNaN(v) {
			sq += (v - mean) * (v - mean)
		}
	}
	return mean, math.Sqrt(sq / (n - 1) / n)
}
