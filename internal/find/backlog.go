package find

import (
	"fmt"
	"math"
	"time"
)

const (
	// settle is the fraction of a step, at its beginning, that is not judged.
	settle = 0.3
	// backlogged is the largest acceptable backlog, in seconds' worth of the rate.
	backlogged = 1.0
	// Grows is the largest growth that does not count as one, as a fraction of the
	// rate.
	Grows = 0.01
)

// Backlog judges a step by how much is due at its rate and not done. It is told about
// ten times a second how much has been done.
type Backlog struct {
	// Unit is what is counted, for use in sentences: "events".
	Unit   string
	Rate   float64
	Length time.Duration
	// Slack is how much is on its way at any rate.
	Slack float64

	at, backlog, done []float64 // since the step has settled
}

// Observe takes how much has been done after the step has lasted that long. It reports
// whether the step is over, and its result.
func (b *Backlog) Observe(lasted time.Duration, done float64) (s Tried, over bool) {
	seconds := lasted.Seconds()
	left := b.Rate*seconds - done
	s = Tried{Rate: b.Rate}
	if seconds/b.Length.Seconds() >= settle {
		b.at, b.backlog, b.done = append(b.at, seconds), append(b.backlog, left), append(b.done, done)
	}
	s.Slope, s.Done = Slope(b.at, b.backlog), Slope(b.at, b.done)
	bound := b.Rate*backlogged + b.Slack
	switch {
	case left > 2*bound: // it will not be worked off within the step
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
	if math.IsNaN(s.Slope) { // over before it was judged; JSON has no NaN
		s.Slope, s.Done = left/seconds, done/seconds
	}
	return s, true
}

// Slope returns how fast a value grows per second, by least squares; NaN if fewer than
// three values are known.
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
