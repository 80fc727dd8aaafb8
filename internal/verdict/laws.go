package verdict

import (
	"fmt"
	"math"

	"github.com/perfbench/perfbench/internal/units"
)

// laws looks for figures that cannot all be true.
func laws(r *Record) finding {
	if a := r.unbalanced(); a != nil {
		return finding{Invalid, fmt.Sprintf("the figures of %s%s break Little's law: they take %s workers, and %s were at work (calls per second, times how long one takes with the pause before it)", a.Track, a.Segment, workersAt(a.figures(), a.Seconds), workersAt(a.Worked, a.Seconds)),
			"; a clock runs wrong, or perfbench counts wrong: please report it"}
	}
	if c := r.missed(); c != nil {
		return finding{Degraded, fmt.Sprintf("the store counted fewer requests%s than this run made by its figures, %s instead of %s or more: calls are counted that never reached it", c.Segment, units.Number(float64(c.Asked)), units.Number(c.least())),
			"; look whether something between answers in its place, or please report it"}
	}
	return finding{}
}

// missed returns the first count of requests that is lower than it can be: of the whole run, or of
// a segment. Others may ask the store too, so it may have more. Nothing is known if calls failed,
// as when a store was started again and counts anew.
func (r *Record) missed() *Counted {
	for _, o := range r.Ops {
		if o.Errors > 0 {
			return nil
		}
	}
	for i := range r.Counted {
		if c := &r.Counted[i]; c.Seconds > 0 && float64(c.Asked) < c.least() {
			return c
		}
	}
	return nil
}

// least is how many requests the store must have counted.
func (c *Counted) least() float64 {
	return math.Floor(float64(c.Made) * max(1-lawShare-c.Uncounted/c.Seconds, 0))
}

// unbalanced returns the account whose sides are furthest apart, if they are too far.
func (r *Record) unbalanced() *Account {
	var worst *Account
	for i := range r.Accounts {
		a := &r.Accounts[i]
		if a.Worked < lawLeast || a.Seconds <= 0 || a.off()*a.Worked <= lawShare*a.Worked+lawFine*a.Calls {
			continue
		}
		if worst == nil || a.off() > worst.off() {
			worst = a
		}
	}
	return worst
}

// figures is the workers' time by the figures, in seconds.
func (a *Account) figures() float64 { return a.Calls + a.Pauses }

// off is how far the sides are apart, as a fraction of the time that was worked.
func (a *Account) off() float64 { return math.Abs(a.figures()-a.Worked) / a.Worked }

// workersAt is how many workers it takes to work for so long together within some seconds.
func workersAt(worked, seconds float64) string { return fmt.Sprintf("%.3g", worked/seconds) }
