package find

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/compare/stat"
)

// Condition is what must hold at a level.
type Condition struct {
	// Text is the condition as a user wrote it: "p99<10ms".
	Text string
	// Bound is how much may violate it: a fraction of all calls for a percentile, or
	// the greatest mean.
	Bound float64
	// Share means that readings are counts of calls, so that a small number of them is
	// inconclusive.
	Share bool
	// Violated says what calls did that count against a share: "took longer" or "failed".
	Violated string
	// Least is how many calls a step needs to hold beyond doubt, because its percentile is
	// not shown with fewer; 0: any number.
	Least float64
}

// Reading is what one second contributes to a condition: how much violates it, out of
// how much.
type Reading struct{ Against, Of float64 }

// Second is one second of a level.
type Second struct {
	// From and To are by the run's clock, in nanoseconds.
	From, To int64
	// Due is how many units fell due and Done how many were done; without a rate Due is
	// 0.
	Due, Done float64
	// Lump is the largest number of units that fall due at once: a smaller shortfall is
	// ignored.
	Lump float64
	// Good is how many answers were in time, of Ended; both are 0 unless recovery is sought.
	Good, Ended float64
	// Readings has one for each condition, in order.
	Readings []Reading
}

// behind is the fraction of what falls due that may be left undone before the backlog
// counts as growing.
const behind = 0.01

// undone is the fraction of what falls due that no level which holds leaves undone, however much its
// seconds vary.
const undone = 0.05

// fewCalls is up to how many calls those that violated a condition are counted rather than told
// in per cent.
const fewCalls = 1000

// backlogGrew is why a level did not hold at which more and more was left undone.
const backlogGrew = "the backlog grew"

// How a condition that did not hold is told, before the evidence.
const (
	didNot   = " did not hold"
	notClear = " is unclear"
	inDoubt  = " is in doubt" // as earlier versions wrote it
)

// judgements are all of them.
var judgements = []string{didNot, notClear, inDoubt}

// lumps is how many more calls may be on their way at the end of a step than at its
// beginning.
const lumps = 3

// sure is how many standard errors from its bound a reading must be to count; surer
// applies with less than four seconds.
const (
	sure  = 2.0
	surer = 3.0
)

// Least returns the lowest rate of calls at which conditions can be judged within the
// longest possible step.
func Least(conditions []Condition) float64 {
	least := 0.0
	for _, c := range conditions {
		if c.Share && c.Bound > 0 {
			least = max(least, sure*sure/2/c.Bound/patientSeconds)
		}
	}
	return least
}

// outcome is what the seconds say about a level.
type outcome int

const (
	unclear outcome = iota
	held
	failed
)

// judge decides from the seconds of a level whether it is sustainable, and why.
func judge(conditions []Condition, list []Second) (outcome, Tried) {
	s := summed(list)
	all := held
	for i, c := range conditions {
		was, e, why := c.judge(list, i)
		s.Readings = append(s.Readings, e)
		switch was {
		case failed:
			s.Why = why
			return failed, s
		case unclear:
			if all = unclear; s.Why == "" {
				s.Why = why
			}
		}
	}
	switch why, certain := short(list); {
	case certain:
		s.Why = why
		return failed, s
	case why != "":
		if all = unclear; s.Why == "" {
			s.Why = why
		}
	}
	if all == held {
		s.Held, s.Why = true, "it held"
	}
	return all, s
}

// judge decides from the seconds of a level whether a condition holds, and why not.
func (c Condition) judge(list []Second, i int) (outcome, Estimate, string) {
	e, n := estimate(c, list, i)
	margin := sure
	if len(list) < 4 {
		margin = surer
	}
	switch {
	case n == 0:
		return unclear, e, "nothing was measured"
	case e.Value-margin*e.SE > c.Bound:
		return failed, e, c.Text + didNot + c.evidence(list, i)
	case e.Value+margin*e.SE >= c.Bound:
		return unclear, e, c.Text + " is not clear"
	case n < c.Least:
		return unclear, e, c.Text + " is not clear from so few calls"
	}
	return held, e, ""
}

// stillOpen is what leaves a level unclear: the evidence of the first condition of which the seconds do not tell whether
// it holds, or that not all was done.
func stillOpen(conditions []Condition, list []Second) string {
	for i, c := range conditions {
		if was, _, _ := c.judge(list, i); was == unclear {
			return strings.TrimPrefix(c.evidence(list, i)+c.unsure(list, i), ": ")
		}
	}
	why, _ := short(list)
	return why
}

// lean decides what the seconds leave open, by the weight of the evidence.
func lean(conditions []Condition, s Tried, list []Second) Tried {
	s.Held, s.Doubtful = true, true
	s.Why = "it held"
	for i, c := range conditions {
		if e := s.Readings[i]; math.IsNaN(e.Value) || e.Value >= c.Bound {
			s.Held, s.Why = false, c.Text+notClear+c.evidence(list, i)+c.unsure(list, i)
		}
	}
	if why, _ := short(list); why != "" && s.Held {
		s.Held, s.Why = false, why
	}
	return s
}

// evidence says after a colon how many calls violated a share; empty for any other condition.
func (c Condition) evidence(list []Second, i int) string {
	against, of := counted(list, i)
	switch {
	case !c.Share || c.Violated == "":
		return ""
	case of == 0:
		return ": no call ended"
	case of < fewCalls:
		return fmt.Sprintf(": %.0f of %.0f %s", against, of, c.Violated)
	}
	return fmt.Sprintf(": %.3g %% %s", 100*against/of, c.Violated)
}

// unsure says why a share leaves a doubt on which side of its bound it is; empty if that is because of few calls,
// which evidence counts.
func (c Condition) unsure(list []Second, i int) string {
	against, of := counted(list, i)
	if !c.Share || c.Violated == "" || of < fewCalls {
		return ""
	}
	if p := against / of; math.Abs(p-c.Bound) > sure*math.Sqrt(p*(1-p)/of) {
		return ", seconds vary"
	}
	return fmt.Sprintf(", close to %.3g %%", 100*c.Bound)
}

// summed returns the totals of the seconds in units.
func summed(list []Second) Tried {
	if len(list) == 0 {
		return Tried{}
	}
	s := Tried{From: list[0].From, To: list[len(list)-1].To}
	due, done, lump := 0.0, 0.0, 0.0
	for _, x := range list {
		due, done, lump = due+x.Due, done+x.Done, max(lump, x.Lump)
	}
	length := float64(s.To-s.From) / 1e9
	s.Done = done / length
	if due > 0 {
		s.Slope = (due - done) / length
		if due-done > growth(due, lump) {
			s.Behind = s.Slope
		}
	}
	return s
}

// estimate returns what the seconds say about a condition, and from how many calls.
func estimate(c Condition, list []Second, i int) (Estimate, float64) {
	against, of := counted(list, i)
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
	if c.Share { // as if one more call had violated it
		p := (against + 1) / (of + 1)
		e.SE = max(e.SE, math.Sqrt(p*(1-p)/of))
	}
	return e, of
}

// counted returns the sums of the readings of a condition.
func counted(list []Second, i int) (against, of float64) {
	for _, s := range list {
		against, of = against+s.Readings[i].Against, of+s.Readings[i].Of
	}
	return against, of
}

// short says why the seconds leave more and more undone, and whether that is certain; empty if they
// do not.
func short(list []Second) (why string, certain bool) {
	var missing []float64
	due, lump := 0.0, 0.0
	for _, s := range list {
		due, lump = due+s.Due, max(lump, s.Lump)
		missing = append(missing, s.Due-s.Done)
	}
	if due == 0 {
		return "", false
	}
	mean := due / float64(len(list))
	e := stat.Successive(missing)
	if e.Value*float64(len(list)) <= lumps*lump {
		return "", false
	}
	certain = !math.IsNaN(e.SE) && e.Value-sure*e.SE > behind*mean
	if !certain && !(e.Value > undone*mean) && !throughout(missing, mean, lump) {
		return "", false
	}
	return fmt.Sprintf(backlogGrew+": %.3g %% of what was due was done", 100*(1-e.Value/mean)), certain
}

// throughout reports whether the backlog grew all the time, and not in one second alone: without the second that left
// most undone, the others still did so by more than a backlog may grow and than chance has calls arrive.
func throughout(missing []float64, mean, lump float64) bool {
	rest, worst := 0.0, math.Inf(-1)
	for _, m := range missing {
		rest, worst = rest+m, max(worst, m)
	}
	due := mean * float64(len(missing)-1)
	return rest-worst > growth(due, lump)
}

// growth is how much of what is due a backlog may grow by, with what chance has calls arrive.
func growth(due, lump float64) float64 { return behind*due + sure*math.Sqrt(lump*due) }
