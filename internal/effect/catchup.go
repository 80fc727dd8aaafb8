package effect

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// A store stands still while less than stoodShare of what it did before is done, and more and more is due. Of the
// second in which that began, less than partShare is. What it has held up is done again once no more is due than
// smallShare of what is done in a second.
const stoodShare, partShare, smallShare = 0.1, 0.9, 0.05

// catchUps finds the seconds after a stop, or after a fault, in which what it had held up was done, up to
// the one in which little of that was left. They are faster than the load asks for, and say what has waited.
// The seconds in which a stop began and ended are none of the load either.
func (c *Course) catchUps() {
	var stopped time.Duration
	before, behind, still := int64(0), false, false
	faults := slices.DeleteFunc(slices.Clone(c.Changes), func(x measure.Change) bool {
		_, ok := workload.FaultSetting(x.Name)
		return !ok
	})
	usual := [2]float64{} // the last second that was as asked, and the one before it
	for i := range c.Seconds {
		x := &c.Seconds[i]
		switch {
		case faulty(faults, x.end()):
			stopped, behind, still = x.At, true, true
		case x.Backlog > before && x.Count < stoodShare*usual[0]:
			if !still && i > 0 && usual[0] < partShare*usual[1] {
				c.Seconds[i-1].stood, usual[0] = true, usual[1]
			}
			stopped, behind, still, x.stood = x.At, true, true, true
		case behind && float64(before) > smallShare*x.Count && (still || x.Backlog < before):
			x.catches, x.stopped = true, stopped
			behind, still = float64(x.Backlog) > smallShare*x.Count, false
		default:
			behind, still = false, false
			usual = [2]float64{x.Count, usual[0]}
		}
		before = x.Backlog
	}
}

// idle marks the seconds in which nothing was done in one of these times.
func (c *Course) idle(undone []measure.Silence) {
	for i := range c.Seconds {
		x := &c.Seconds[i]
		x.idle = x.Count == 0 && slices.ContainsFunc(undone, func(q measure.Silence) bool { return q.From < x.end() && q.To > x.At })
	}
}

// outages marks the seconds in which nothing was done although the load was there, and the ones in which that
// began and ended.
func (c *Course) outages() {
	for i, x := range c.Seconds {
		if x.idle && !c.paused(x.At, x.end()) {
			for k := max(i-1, 0); k < min(i+2, len(c.Seconds)); k++ {
				c.Seconds[k].out = true
			}
		}
	}
}

// own reports whether nothing was done in some seconds because perfbench itself did not run.
func (c *Course) own(list []Second) bool {
	paused, long := time.Duration(0), time.Duration(0)
	for _, x := range list {
		if x.Count == 0 {
			paused += measure.Silence{From: x.At, To: x.end()}.Paused(c.Pauses)
			long += x.end() - x.At
		}
	}
	return measure.Own(paused, long)
}

// untilOutage returns the seconds after a change in which nothing else happened to the store. An outage that begins
// at once may be what the change did.
func untilOutage(after []Second) []Second {
	if i := slices.IndexFunc(after, func(x Second) bool { return x.out }); i >= fewest {
		return after[:i]
	}
	return after
}

// faulty reports whether a fault that the run makes itself was in force at a moment.
func faulty(faults []measure.Change, at time.Duration) bool {
	under := map[string]bool{}
	for _, x := range faults {
		if x.At < at {
			under[x.Name] = x.To != 0
		}
	}
	for _, on := range under {
		if on {
			return true
		}
	}
	return false
}

// CatchesUp reports whether what a stop had held up was done at some time between two moments: that is no
// rate of the load.
func (c *Course) CatchesUp(from, to time.Duration) bool {
	return c != nil && slices.ContainsFunc(c.Seconds, func(x Second) bool { return x.catches && x.At < to && x.At+time.Second > from })
}
