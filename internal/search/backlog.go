package search

import (
	"fmt"
	"math"
	"time"
)

const (
	// settle is the part of a step that is not judged.
	settle = 0.3
	// backlogged is the most that may be due and not done, in seconds of the rate.
	backlogged = 1.0
	// Grows is the growth of a backlog that is none yet, as a part of the rate.
	Grows = 0.01
)

// Backlog judges a step by what is due at its rate and not done. It is told how much
// has been done, ten times a second or so.
type Backlog struct {
	// Unit is what is counted, for words: "events".
	Unit   string
	Rate   float64
	Length time.Duration
	// Slack is how much is on its way at any rate.
	Slack float64

	at, backlog, done []float64 // since the step has settled
}

// Look takes how much has been done when the step has lasted for so long, and
// reports whether it is over, with what came of it.
func (b *Backlog) Look(lasted time.Duration, done float64) (s Step, over bool) {
	seconds := lasted.Seconds()
	left := b.Rate*seconds - done
	s = Step{Rate: b.Rate}
	if seconds/b.Length.Seconds() >= settle {
		b.at, b.backlog, b.done = append(b.at, seconds), append(b.backlog, left), append(b.done, done)
	}
	s.Slope, s.Done = Slope(b.at, b.backlog), Slope(b.at, b.done)
	bound := b.Rate*backlogged + b.Slack
	switch {
	case left > 2*bound: // it will not come back within the step
		s.Why = fmt.Sprintf("the backlog came to %.0f %s", left, b.Unit)
	case lasted < b.Length:
		return s, false
	case left > bound:
		s.Why = fmt.Sprintf("at its end %.0f %s were due and not durable", left, b.Unit)
	case s.Slope > Grows*b.Rate+b.Slack/b.Length.Seconds():
		s.Why = fmt.Sprintf("the backlog grew by %.0f %s/s", s.Slope, b.Unit)
	default:
		s.Held, s.Why = true, fmt.Sprintf("the backlog stayed bounded: %.0f %s at its end", max(left, 0), b.Unit)
	}
	if math.IsNaN(s.Slope) { // over before it was judged; JSON knows no NaN
		s.Slope, s.Done = left/seconds, done/seconds
	}
	return s, true
}

// Slope is how fast a value grows per second, by least squares over its moments; NaN
// with fewer than three that are known.
func Slope(at, values []float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for i, x := range at {
		if y := values[i]; !math.IsNaN(y) {
			n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
		}
	}
	d := n*sxx - sx*sx
	if n < 3 || d <= 0 {
		return math.NaN()
	}
	return (n*sxy - sx*sy) / d
}
