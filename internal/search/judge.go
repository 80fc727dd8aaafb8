package search

import (
	"fmt"
	"math"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Condition is what must hold of a level.
type Condition struct {
	// Text is the condition as a user wrote it: "p99<10ms".
	Text string
	// Bound is how much may go against it: the part of all calls for a percentile, or the
	// most of a mean.
	Bound float64
	// Share says that readings are counts of calls, so that few of them tell little.
	Share bool
}

// Reading is what one second says of a condition: what went against it, of how much.
type Reading struct{ Against, Of float64 }

// Second is one second of a level.
type Second struct {
	// From and To are by the clock of the run, in nanoseconds.
	From, To int64
	// Due is how much fell due and Done how much was done; without a rate Due is 0.
	Due, Done float64
	// Lump is how many units fall due at once at the most: no fewer are missed.
	Lump float64
	// Readings are of each condition, in order.
	Readings []Reading
}

// behind is the part of what falls due that may be left undone: more, and the backlog
// grows.
const behind = 0.01

// lumps is how many calls may be on their way at the end of a step and were not at its
// beginning.
const lumps = 3

// sure is how many standard errors from its bound a reading counts, surer that with less
// than four seconds.
const (
	sure  = 2.0
	surer = 3.0
)

// Least is the lowest rate of calls at which conditions can be judged in the time that a
// step takes at most.
func Least(conditions []Condition) float64 {
	least := 0.0
	for _, c := range conditions {
		if c.Share && c.Bound > 0 {
			least = max(least, sure*sure/2/c.Bound/patientSeconds)
		}
	}
	return least
}

// outcome is what seconds say of a level.
type outcome int

const (
	unclear outcome = iota
	held
	failed
)

// judge says of the seconds of a level whether it is sustainable, and why.
func judge(conditions []Condition, list []Second) (outcome, Step) {
	s := summed(list)
	all := held
	for i, c := range conditions {
		e, n := estimate(c, list, i)
		s.Readings = append(s.Readings, e)
		margin := sure
		if len(list) < 4 {
			margin = surer
		}
		switch {
		case n == 0:
			s.Why, all = "nothing was measured", min(all, unclear)
		case e.Value-margin*e.SE > c.Bound:
			s.Why = c.Text + " did not hold"
			return failed, s
		case e.Value+margin*e.SE >= c.Bound:
			if all = unclear; s.Why == "" {
				s.Why = c.Text + " is not clear"
			}
		}
	}
	if why := short(list); why != "" {
		s.Why = why
		return failed, s
	}
	if all == held {
		s.Held, s.Why = true, "it held"
	}
	return all, s
}

// lean decides what the seconds leave unclear, by what speaks for more.
func lean(conditions []Condition, s Step) Step {
	s.Held, s.Doubtful = true, true
	s.Why = "it held"
	for i, c := range conditions {
		if e := s.Readings[i]; math.IsNaN(e.Value) || e.Value >= c.Bound {
			s.Held, s.Why = false, c.Text+" did not hold"
		}
	}
	return s
}

// summed is what the seconds came to in units.
func summed(list []Second) Step {
	if len(list) == 0 {
		return Step{}
	}
	s := Step{From: list[0].From, To: list[len(list)-1].To}
	due, done := 0.0, 0.0
	for _, x := range list {
		due, done = due+x.Due, done+x.Done
	}
	length := float64(s.To-s.From) / 1e9
	s.Done = done / length
	if due > 0 {
		s.Slope = (due - done) / length
	}
	return s
}

// estimate is what the seconds say of a condition, and of how many calls.
func estimate(c Condition, list []Second, i int) (Estimate, float64) {
	against, of := 0.0, 0.0
	for _, s := range list {
		against, of = against+s.Readings[i].Against, of+s.Readings[i].Of
	}
	if of == 0 {
		return Estimate{math.NaN(), math.NaN()}, 0
	}
	e := Estimate{Value: against / of}
	off, mean := make([]float64, len(list)), of/float64(len(list))
	for k, s := range list {
		off[k] = (s.Readings[i].Against - e.Value*s.Readings[i].Of) / mean
	}
	if se := stat.Successive(off).SE; !math.IsNaN(se) {
		e.SE = se
	}
	if c.Share { // as if one more call had gone against it
		p := (against + 1) / (of + 1)
		e.SE = max(e.SE, math.Sqrt(p*(1-p)/of))
	}
	return e, of
}

// short says why the seconds leave more and more undone; empty: they do not.
func short(list []Second) string {
	var missing []float64
	due, lump := 0.0, 0.0
	for _, s := range list {
		due, lump = due+s.Due, max(lump, s.Lump)
		missing = append(missing, s.Due-s.Done)
	}
	if due == 0 {
		return ""
	}
	mean := due / float64(len(list))
	e := stat.Successive(missing)
	if math.IsNaN(e.SE) || e.Value-sure*e.SE <= behind*mean || e.Value*float64(len(list)) <= lumps*lump {
		return ""
	}
	return fmt.Sprintf("the backlog grew: of 100 that fell due %.3g were done", 100*(1-e.Value/mean))
}
