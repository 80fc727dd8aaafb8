package verdict

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
)

// Record is what is known of a run when it is judged.
type Record struct {
	// Going means that the run has not ended: rules that need its end are skipped.
	Going bool
	// InProcess means that the store is part of the perfbench process, as embedded:,
	// memory: and null: are. What such a store uses of processors and heap cannot be
	// told from what the harness uses, so neither is held against the run; reports say
	// that these numbers do not describe a real server.
	InProcess bool
	// Early means that the run ended before measurement began.
	Early bool
	// Seconds is the length of the measured part.
	Seconds float64
	// Unit is what counts, entries; units if it is empty.
	Unit string
	Ops  []Op
	// Phases are those that were measured, in the order of the plan.
	Phases []Phase
	// Lost counts those that found no record where one had been acknowledged.
	Lost int64
	// Panics counts operations cut short by a bug in perfbench; PanicAt says where.
	Panics  int64
	PanicAt string
	// Segments are those that live changes made, if they made several: what the whole run
	// evens out or mixes is judged there.
	Segments []Segment
	// Limit is what held the run back for most of its time, if more threads do no more there; "" for anything
	// else. GrowthLimit is what did while the backlog grew.
	Limit, GrowthLimit string
	// Came is how calls came in open loop, track by track and segment by segment, those of all
	// workers together.
	Came []Came
	// Accounts are two accounts of the workers' time, track by track and segment by segment.
	Accounts []Account
	// Counted are the requests of the whole run and of its segments, where the store counts them.
	Counted []Counted
	// Verified is the outcome of the verification.
	Verified Verified
	// Broken are the faults that the run itself made, the earliest first, and Outages when nothing
	// was done although it was meant to be.
	Broken  []Broken
	Outages []Outage
	// Emptied is when the store answered only without records that it had acknowledged.
	Emptied []Outage
	// Restarts are servers of the store that were started again, in order.
	Restarts []Restart
	// Fault is what ended the run early; empty if nothing did.
	Fault string
	// Unsettled is the length of a warm-up that was to end once the run had settled but
	// reached its limit first; otherwise 0.
	Unsettled time.Duration
	Observed  *Observed
	// Workers are the processes that carried out the run together; none if there was
	// only one.
	Workers []Worker
	// Unlike says in one sentence in which way calls that were made again met something else than
	// when they were recorded; empty: in none.
	Unlike string
	// Undone is what none of them did that others built on, in one sentence; empty: nothing.
	Undone string
	// Coordinator is how many processors the process used that brought them together.
	Coordinator float64
	// Resumed records coordinators that died.
	Resumed []Resumed
}

// Verified is the outcome of a verification.
type Verified int

// Outcomes of a verification. Unasked is also used if there was nothing to verify.
const (
	Unasked Verified = iota
	Passed
	Failed
	Incomplete
	Hurried // a second interrupt left no time for it
)

// Phase is the result of one phase of the plan.
type Phase struct {
	Name    string
	Seconds float64
	// Calls are those of the phase's operations that count in the totals of the run.
	Calls int64
}

// Broken is a fault that a run made itself, named as in its timetable; times are in seconds of
// measurement.
type Broken struct {
	Name     string
	From, To float64
}

// Outage is a time in which nothing was done, in seconds of measurement.
type Outage struct {
	From float64 `json:"from_s"`
	To   float64 `json:"to_s"`
}

// Counted are the requests of some seconds: as many as the store counted, and as many as it must
// have got.
type Counted struct {
	// Segment is empty for the whole run, or tells which one it was.
	Segment     string
	Seconds     float64
	Asked, Made int64
	// Uncounted is for how many of the seconds it may not have been asked.
	Uncounted float64
}

// Segment is the time between two live changes.
type Segment struct {
	// From and To are in seconds since measurement began.
	From, To float64
	// Sought means that a search made it to find out what the store does not hold.
	Sought bool
	// Limit is that of a Record in this segment.
	Limit string
	Ops   []Op
}

// Came is how the calls of a track came in one segment of an open loop.
type Came struct {
	Track string
	// Segment is empty, or tells which one it was.
	Segment string
	// Span is the length of the spans in which calls were counted, in seconds. Moved is the
	// share of calls that began in another span than they fell due in, as far as others did
	// not take their place; Late is the part of it that is perfbench's own doing.
	Span, Moved, Late float64
	// Waited is how long half of the calls of each operation waited at least for a free thread, in seconds; 0
	// if that is not known.
	Waited float64
	// Limit is that of a Record in this segment.
	Limit string
	// Asked and Begun are the variance of the numbers over their mean, of the calls that were
	// due in a span and of those that began in it.
	Asked, Begun float64
}

// Account is how long the workers of a track were at work in one segment.
type Account struct {
	Track string
	// Segment is empty, or tells which one it was; Seconds is how long it was.
	Segment string
	Seconds float64
	// Worked is what the engine knows of it. Calls and Pauses are what the figures say: the
	// number of calls times their mean service time, and what was between them. All are sums
	// over the workers, in seconds.
	Worked, Calls, Pauses float64
}

// Op is the result of one operation.
type Op struct {
	Name string
	// Counts means that it counts in the totals of the run, Within that it is part of another, which
	// fails with it.
	Counts, Within bool
	// Over means that it has no more calls to come, as its phases are over.
	Over bool
	// Count and Unstarted are units; Calls are the calls that were timed, Errors those
	// that failed. TimedOut are those that are both, unknown in a segment.
	Count, Unstarted, Calls, Errors, TimedOut int64
	Response, Lateness                        measure.Summary
	// ServiceMean, ServiceP50 and ServiceP99 are in nanoseconds.
	ServiceMean            float64
	ServiceP50, ServiceP99 int64
}

// Observed is what was observed of this process and machine during measurement. What
// could not be observed is zero, or nil if zero would mean something.
type Observed struct {
	// Seconds is how long they were observed.
	Seconds float64 `json:"seconds"`
	// Cores is how many processors perfbench could use, taking the quota of its control
	// group into account; Quota is that quota, 0 if there is none.
	Cores float64 `json:"cores"`
	Quota float64 `json:"quota_cores,omitempty"`
	// CPU is how many processors perfbench used, Machine how many all processes of this
	// machine used, and Stolen the fraction of the time that a hypervisor withheld.
	CPU float64 `json:"cpu_cores"`
	// Polled is the part of CPU in which the client did not work, but looked for replies
	// before it slept.
	Polled  float64 `json:"busy_poll_cores,omitempty"`
	Machine float64 `json:"machine_cores,omitempty"`
	// Others is how many processors all other processes of this machine used than perfbench and those
	// of the store, second by second, and none where less was counted for the machine than for the two;
	// OthersMost is that in the busiest second; nil if no second is known.
	Others     *float64 `json:"others_cores,omitempty"`
	OthersMost *float64 `json:"others_cores_most,omitempty"`
	Stolen     float64  `json:"stolen,omitempty"`
	// Pressure is the fraction of the time in which a thread of any process of this
	// machine waited for a processor.
	Pressure float64 `json:"cpu_pressure,omitempty"`
	// Periods are those of the quota; the next two fields say in how many of them it
	// held perfbench back, and for how long.
	Periods    int64   `json:"quota_periods,omitempty"`
	Throttled  int64   `json:"throttled_periods,omitempty"`
	ThrottledS float64 `json:"throttled_s,omitempty"`
	// GCPauses is the fraction of the time in which the garbage collector stopped
	// everything, GCCPU how many processors it used that were not idle.
	GCPauses float64 `json:"gc_pauses,omitempty"`
	GCCPU    float64 `json:"gc_cpu_cores,omitempty"`
	// SchedP50 and SchedP99 are how long goroutines waited for a processor; WakeP50 and
	// WakeP90 are how late our timers fired; in nanoseconds.
	SchedP50 int64 `json:"sched_p50_ns,omitempty"`
	SchedP99 int64 `json:"sched_p99_ns,omitempty"`
	WakeP50  int64 `json:"wake_p50_ns,omitempty"`
	WakeP90  int64 `json:"wake_p90_ns,omitempty"`
	// MajorFaults is how often our memory had to be read from the disk.
	MajorFaults int64 `json:"major_faults,omitempty"`
	// The connection pool: its size, how often an operation waited for a connection,
	// and for how long in total.
	PoolSize   int   `json:"pool_size,omitempty"`
	PoolWaits  int64 `json:"pool_waits,omitempty"`
	PoolWaitNs int64 `json:"pool_wait_ns,omitempty"`
	// ClockCost is how long reading the clock takes, ClockTick its smallest step; in
	// nanoseconds.
	ClockCost int64 `json:"clock_cost_ns,omitempty"`
	ClockTick int64 `json:"clock_tick_ns,omitempty"`
	// Steps are changes of the wall clock other than the passing of time.
	Steps []Step `json:"clock_steps,omitempty"`
	// Suspensions are periods in which perfbench did not run at all.
	Suspensions []Suspension `json:"suspensions,omitempty"`
	// Pauses is how often perfbench did not run for a while, because it waited for a processor
	// or was stopped for too short a while to be a suspension, and PausedS for how long in all;
	// they are part of the run's time. PausesAt is when the first 1000 of them were.
	Pauses   int64   `json:"pauses,omitempty"`
	PausedS  float64 `json:"paused_s,omitempty"`
	PausesAt []Pause `json:"pauses_at,omitempty"`
	// Growth describes the backlog that grew most until the end of the run or of a segment, CaughtUp
	// the largest that was worked off before the end, GivenUp the largest of which something was not.
	Growth   *Growth `json:"backlog_growth,omitempty"`
	CaughtUp *Behind `json:"backlog_caught_up,omitempty"`
	GivenUp  *Behind `json:"backlog_given_up,omitempty"`
	// Ceilings are how many calls per second the harness alone makes here, phase by
	// phase.
	Ceilings []PhaseCeiling `json:"ceilings,omitempty"`
	// Processes are perfbench and, if it runs on this machine, the store; Store is what
	// the store's server reports about itself.
	Processes []Process `json:"processes,omitempty"`
	Store     *Used     `json:"store,omitempty"`
	// Noted is what took the store's servers a long time, as logged by the servers
	// themselves, in the order in which it was read; if there is much, only the
	// longest. NotedMore is how much more there was.
	Noted     []Noted `json:"noted,omitempty"`
	NotedMore int64   `json:"noted_more,omitempty"`
	// Restarts are servers of the store that were started again, in order.
	Restarts []Restart `json:"restarts,omitempty"`
}

// Worked returns how many processors perfbench used for work.
func (o *Observed) Worked() float64 { return o.CPU - o.Polled }

// PhaseCeiling is how many counted calls per second the harness alone makes in a phase.
type PhaseCeiling struct {
	Phase string  `json:"phase"`
	PerS  float64 `json:"per_s"`
}

// Step is one change of the wall clock relative to the monotonic one.
type Step struct {
	AtS float64 `json:"at_s"`
	// ByS is how far it was set forward or, if negative, back.
	ByS float64 `json:"by_s"`
}

// Suspension is a period in which this process did not run because it was stopped or its machine
// slept: no part of the run's time, which stands still at AtS.
type Suspension struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
	// Untimed is how many operations were in progress across it, which are counted but
	// not timed. It is 0 if the machine slept, because then the clock behind all times
	// stood still.
	Untimed int64 `json:"untimed,omitempty"`
}

// Pause is a period of the run's time in which this process did not run.
type Pause struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
}

// Suspended is for how many seconds perfbench was suspended, as far as is known.
func (o *Observed) Suspended() (sum float64) {
	if o == nil {
		return 0
	}
	for _, s := range o.Suspensions {
		sum += s.ForS
	}
	return sum
}

// idle returns for how many seconds of an outage perfbench did not run, and for how many more it was
// suspended in it; 0 where that is not known.
func (o *Observed) idle(in Outage) (paused, suspended float64) {
	if o == nil {
		return 0, 0
	}
	for _, p := range o.PausesAt {
		paused += max(min(p.AtS+p.ForS, in.To)-max(p.AtS, in.From), 0)
	}
	for _, s := range o.Suspensions {
		if in.From <= s.AtS && s.AtS <= in.To {
			suspended += s.ForS
		}
	}
	return paused, suspended
}

// Silent is for how many seconds of an outage the store did not answer, as far as is known: without what perfbench
// itself did not run for, and 0 where that was most of it.
func (o *Observed) Silent(in Outage) float64 {
	long := in.To - in.From
	if paused, _ := o.idle(in); !measure.Own(paused, long) {
		return long - paused
	}
	return 0
}

// Growth is a backlog that grew: its means in the middle and in the last third of a
// period that ends at ToS, which began with the run or with a live change. FromS is when
// its first third was over.
type Growth struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	// End is how many units were due and not begun at the end, Most how many were when there
	// were most, at MostS; all are 0 in runs of older versions.
	End   float64 `json:"end,omitempty"`
	Most  float64 `json:"most,omitempty"`
	MostS float64 `json:"most_s,omitempty"`
	// Rate is how many units fell due per second.
	Rate float64 `json:"rate_per_s"`
	// PausedS is for how long perfbench did not run from FromS to ToS, as in Observed.
	PausedS float64 `json:"paused_s,omitempty"`
	// Taken is who had the processors of this machine in that time; nil where that is not known.
	Taken *Taken `json:"processors,omitempty"`
	// CaughtUpS is when all that was due had been begun again, after ToS; 0: it never was.
	CaughtUpS float64 `json:"caught_up_s,omitempty"`
	// Units and Until are those of GivenUp, if it ended so.
	Units float64 `json:"given_up,omitempty"`
	Until string  `json:"until,omitempty"`
}

// Taken is how many processors of a machine perfbench and the store used, how many all others did,
// and how many threads of the first two waited for one, on average or added up over seconds.
type Taken struct {
	Used   float64 `json:"used"`
	Others float64 `json:"others"`
	Waited float64 `json:"waiting_threads"`
}

// Since returns the mean of what came on top of an earlier sum in so many seconds.
func (t Taken) Since(from Taken, seconds float64) *Taken {
	if t == (Taken{}) || seconds <= 0 {
		return nil
	}
	per := func(to, from float64) float64 { return max(to-from, 0) / seconds }
	return &Taken{Used: per(t.Used, from.Used), Others: per(t.Others, from.Others), Waited: per(t.Waited, from.Waited)}
}

// last is how many units were due and not begun at the end, as far as that is known.
func (g *Growth) last() float64 {
	if g.Most > 0 {
		return g.End
	}
	return g.To
}

// shrank reports whether the backlog was being worked off at the end.
func (g *Growth) shrank() bool { return g.Most > 0 && g.End < shrinks*g.Most }

// crowded reports whether other processes had the processors for which the run's threads waited while it
// grew, and enough of them to explain what was not done of the rate.
func (g *Growth) crowded(o *Observed) bool {
	if g == nil || g.Taken == nil || o == nil || o.Machine <= 0 { // of workers, only that of the coordinator is known
		return false
	}
	const between = 0.5 // of that time lies between the middles of the two thirds
	undone := (g.To - g.From) / (between * (g.ToS - g.FromS) * g.Rate)
	t := g.Taken
	theirs := t.Waited * t.Others / max(t.Others+t.Used, crowdLeast)
	return t.Others >= crowdLeast && theirs > 0 && theirs >= max(undone, crowdShare)*(t.Used+t.Waited)
}

// EndAt notes how its last second ended.
func (g *Growth) EndAt(w Waiting) {
	g.ToS, g.MostS = min(g.ToS, w.AtS), min(g.MostS, w.AtS)
	if w.gaveUp(g.Rate) {
		g.Units, g.Until = float64(w.GivenUp), w.Until
	}
}

// Worse reports whether it is to be told rather than another one, which may be nil: one that was
// never worked off, or else the larger one.
func (g *Growth) Worse(o *Growth) bool {
	if o == nil || (g.CaughtUpS > 0) != (o.CaughtUpS > 0) {
		return o == nil || o.CaughtUpS > 0
	}
	return g.last() > o.last()
}

// Behind is a time in which units were due and not begun, in seconds since measurement began, and
// how many at most. As a backlog is known of the end of each second, it begins with the first at
// whose end there was one, and is over at the end of the first without, or when it was given up.
type Behind struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	Most  float64 `json:"most"`
	// Units is how many were given up, and so never begun, Until the setting that was changed then,
	// empty if the work ended.
	Units float64 `json:"given_up,omitempty"`
	Until string  `json:"until,omitempty"`
}

// Waiting is what waited in one second of an open loop.
type Waiting struct {
	// Units is how many were due and not begun at its end, Rate how many fell due per second.
	Units int64
	Rate  float64
	// GivenUp is how many were given up in it, Until as in Behind.
	GivenUp int64
	Until   string
	// AtS is when that was, or else when the second ended.
	AtS float64
}

// behind reports whether more was due at its end than a run at its rate may have waiting.
func (w *Waiting) behind() bool { return float64(w.Units) > growTime*w.Rate }

// gaveUp reports the same of what was given up, which fell due at the given rate.
func (w *Waiting) gaveUp(rate float64) bool { return float64(w.GivenUp) > growTime*rate }

// A backlog grows if each third of the run has a larger one than the third before, and
// the last third is larger by a quarter and by what falls due in growTime. So much of it must
// be there in the last seconds, too: one that was worked off is none. And it must have risen for
// growSeconds since it was last less than that: a burst is none either. It is being worked off
// if less than shrinks of what it was at most is left. It was caught up with when there was none for
// caughtSeconds in a row, or until the settings changed or the run ended. One that was worked off is told if
// it was at most as much as falls due in toldTime, or if there was more and more of it for toldSeconds.
const (
	growBy      = 1.25
	growTime    = 0.05
	growSeconds = 3
	shrinks     = 0.5
	toldTime    = 1.0

	caughtSeconds = 3
	toldSeconds   = 5
)

// Grown looks for a backlog that grows until the end of a period, given one value per
// second, the number of units that fell due per second, and when the period began. It
// returns nil if there is none, or if the period is too short to tell.
func Grown(backlog []int64, rate, began float64) *Growth {
	n := len(backlog)
	if n < growSeconds || rate <= 0 {
		return nil
	}
	third := n / 3
	mean := func(part []int64) float64 {
		sum := 0.0
		for _, v := range part {
			sum += float64(v)
		}
		return sum / float64(len(part))
	}
	first, middle, last := mean(backlog[:third]), mean(backlog[third:n-third]), mean(backlog[n-third:])
	grew := func(to float64) bool { return to >= growBy*middle && to-middle >= growTime*rate }
	if middle < first || !grew(last) || !grew(float64(max(backlog[n-1], backlog[n-2]))) {
		return nil
	}
	since := n // it was last worked off
	for since > 0 && float64(backlog[since-1]) > growTime*rate {
		since--
	}
	g := &Growth{FromS: began + float64(third), ToS: began + float64(n), From: middle, To: last, Rate: rate, End: float64(backlog[n-1])}
	for i, v := range backlog[since:] {
		if float64(v) > g.Most {
			g.Most, g.MostS = float64(v), began+float64(since+i+1)
		}
	}
	if g.MostS-began-float64(since) < growSeconds {
		return nil
	}
	return g
}

// Worked looks for the largest backlog that was worked off and for the largest that was given up, given
// each second of a run from its beginning. Each is nil if none was worth telling.
func Worked(list []Waiting) (caughtUp, gaveUp *Behind) {
	for i := 0; i < len(list); i++ {
		rate, b := list[i].Rate, &Behind{FromS: float64(i)}
		if rate <= 0 || !list[i].behind() {
			continue
		}
		first, rose := i, 0 // for how many seconds
		for ; i < len(list) && !settled(list[i:]) && (i == first || !list[i].gaveUp(rate)); i++ {
			if n := float64(list[i].Units); n > b.Most {
				b.Most, rose = n, i-first
			}
		}
		if i == len(list) {
			break
		}
		worst, w := &caughtUp, &list[i]
		b.ToS = w.AtS
		if w.gaveUp(rate) {
			worst, b.Units, b.Until = &gaveUp, float64(w.GivenUp), w.Until
			b.Most = max(b.Most, b.Units)
			if w.behind() {
				i-- // at once again
			}
		}
		if (b.Most >= toldTime*rate || rose >= toldSeconds) && (*worst == nil || b.Most > (*worst).Most) {
			*worst = b
		}
	}
	return caughtUp, gaveUp
}

// CaughtUpAfter returns when, after a backlog had grown, no more was due than falls due in growTime,
// given what Worked is given; 0: never.
func CaughtUpAfter(list []Waiting, g *Growth) float64 {
	if g.Units > 0 {
		return 0
	}
	for i := int(g.ToS); i < len(list); i++ {
		switch w := &list[i]; {
		case w.gaveUp(g.Rate):
			return 0
		case w.Rate > 0 && settled(list[i:]):
			return w.AtS
		}
	}
	return 0
}

// settled reports whether a run was not behind its rate in the first of these seconds, nor soon after.
func settled(list []Waiting) bool {
	for i := range list[:min(len(list), caughtSeconds)] {
		w := &list[i]
		switch {
		case i > 0 && w.gaveUp(list[0].Rate):
			return false
		case w.Rate != list[0].Rate:
			return true
		case w.behind():
			return false
		}
	}
	return true
}
