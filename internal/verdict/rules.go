package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
)

// Limits beyond which a rule applies. docs/verdict.md lists them with the reasons.
const (
	lateShare      = 0.10  // of a response percentile may be our own lateness
	lateMost       = 0.50  // of one, in a store outside this process, however short it is
	movedShare     = 0.10  // of the iterations may begin in another span than they fell due in
	lostShare      = 0.01  // of the time may be lost to pauses
	lostMost       = 0.5   // seconds of it
	waitedShare    = 0.5   // of the pauses that waiting for a processor must be as long as to explain them
	crowdShare     = 0.10  // by which a figure may shift because others had the processors
	crowdLeast     = 0.1   // processors that others must use
	crowdTime      = 0.05  // seconds of them: the system counts them in hundredths
	crowdTail      = 0.01  // of the time, waited for others: enough to decide p99
	crowdExcess    = 0.50  // of a response p99 in open loop that is not service time
	errorShare     = 0.001 // of calls may fail, or of the time be an outage: what p99.9 leaves out
	errorMost      = 0.50  // of calls: more says nothing about the store's work
	errorLeast     = 10    // calls of a segment: fewer decide no percentile that is shown
	unstartedShare = 0.001 // of units that fell due
	unstartedLeast = 10
	lawShare       = 0.05  // by which a law may be missed
	lawLeast       = 0.1   // seconds of workers' time, less of which shows nothing
	lawFine        = 0.002 // of the calls' time: histograms are no finer
	cpuShare       = 0.85  // of the processors available to us
	throttledShare = 0.01  // of the quota's periods, or of the time
	stolenShare    = 0.02  // of the time
	stolenLeast    = 0.05  // seconds of each processor: the system counts them in hundredths
	schedShare     = 0.20  // of a response percentile may be waiting for a processor
	schedLeast     = 50 * time.Microsecond
	wakeLate       = 5 * time.Millisecond // of a timer, one time in ten
	gcPauses       = 0.01                 // of the time
	gcCPU          = 0.15                 // of the processors available to us
	faultsLeast    = 50
	faultsRate     = 10.0 // per second
	poolShare      = 0.01 // of the time of all operations
	ceilingShare   = 0.80 // of what the harness alone achieves
	clockShare     = 0.10 // of the median service time
	clockLeast     = 500  // ns of one reading: a clock that takes a system call
)

// finding is what a rule found: what was noticed, and what to do about it, which follows in the
// same sentence. It has no state if there is nothing.
type finding struct{ state, what, cure string }

// rule detects one problem.
type rule struct {
	cause Cause
	// atEnd rules wait for the end of the run; server rules need a store outside this
	// process.
	atEnd, server bool
	look          func(*Record) finding
	// name says in a few words what it looks at, figure what it found there, also where that is no reason;
	// "" where there was nothing to look at. Rules without a figure have no name.
	name   string
	figure func(*Record) string
}

// rules in the order in which reasons are listed: what voids the run comes first.
var rules = []rule{
	{cause: Verification, atEnd: true, look: verification},
	{cause: Panic, look: panics},
	{cause: Errors, look: errors, name: "answered calls", figure: answered},
	{cause: Unfinished, atEnd: true, look: unfinished},
	{cause: Unmeasured, atEnd: true, look: unmeasured},
	{cause: Laws, atEnd: true, look: laws, name: "Little's law", figure: balanced},
	{cause: Workers, look: workers},
	{cause: Skew, look: skew},
	{cause: Suspended, look: suspended, name: "suspended", figure: stoppedFor},
	{cause: Pauses, look: pauses, name: "had no processor", figure: pausedFor},
	{cause: Lateness, look: lateness, name: "lateness", figure: latePart},
	{cause: Arrivals, look: arrivals, name: "arrivals as asked", figure: arrived},
	{cause: Replay, atEnd: true, look: replayed},
	{cause: Backlog, look: backlog, name: "backlog", figure: backlogged},
	{cause: Unstarted, atEnd: true, look: unstarted, name: neverSentWord, figure: neverSent},
	{cause: Throttled, look: throttled, name: "CPU quota", figure: throttledIn},
	{cause: CPU, server: true, look: cpu, name: "own processors", figure: cpuUsed},
	{cause: Stolen, look: stolen, name: "hypervisor took", figure: stolenPart},
	{cause: Crowded, look: crowded, name: "other processes", figure: othersUsed},
	{cause: Scheduler, server: true, look: scheduler, name: "scheduling wait", figure: schedWait},
	{cause: GC, server: true, look: gc, name: "GC pauses", figure: gcPart},
	{cause: Memory, look: memory, name: "swapped in", figure: faults},
	{cause: Pool, look: pool, name: "connection waits", figure: poolWaits},
	{cause: Ceiling, server: true, look: ceiling, name: "own ceiling", figure: ceilingPart},
	{cause: Clock, look: clock, name: "reading the clock", figure: clockCost},
	{cause: Samples, look: samples, name: "calls for p99", figure: sampled},
	{cause: Warmup, look: warmup},
}

// shown are the percentiles that summaries and screens show, each with the lateness up to
// which it counts as prompt. Below that, lateness of most of a figure is a reason, but a
// remark where a few moments decide the percentile: a system that stops every program for a
// few milliseconds, twice a second, decides p99.9, and nobody has one that does not.
var shown = []struct {
	name    string
	p       float64
	prompt  time.Duration
	moments bool
	of      func(measure.Summary) int64
}{
	{"p50", 50, 50 * time.Microsecond, false, func(s measure.Summary) int64 { return s.P50 }},
	{"p90", 90, 200 * time.Microsecond, false, func(s measure.Summary) int64 { return s.P90 }},
	{"p99", 99, time.Millisecond, false, func(s measure.Summary) int64 { return s.P99 }},
	{"p99.9", 99.9, 5 * time.Millisecond, true, func(s measure.Summary) int64 { return s.P999 }},
}

func verification(r *Record) finding {
	switch r.Verified {
	case Failed:
		return finding{state: Invalid, what: "the verification failed, so these figures are of a store that lost or invented data"}
	case Incomplete:
		return finding{Degraded, "what is stored was not verified", ": check the store and run again"}
	case Hurried:
		return finding{Degraded, "what is stored was not verified, as a second interrupt left no time for it", "; run again and let it end"}
	}
	return finding{}
}

// replayed judges whether calls that were made again met what they had met before.
func replayed(r *Record) finding {
	if r.Unlike == "" {
		return finding{}
	}
	return finding{state: Degraded, what: r.Unlike}
}

func panics(r *Record) finding {
	if r.Panics == 0 {
		return finding{}
	}
	text := fmt.Sprintf("%s ended in a panic, a bug in perfbench", units.Plural(r.Panics, "operation"))
	if r.PanicAt != "" {
		text += ": " + r.PanicAt
	}
	return finding{Invalid, text, "; please report it"}
}

// errors judges the whole run, and then each segment: one that fails is not made good by
// others that do not. The time in which nothing was done counts like calls: in a closed loop, a store
// that is away gets few of them.
func errors(r *Record) finding {
	unseen, why := ", and "+Untimed(r.timedOut()), ": see the errors for why"
	failed, share, of := failures(r.Ops, r.Panics)
	if r.Lost > 0 {
		when := ""
		if len(r.Emptied) > 0 {
			when = "from " + plot.At(r.Emptied[0].From) + " on, "
		}
		unseen, why = fmt.Sprintf(": %s%s found no record where one had been acknowledged, so the store has lost it (class lost)", when, units.Many(r.Lost, "call")), ""
	}
	text := fmt.Sprintf("%s failed, %s of %s", units.Many(failed, "call"), percent(share), of) + unseen
	cure, theirs := why, slices.DeleteFunc(slices.Clone(r.Outages), r.own)
	if when := Dead(theirs, r.Observed, r.Seconds); when != "" {
		if x := r.restartIn(theirs); x != nil {
			when, cure = when+", when "+x.words(""), ""
		}
		text = when + ", and " + text
	}
	switch {
	case failed > 0 && share >= errorMost:
		return finding{Invalid, text, cure}
	case failed > 0 && (share >= errorShare || dead(theirs) >= errorShare*r.Seconds):
		return finding{Degraded, text, cure}
	}
	for _, s := range r.Segments {
		if failed, share, of := failures(s.Ops, 0); !s.Sought && failed > errorLeast && share >= errorShare {
			return finding{Degraded, fmt.Sprintf("%s%s failed, %s of %s there", units.Many(failed, "call"), s.where(), percent(share), of) + unseen, why}
		}
	}
	return finding{}
}

// Dead says when nothing was done in a run of so many seconds: "nothing was done from 00:02 to 00:04
// of the run and 1 more time (3 s of 10 s)", with the longest of the outages, and for how long perfbench itself did
// not run in them; "" if there was none.
func Dead(outages []Outage, seen *Observed, seconds float64) string {
	if len(outages) == 0 {
		return ""
	}
	longest, paused, suspended, silent := outages[0], 0.0, 0.0, 0.0
	for _, o := range outages {
		if o.To-o.From > longest.To-longest.From {
			longest = o
		}
		p, s := seen.idle(o)
		paused, suspended, silent = paused+p, suspended+s, silent+seen.Silent(o)
	}
	own, all := "", ""
	switch {
	case silent == 0:
		all = ": perfbench itself did not run"
	case paused > 0:
		own = fmt.Sprintf("; perfbench itself did not run for %s of that", length(paused))
	}
	if suspended > 0 {
		own += fmt.Sprintf("; perhaps for up to %s more, in which perfbench was suspended", length(suspended))
	}
	more := ""
	if n := len(outages) - 1; n > 0 {
		more = " and " + units.Plural(int64(n), "more time")
	}
	return fmt.Sprintf("nothing was done from %s%s (%s of %s%s)%s", plot.Between(longest.From, longest.To), more, length(dead(outages)), length(seconds), own, all)
}

// own reports whether an outage is perfbench's, and not the store's.
func (r *Record) own(o Outage) bool { return r.Observed.Silent(o) == 0 }

// dead is for how many seconds nothing was done.
func dead(outages []Outage) (all float64) {
	for _, o := range outages {
		all += o.To - o.From
	}
	return all
}

// Untimed says whether percentiles have the calls that failed, of which so many timed out and so many did not.
func Untimed(timedOut, others int64) string {
	switch {
	case timedOut == 0:
		return "failed calls are in no percentile"
	case others == 0:
		return "percentiles include them, as they timed out"
	}
	return "of these, percentiles include only timeouts"
}

// timedOut returns how many calls timed out, and how many failed in another way.
func (r *Record) timedOut() (timedOut, others int64) {
	for _, o := range r.Ops {
		if !o.Within {
			timedOut, others = timedOut+o.TimedOut, others+o.Errors-o.TimedOut
		}
	}
	return timedOut, max(others, 0)
}

// failures returns how many calls failed apart from panics, what share that is, and of which
// calls: of all, or of those that count, where it is larger. Parts that worked, such as
// pauses, make a failed whole no better, and those that failed make it no worse: they are told by
// themselves where a larger share of them failed than of wholes, which go on without them.
func failures(ops []Op, panics int64) (failed int64, share float64, of string) {
	failed, share, of = failuresOf(ops, panics, false)
	if parts, s, _ := failuresOf(ops, panics, true); parts > 0 && s > share {
		return parts, s, "those that are parts of operations"
	}
	return failed, share, of
}

// failuresOf is failures of the parts of operations, or of all others.
func failuresOf(ops []Op, panics int64, parts bool) (failed int64, share float64, of string) {
	var calls, counted, missed int64
	for _, o := range ops {
		if o.Within != parts {
			continue
		}
		calls += o.Calls - o.TimedOut
		failed += o.Errors
		if o.Counts {
			counted += o.Calls - o.TimedOut
			missed += o.Errors
		}
	}
	if failed -= panics; failed <= 0 {
		return 0, 0, "all"
	}
	share, of = float64(failed)/float64(calls+failed), "all"
	if missed -= panics; missed > 0 {
		if s := float64(missed) / float64(counted+missed); s > share {
			failed, share, of = missed, s, "those that count"
		}
	}
	return failed, share, of
}

// where names a segment behind what happened there.
func (s *Segment) where() string { return " in the segment from " + plot.At(s.From) }

func unfinished(r *Record) finding {
	if r.Fault == "" {
		return finding{}
	}
	return finding{state: Degraded, what: r.Fault}
}

func unmeasured(r *Record) finding {
	for _, o := range r.Ops {
		if o.Count > 0 || o.Calls > 0 || o.Errors > 0 {
			return finding{}
		}
	}
	if r.Early {
		return finding{Invalid, "the run ended in its warm-up, so nothing was measured", ": let it go on for longer"}
	}
	return finding{Invalid, "not one operation was measured, so there are no figures", ": run again, for longer"}
}

// paused reports whether so many short pauses add up that they matter by themselves.
func (o *Observed) paused() bool {
	return o.PausedS > 0 && (o.PausedS >= lostMost || o.PausedS >= lostShare*o.Seconds)
}

// starved reports whether perfbench's pauses are explained by what it waited for a processor: in
// the queues of this machine, for a hypervisor, or for its quota. Who is stopped does not wait.
func (o *Observed) starved() bool {
	waited := o.Stolen*o.Seconds + o.ThrottledS
	if len(o.Processes) > 0 && o.Processes[0].Queue != nil {
		waited += *o.Processes[0].Queue * o.Seconds
	} else {
		waited += o.Pressure * o.Seconds
	}
	return o.PausedS > 0 && waited >= waitedShare*o.PausedS
}

// suspended looks for stops: of the process by a signal or a frozen container, of the machine by
// sleep. Several short ones, which nothing else explains, are as much as one that is long.
func suspended(r *Record) finding {
	o := r.Observed
	if o == nil {
		return finding{}
	}
	stops, gone, untimed := int64(len(o.Suspensions)), o.Suspended(), int64(0)
	for _, s := range o.Suspensions {
		untimed += s.Untimed
	}
	n, sum, still := stops, gone, "meanwhile"
	if o.PausedS > 0 && !o.starved() {
		n, sum, still = n+o.Pauses, sum+o.PausedS, "for "+length(gone)+" of that"
	}
	if stops == 0 && (!o.paused() || o.starved()) {
		return finding{}
	}
	text := ""
	switch {
	case stops == 0:
		text = fmt.Sprintf("perfbench was stopped for %s of the run, in %s", length(sum), units.Plural(n, "pause"))
	case n == 1:
		text = fmt.Sprintf("perfbench was suspended for %s, from %s, and its clock stood still %s", length(sum), plot.At(o.Suspensions[0].AtS), still)
	default:
		text = fmt.Sprintf("perfbench was suspended %d times, for %s in all, first at %s, and its clock stood still %s", n, length(sum), plot.At(o.Suspensions[0].AtS), still)
	}
	if untimed > 0 {
		text += fmt.Sprintf("; %s under way then %s counted but not timed", units.Plural(untimed, "operation"), was(untimed))
	}
	return finding{Degraded, text, ": run again without stopping it (ctrl+z, sleep, a paused container)"}
}

// pauses looks for what perfbench did not run for while it waited for a processor.
func pauses(r *Record) finding {
	o := r.Observed
	if o == nil || !o.starved() || !o.paused() {
		return finding{}
	}
	return finding{Degraded, fmt.Sprintf("perfbench got no processor for %s of the run, in %s", length(o.PausedS), units.Plural(o.Pauses, "pause")), "; leave the machine to perfbench"}
}

// lateness compares our own lateness with the response times, percentile by percentile. A
// few microseconds change what nobody reads, even where they are a large part of a call;
// but in a store outside this process they must not be most of it.
func lateness(r *Record) finding {
	l := r.latest(false)
	if l.share == 0 {
		return finding{}
	}
	return finding{Degraded, "perfbench started operations late: " + l.text, "; leave the machine to perfbench, lower the rate, or read the service time"}
}

// Remarks are sentences about what nobody has to doubt a run for, but has to know.
func Remarks(r Record) []string {
	var out []string
	caughtUp, givenUp := backlogs(&r)
	for _, text := range []string{Restarted(r), caughtUp, givenUp, lateTail(&r), evened(&r)} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// lateTail returns a sentence for a run whose p99.9 is mostly lateness, though too little to
// doubt the run, and "" for any other.
func lateTail(r *Record) string {
	if l := r.latest(true); l.share > 0 {
		return "perfbench started a few calls late, which shapes the slowest times: " + l.text + ". The service time is that of the store alone."
	}
	return ""
}

// late is the percentile that lateness shapes most.
type late struct {
	share float64 // of the response time; 0 if there is none
	text  string
}

// latest returns the worst of those that cast doubt on the run, or of the remarks.
func (r *Record) latest(remarks bool) late {
	var worst late
	look := func(ops []Op, where string) {
		for _, o := range ops {
			for _, s := range shown {
				if !measure.Enough(s.p, o.Response.Count) || o.Response.Count == 0 {
					continue
				}
				lateness, all := s.of(o.Lateness), s.of(o.Response)
				if all <= 0 {
					continue
				}
				share, long := float64(lateness)/float64(all), lateness >= s.prompt.Nanoseconds()
				most := !r.InProcess && share >= lateMost
				found := long || most && !s.moments
				if remarks {
					found = !long && most && s.moments
				}
				if found && share >= lateShare && share > worst.share {
					worst.share = share
					worst.text = fmt.Sprintf("%s of %s%s is %s, of which %s (%s) are lateness",
						s.name, o.Name, where, ns(all), ns(lateness), percent(min(share, 1)))
				}
			}
		}
	}
	look(r.Ops, "")
	for _, s := range r.Segments {
		look(s.Ops, s.where())
	}
	return worst
}

func backlog(r *Record) finding {
	if r.Observed == nil || r.Observed.Growth == nil {
		return finding{}
	}
	g := r.Observed.Growth
	to, where := "to the end", "the end"
	if g.ToS < math.Floor(r.Seconds) {
		where = plot.At(g.ToS)
		to = "until " + where
	}
	grew := fmt.Sprintf("the backlog grew %s (%s due and not sent, %s before)", to, units.Number(g.last()), units.Number(g.From))
	switch {
	case g.shrank():
		grew = fmt.Sprintf("the run was behind its rate at %s (%s due and not sent, %s at most, at %s)", where, units.Number(g.End), units.Number(g.Most), plot.At(g.MostS))
	case g.Units > 0:
		grew = fmt.Sprintf("the backlog grew until %s, from %s to %s %s, which were never sent", ended(r, g.ToS, g.Until), units.Number(g.From), units.Number(g.Units), r.unit())
	}
	began := g.FromS - (g.ToS-g.FromS)/2
	after := func(what string) finding {
		if g.CaughtUpS > 0 {
			return finding{} // a remark tells it
		}
		return finding{Degraded, grew + " after " + what,
			": response times say how long what it held up has waited; let the run go on for longer, to see whether the store catches up"}
	}
	for _, b := range slices.Backward(r.Broken) {
		if b.From < g.ToS && b.To >= began-1 {
			return after(fmt.Sprintf("the fault %s from %s, which this run made itself", b.Name, plot.Between(b.From, b.To)))
		}
	}
	if lost := g.PausedS; lost > 0 && lost*g.Rate >= g.To-g.From {
		return finding{Degraded, fmt.Sprintf("%s, which perfbench itself may have caused: it did not run for %s, in which %s fell due", grew, length(lost), units.Number(lost*g.Rate)), "; run again"}
	}
	for _, o := range slices.Backward(r.Outages) {
		if !r.own(o) && o.From < g.ToS && o.To >= began-1 && (o.To-o.From)*g.Rate >= g.last()-g.From {
			return after(fmt.Sprintf("nothing was done from %s", plot.Between(o.From, o.To)))
		}
	}
	if g.crowded(r.Observed) {
		return finding{Degraded, fmt.Sprintf("other processes used %s of this machine while %s", hundredths(g.Taken.Others), grew), spared}
	}
	if g.shrank() {
		return finding{Degraded, grew + ", and was catching up", ": response times say how long that went on; let the run go on for longer"}
	}
	return finding{Degraded, fmt.Sprintf("%s: the run does not keep up with %s %s per second, so response times only say how long that went on", grew, units.Number(g.Rate), r.unit()), relief(r.GrowthLimit, " if the store has room")}
}

// backlogs returns a sentence for a run that was behind its rate and caught up, one if what was due was
// given up, unless that is a reason for doubt, and "" otherwise.
func backlogs(r *Record) (caughtUp, givenUp string) {
	o := r.Observed
	if o == nil {
		return "", ""
	}
	if b := o.CaughtUp; b != nil {
		caughtUp = fmt.Sprintf("The run was behind its rate from %s, by %s %s at most, and had caught up by %s.", plot.At(b.FromS), units.Number(b.Most), r.unit(), plot.Clock(b.ToS))
	}
	if b := o.GivenUp; b != nil && (o.Growth == nil || o.Growth.Units == 0 || o.Growth.ToS != b.ToS || o.Growth.shrank()) {
		most := ""
		if b.Most > b.Units {
			most = ", by " + units.Number(b.Most) + " " + r.unit() + " at most,"
		}
		givenUp = fmt.Sprintf("The run was behind its rate from %s%s until %s; %s %s were never sent.", plot.At(b.FromS), most, ended(r, b.ToS, b.Until), units.Number(b.Units), r.unit())
	}
	return caughtUp, givenUp
}

// unit names what counts in the run.
func (r *Record) unit() string { return cmp.Or(r.Unit, "units") }

// ended says until when a backlog lasted that was given up.
func ended(r *Record, atS float64, until string) string {
	switch {
	case until == "rate":
		return "the rate was changed at " + plot.At(atS)
	case until == "paused":
		return "the run was paused at " + plot.At(atS)
	case until != "":
		return "settings were changed at " + plot.At(atS)
	case atS < math.Floor(r.Seconds):
		return "its phase ended at " + plot.At(atS)
	}
	return "the end"
}

// unsent returns how many units were due and never sent, and how many were done.
func unsent(ops []Op) (never, done int64) {
	for _, o := range ops {
		never += o.Unstarted
		if o.Counts {
			done += o.Count
		}
	}
	return never, done
}

// unstarted judges the whole run, and then each segment, as errors does.
func unstarted(r *Record) finding {
	limit := r.Limit
	look := func(ops []Op, where string) string {
		never, done := unsent(ops)
		if never <= unstartedLeast || float64(never) <= unstartedShare*float64(done+never) {
			return ""
		}
		return fmt.Sprintf("%s %s%s were due and never sent (%s): the slowest are missing from the percentiles",
			units.Number(float64(never)), r.unit(), where, percent(float64(never)/float64(done+never)))
	}
	text := look(r.Ops, "")
	for i := 0; i < len(r.Segments) && text == ""; i++ {
		if s := &r.Segments[i]; !s.Sought {
			text, limit = look(s.Ops, s.where()), s.Limit
		}
	}
	if text == "" {
		return finding{}
	}
	return finding{Degraded, text, relief(limit, "")}
}

// relief says what lets a run keep up with its rate. More threads do not where a limit has no room for them.
func relief(limit, room string) string {
	if limit != "" {
		return "; lower the rate"
	}
	return "; lower --rate, or raise --threads" + room
}

func warmup(r *Record) finding {
	if r.Unsettled == 0 {
		return finding{}
	}
	return finding{Degraded, fmt.Sprintf("throughput and p99 had not settled after a warm-up of %s, the longest that auto takes", units.Duration(r.Unsettled)), "; give --warmup a longer time"}
}

// samples looks for operations without a p99, while a run goes on among those whose phases are over. Where live changes made segments, one of them
// must have it: that of the whole run mixes them.
func samples(r *Record) finding {
	var names string
	n, least := 0, int64(0)
	most := r.most()
	for _, o := range r.Ops {
		calls := most[o.Name]
		if !r.over(&o) || measure.Enough(99, calls) {
			continue
		}
		if n++; n == 1 || calls < least {
			names, least = o.Name, calls
		}
	}
	switch n {
	case 0:
		return finding{}
	case 1:
		names += " has"
	default:
		names = fmt.Sprintf("%d operations have too few, %s", n, names)
	}
	if len(r.Segments) > 0 {
		return finding{Degraded, fmt.Sprintf("too few samples for p99 in each segment between live changes: %s at most %d, and it needs %d", names, least, measure.Needs(99)), "; change settings less often"}
	}
	return finding{Degraded, fmt.Sprintf("too few samples for p99: %s %d, and it needs %d", names, least, measure.Needs(99)), "; run longer"}
}

// over reports whether an operation has had all of the calls that count for its percentiles.
func (r *Record) over(o *Op) bool { return o.Counts && o.Calls > 0 && (o.Over || !r.Going) }

// most returns, by name, the most calls that an operation has in any segment; in a run without any, all of its calls.
func (r *Record) most() map[string]int64 {
	out := map[string]int64{}
	if len(r.Segments) == 0 {
		for _, o := range r.Ops {
			out[o.Name] = o.Calls
		}
	}
	for _, s := range r.Segments {
		for _, o := range s.Ops {
			out[o.Name] = max(out[o.Name], o.Calls)
		}
	}
	return out
}

func was(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// percent formats a share; small shares are not rounded to zero.
func percent(v float64) string {
	p := 100 * v
	switch {
	case p >= 10:
		return fmt.Sprintf("%.0f %%", p)
	case p >= 1:
		return fmt.Sprintf("%.1f %%", p)
	}
	return fmt.Sprintf("%.2g %%", p)
}

func ns(v int64) string { return units.Duration(time.Duration(v)) }

func length(s float64) string { return units.Duration(time.Duration(s * float64(time.Second))) }
