package verdict

import (
	"fmt"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// Checked is what a rule looked at, whether or not it is a reason for doubt.
type Checked struct {
	Cause Cause
	// Name says in a few words what it was, Figure what was found.
	Name, Figure string
	// OK means that the rules as they are now have no reason for doubt there.
	OK bool
}

// Check lists what the rules looked at, in their order.
func Check(r Record) (out []Checked) {
	for _, rule := range rules {
		if rule.figure == nil || r.Going && rule.atEnd || r.InProcess && rule.server {
			continue
		}
		if figure := rule.figure(&r); figure != "" {
			out = append(out, Checked{rule.cause, rule.name, figure, rule.look(&r).state == ""})
		}
	}
	return out
}

// share is percent of what nobody reads to the last digit.
func share(v float64) string {
	if v > 0 && v < 0.001 {
		return "<0.1 %"
	}
	return percent(v)
}

func answered(r *Record) string {
	calls, failed := int64(0), int64(0)
	for _, o := range r.Ops {
		if !o.Within {
			calls, failed = calls+o.Calls-o.TimedOut, failed+o.Errors
		}
	}
	switch {
	case calls+failed == 0:
		return ""
	case failed == 0:
		return "all of " + units.Whole(calls)
	}
	return fmt.Sprintf("%s of %s failed", units.Whole(failed), units.Whole(calls+failed))
}

func balanced(r *Record) string {
	worst := -1.0
	for i := range r.Accounts {
		if a := &r.Accounts[i]; a.Worked >= lawLeast && a.Seconds > 0 {
			worst = max(worst, a.off())
		}
	}
	if worst < 0 {
		return ""
	}
	return "holds to " + share(worst)
}

// stoppedFor adds up what suspended judges: also pauses that no waiting for a processor explains.
func stoppedFor(r *Record) string {
	o := r.Observed
	if o == nil || o.Seconds <= 0 {
		return ""
	}
	sum := o.Suspended()
	if !o.starved() {
		sum += o.PausedS
	}
	if sum == 0 {
		return "never"
	}
	return "for " + length(sum)
}

func pausedFor(r *Record) string {
	switch o := r.Observed; {
	case o == nil || o.Seconds <= 0:
		return ""
	case o.starved():
		return fmt.Sprintf("for %s, in %s", length(o.PausedS), units.Plural(o.Pauses, "pause"))
	}
	return "never"
}

// paced reports whether calls were due at times of their own.
func (r *Record) paced() bool {
	for _, o := range r.Ops {
		if o.Lateness.Max > 0 {
			return true
		}
	}
	return len(r.Came) > 0
}

func latePart(r *Record) string {
	worst, text := -1.0, ""
	for _, o := range r.Ops {
		if late, all := o.Lateness.P99, o.Response.P99; r.paced() && all > 0 && measure.Enough(99, o.Response.Count) && float64(late)/float64(all) > worst {
			worst, text = float64(late)/float64(all), fmt.Sprintf("p99 %s, of responses %s", ns(late), ns(all))
		}
	}
	return text
}

func arrived(r *Record) string {
	if len(r.Came) == 0 {
		return ""
	}
	worst := 0.0
	for _, c := range r.Came {
		worst = max(worst, c.Late)
	}
	return "all but " + share(worst)
}

func backlogged(r *Record) string {
	switch o := r.Observed; {
	case !r.paced() || o == nil:
		return ""
	case o.Growth != nil && o.Growth.CaughtUpS == 0:
		return units.Number(o.Growth.last()) + " at the end"
	case o.GivenUp != nil:
		return "" // a remark tells it
	case o.Growth != nil, o.CaughtUp != nil:
		return "worked off"
	}
	return "none that lasted"
}

func neverSent(r *Record) string {
	if !r.paced() {
		return ""
	}
	never, done := unsent(r.Ops)
	return fmt.Sprintf("%s of %s", units.Whole(never), units.Whole(never+done))
}

func throttledIn(r *Record) string {
	if o := r.Observed; o != nil && o.Periods > 0 {
		return fmt.Sprintf("%s of %s periods", units.Whole(o.Throttled), units.Whole(o.Periods))
	}
	return ""
}

func cpuUsed(r *Record) string {
	if o := r.Observed; o != nil && o.Cores > 0 {
		return fmt.Sprintf("%s of %s", units.Digits(o.Worked(), 2), units.Digits(o.Cores, 2))
	}
	return ""
}

func stolenPart(r *Record) string {
	if o := r.Observed; o != nil && o.Machine > 0 {
		return share(o.Stolen)
	}
	return ""
}

func othersUsed(r *Record) string {
	others, ok := Others(r.Observed)
	if !ok {
		return ""
	}
	text := hundredths(others)
	if most := r.Observed.OthersMost; most != nil && *most >= others+crowdLeast {
		text += fmt.Sprintf(", %.2f at most", *most)
	}
	return text
}

func schedWait(r *Record) string {
	if o := r.Observed; o != nil && o.SchedP99 > 0 {
		return "p99 " + ns(o.SchedP99)
	}
	return ""
}

func gcPart(r *Record) string {
	if o := r.Observed; o != nil && o.Cores > 0 {
		return share(o.GCPauses)
	}
	return ""
}

func faults(r *Record) string {
	if o := r.Observed; o != nil && o.Seconds > 0 {
		return units.Plural(o.MajorFaults, "time")
	}
	return ""
}

func poolWaits(r *Record) string {
	if o := r.Observed; o != nil && o.PoolSize > 0 {
		return fmt.Sprintf("%s, %s in all", units.Whole(o.PoolWaits), ns(o.PoolWaitNs))
	}
	return ""
}

func ceilingPart(r *Record) string {
	reached, of := r.reached()
	if reached == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s/s", share(reached), units.Number(of.PerS))
}

func clockCost(r *Record) string {
	if o := r.Observed; o != nil && o.ClockCost > 0 {
		return ns(o.ClockCost)
	}
	return ""
}

func sampled(r *Record) string {
	least := int64(-1)
	most := r.most()
	for _, o := range r.Ops {
		if calls := most[o.Name]; r.over(&o) && (least < 0 || calls < least) {
			least = calls
		}
	}
	if least < 0 {
		return ""
	}
	return fmt.Sprintf("%s, needs %s", units.Whole(least), units.Whole(measure.Needs(99)))
}
