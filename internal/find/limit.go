package find

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// own are the causes in a verdict which mean that perfbench was measured rather than
// the store.
var own = []verdict.Cause{
	verdict.Panic, verdict.Suspended, verdict.Pauses, verdict.Lateness, verdict.Throttled, verdict.CPU, verdict.Stolen, verdict.Crowded, verdict.Scheduler, verdict.GC, verdict.Memory,
	verdict.Pool, verdict.Ceiling, verdict.Clock,
}

// machine are those of own in which the machine kept its processors from perfbench.
var machine = []verdict.Cause{verdict.Throttled, verdict.Stolen, verdict.Crowded}

// Machine returns the cause for which the machine, and not perfbench, is to blame where perfbench was
// measured: one that explains all others; "" if there is none.
func (l Limit) Machine() verdict.Cause {
	told := verdict.Told("", l.Causes, nil)
	if l.By != ByPerfbench || len(told) == 0 || slices.ContainsFunc(told, func(d verdict.Doubt) bool { return !slices.Contains(machine, d.Cause) }) {
		return ""
	}
	return told[0].Cause
}

// Measured names what was measured instead of the store: "perfbench itself", or "this machine (crowded by
// other programs)".
func (l Limit) Measured() string {
	if c := l.Machine(); c != "" {
		return "this machine (" + c.Words() + ")"
	}
	return "perfbench itself"
}

// full is the fraction of a machine's processors above which none counts as free.
const full = 0.92

// suspect says what limits the step that has just ended, assuming that it did not hold:
// perfbench, by the same rules as in any run's verdict; then too few threads; then a
// machine shared by all; and otherwise the store.
func (f *Finder) suspect(s Step, sum *stepSum) Limit {
	o := between(sum.before, sum.after)
	rec := verdict.Record{
		Going: true, InProcess: f.inProcess, Seconds: float64(sum.seconds), Observed: o, Unit: f.plan.Unit,
		Ops: []verdict.Op{{
			Name: f.plan.Covered(), Counts: true, Count: sum.count, Calls: sum.response.TotalCount(), Errors: sum.errors,
			Response: measure.Summarize(sum.response), Lateness: measure.Summarize(sum.lateness),
			ServiceMean: sum.service.Mean(), ServiceP50: measure.Percentile(sum.service, 50), ServiceP99: measure.Percentile(sum.service, 99),
		}},
	}
	if o != nil && len(f.plan.Phases) == 1 {
		rec.Phases = []verdict.Phase{{Name: f.plan.Phases[0].Name, Seconds: float64(sum.seconds), Calls: sum.response.TotalCount()}}
	}
	l := Limit{By: ByStore}
	carries, remark := f.carries(sum), ""
	if o != nil && (carries || f.queued(sum)) { // what p99 has above the service time is a queue, and says nothing of others
		o.Growth = &verdict.Growth{}
	}
	var ours []verdict.Reason
	judged := verdict.Judge(rec)
	for _, reason := range judged.Reasons {
		switch {
		case !slices.Contains(own, reason.Cause), shown(judged.Doubts, reason.Cause): // its cause is told
		case reason.Cause == verdict.Lateness && f.inStore(): // no condition has it
		case carries && disturbs(reason.Cause):
			if remark == "" {
				remark = "; besides, " + cmp.Or(reason.What, reason.Text)
			}
		default:
			ours, l.Causes = append(ours, reason), append(l.Causes, string(reason.Cause))
		}
	}
	switch {
	case len(ours) > 0:
		l.By = ByPerfbench
		if l.Machine() != "" { // which is all there is, and the advice is that of the answer
			l.Text = "the machine and not the store: " + cmp.Or(ours[0].What, ours[0].Text)
			break
		}
		at := slices.IndexFunc(ours, func(r verdict.Reason) bool { return !slices.Contains(machine, r.Cause) })
		l.Text = "perfbench and not the store: " + ours[max(at, 0)].Text
	case o != nil && o.Cores > 0 && o.Machine-o.Polled >= full*o.Cores: // more threads would do no more
		l.By = ByMachine
		l.Text = fmt.Sprintf("the processors of this machine, all busy: perfbench used %.2g of %.3g, everything else %.2g", o.Worked(), o.Cores, max(o.Machine-o.CPU, 0))
	case f.options.Over.Name == OverRate && f.bench.tooFew() && !f.inVain:
		l.By = ByThreads
		l.Text = fmt.Sprintf("threads: all %d were busy, and calls took no longer than at a lower rate; try --threads %d", sum.threads, f.wanted(s, sum))
		if f.bench.quick == 0 { // nothing is known of a lower rate
			l.Text = fmt.Sprintf("unknown: all %s were busy, but no lower rate held to compare with", units.Plural(sum.threads, "thread"))
		}
	default:
		l.Text = "the store: " + f.slower(s) + remark
		if !f.inVain && f.options.Over.Name == OverRate && f.bench.waited() {
			l.Text = fmt.Sprintf("the store or the number of threads: %s, and all %d were busy%s", f.slower(s), sum.threads, remark)
		}
	}
	return l
}

// shown reports whether a cause is what another one of the verdict, which points to perfbench as well, shows in.
func shown(told []verdict.Doubt, c verdict.Cause) bool {
	return slices.ContainsFunc(told, func(d verdict.Doubt) bool {
		return slices.Contains(own, d.Cause) && slices.ContainsFunc(d.Shows, func(s verdict.Doubt) bool { return s.Cause == c })
	})
}

// oursInARow is at how many levels in a row perfbench may be held up, with little to do, before a
// search for a lower one is no use: HeldUp says it.
const oursInARow = 3

// mostWaits is how often a search in which nothing has held waits, after as many levels in a row that say nothing of the
// store, for what kept it from that to pass, and tries the same level again.
const mostWaits = 3

// nearly is the fraction of a level that was done where perfbench kept up with it.
const nearly = 0.95

// idle reports whether perfbench did what was due in the step that has just ended, with at least
// three quarters of its processors to spare, so that what held it up was not the level.
func (f *Finder) idle(s Step) bool {
	o := between(f.bench.step.before, f.bench.step.after)
	return f.options.Over.Name == OverRate && s.Done >= nearly*s.Level && o != nil && o.Cores > 0 && o.Worked() < o.Cores/4
}

// carries reports whether the store's own service time carries what a step waited for:
// half of all calls took far longer in it than when it has little to do, or too long for a
// condition by themselves. What holds perfbench up now and then does not slow that many.
func (f *Finder) carries(sum *stepSum) bool {
	return f.bench.quick > 0 && float64(measure.Percentile(sum.service, 50)) > busier*f.bench.quick || f.alone(sum) != ""
}

// queued reports whether calls waited for one of too few threads, rather than for perfbench to begin them.
func (f *Finder) queued(sum *stepSum) bool {
	wait := measure.Percentile(sum.response, 99) - measure.Percentile(sum.service, 99)
	return f.bench.tooFew() && measure.Percentile(sum.lateness, 99) < wait/2
}

// inStore reports whether all that must hold is about the time of calls in the store, which no
// late start of theirs is part of.
func (f *Finder) inStore() bool {
	for _, e := range f.options.Under {
		if e.Time != "service" {
			return false
		}
	}
	return len(f.options.Under) > 0
}

// disturbs reports whether a cause takes perfbench moments now and then, and leaves it what
// it needs to do its work otherwise.
func disturbs(c verdict.Cause) bool {
	switch c {
	case verdict.Stolen, verdict.Suspended, verdict.Pauses, verdict.Lateness, verdict.Clock, verdict.Memory:
		return true
	}
	return false
}

// alone returns a condition that service times alone break by far: no pause of perfbench
// slows more than half of all calls. It is empty without one.
func (f *Finder) alone(sum *stepSum) string {
	for i, c := range f.options.conditions() {
		share := 0.5
		if c.Share {
			share = max(share, c.Bound)
		}
		if r := sum.slow; i < len(r) && r[i].Of > 0 && r[i].Against > share*r[i].Of {
			return c.Text
		}
	}
	return ""
}

// wanted returns how many threads would have room for a level: twice as many as there were, and
// more if the calls of the level are under way for longer than that many threads have.
func (f *Finder) wanted(s Step, sum *stepSum) int {
	n := 2 * sum.threads
	if calls := sum.service.TotalCount(); calls > 0 && sum.count > 0 {
		perUnit := float64(calls) / float64(sum.count)
		n = max(n, int(math.Ceil(1.2*s.Level*perUnit*sum.service.Mean()/1e9)))
	}
	return min(n, workload.MaxThreads)
}

// slower says how much longer calls take in the store than at the lowest level.
func (f *Finder) slower(s Step) string {
	now := time.Duration(s.Service.P50)
	if f.bench.quick <= 0 || now <= 0 {
		return s.Why
	}
	first := time.Duration(f.bench.quick)
	if float64(now) < 1.2*f.bench.quick {
		return fmt.Sprintf("only its slowest calls take longer, %s is still %s", f.half(), units.Duration(now))
	}
	return fmt.Sprintf("%s there is %s, %.3g times that of low load", f.half(), units.Duration(now), float64(now)/float64(first))
}

// half names the p50 of the service time, as tables do, and the calls that it is of.
func (f *Finder) half() string {
	if what := f.plan.Covered(); what != measure.AllCalls {
		return "service p50 of " + what
	}
	return "service p50"
}

// between returns what was observed between two observations; nil without both.
func between(a, b *verdict.Observed) *verdict.Observed {
	if b == nil {
		return nil
	}
	o := *b
	o.Growth, o.Steps, o.Suspensions, o.PausesAt = nil, nil, nil, nil
	if a == nil || b.Seconds-a.Seconds <= 0 {
		return &o
	}
	o.Seconds = b.Seconds - a.Seconds
	mean := func(x, y float64) float64 { return max((y*b.Seconds-x*a.Seconds)/o.Seconds, 0) }
	o.CPU, o.Machine, o.Stolen = mean(a.CPU, b.CPU), mean(a.Machine, b.Machine), mean(a.Stolen, b.Stolen)
	o.Polled = mean(a.Polled, b.Polled)
	o.Pressure, o.Processes = mean(a.Pressure, b.Pressure), processes(a.Processes, b.Processes, mean)
	o.Pauses, o.PausedS = b.Pauses-a.Pauses, b.PausedS-a.PausedS
	o.GCPauses, o.GCCPU = mean(a.GCPauses, b.GCPauses), mean(a.GCCPU, b.GCCPU)
	o.Periods, o.Throttled, o.ThrottledS = b.Periods-a.Periods, b.Throttled-a.Throttled, b.ThrottledS-a.ThrottledS
	o.MajorFaults, o.PoolWaits, o.PoolWaitNs = b.MajorFaults-a.MajorFaults, b.PoolWaits-a.PoolWaits, b.PoolWaitNs-a.PoolWaitNs
	return &o
}

// processes returns what processes did between two observations.
func processes(a, b []verdict.Process, mean func(x, y float64) float64) []verdict.Process {
	out := slices.Clone(b)
	of := func(x, y *float64) *float64 {
		if x == nil || y == nil {
			return y
		}
		return new(mean(*x, *y))
	}
	for i := range out {
		if p := &out[i]; i < len(a) && a[i].Role == p.Role && a[i].PID == p.PID {
			p.CPU, p.Queue = of(a[i].CPU, p.CPU), of(a[i].Queue, p.Queue)
		}
	}
	return out
}
