package verdict

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
)

// Record is what is known of a run when it is judged.
type Record struct {
	// Going says that the run has not ended: what only its end can tell is left out.
	Going bool
	// InProcess says that the store lives in perfbench itself, as embedded:, memory:
	// and null: do. What such a store takes of processors and heap cannot be told from
	// what the harness takes, so neither is held against the run; reports say that
	// these numbers do not describe a real server.
	InProcess bool
	// Seconds is the length of the measured part.
	Seconds float64
	Ops     []Op
	// Phases are those that were measured, in the plan's order.
	Phases []Phase
	// Panics counts operations that a bug in perfbench cut short, PanicAt says where.
	Panics  int64
	PanicAt string
	// Changes is how many settings changed mid-run, Segments what they made of it; a
	// ramp is one change, and one segment.
	Changes, Segments int
	// Verified is what became of the verification.
	Verified Verified
	// Fault is what ended the run before its time; empty when nothing did.
	Fault string
	// Unsettled is how long a warm-up was that was to end once the run had settled, and
	// came to its bound before; 0 of any other.
	Unsettled time.Duration
	Observed  *Observed
	// Workers are the processes that carried the run out together; none for a run of one.
	Workers []Worker
	// Resumed tells of coordinators that died.
	Resumed []Resumed
}

// Verified is what became of a verification.
type Verified int

// Outcomes of a verification. Unasked is also that of a run with nothing to verify.
const (
	Unasked Verified = iota
	Passed
	Failed
	Incomplete
)

// Phase is what one phase of the plan came to.
type Phase struct {
	Name    string
	Seconds float64
	// Calls are those of its operations that count in the totals of the run.
	Calls int64
}

// Op is what one operation came to.
type Op struct {
	Name string
	// Counts says that it counts in the totals of the run.
	Counts bool
	// Count and Unstarted are units, Calls the calls that were timed, Errors those that
	// failed.
	Count, Unstarted, Calls, Errors int64
	Response, Lateness              measure.Summary
	// ServiceMean and ServiceP50 are in nanoseconds.
	ServiceMean float64
	ServiceP50  int64
}

// Observed is what was seen of this process and machine while a run was measured.
// What could not be seen is zero, or nil where zero would say something.
type Observed struct {
	// Seconds is how long was watched.
	Seconds float64 `json:"seconds"`
	// Cores is how many processors perfbench could use, the quota of its control
	// group included; Quota is that quota, 0 when there is none.
	Cores float64 `json:"cores"`
	Quota float64 `json:"quota_cores,omitempty"`
	// CPU is how many processors perfbench used, Machine how many all processes of
	// this machine did, Stolen the share of the time that a hypervisor kept.
	CPU     float64 `json:"cpu_cores"`
	Machine float64 `json:"machine_cores,omitempty"`
	Stolen  float64 `json:"stolen,omitempty"`
	// Periods of the quota, those in which it held perfbench back, and for how long.
	Periods    int64   `json:"quota_periods,omitempty"`
	Throttled  int64   `json:"throttled_periods,omitempty"`
	ThrottledS float64 `json:"throttled_s,omitempty"`
	// GCPauses is the share of the time in which the collector stopped everything,
	// GCCPU how many processors it used beside what was idle.
	GCPauses float64 `json:"gc_pauses,omitempty"`
	GCCPU    float64 `json:"gc_cpu_cores,omitempty"`
	// SchedP50 and SchedP99 are how long goroutines waited for a processor, WakeP50 and
	// WakeP90 how much too late a timer of ours rang; in nanoseconds.
	SchedP50 int64 `json:"sched_p50_ns,omitempty"`
	SchedP99 int64 `json:"sched_p99_ns,omitempty"`
	WakeP50  int64 `json:"wake_p50_ns,omitempty"`
	WakeP90  int64 `json:"wake_p90_ns,omitempty"`
	// MajorFaults is how often memory of ours had to come from the disk.
	MajorFaults int64 `json:"major_faults,omitempty"`
	// The pool of connections: its size, how often an operation waited for one, and
	// how long in all.
	PoolSize   int   `json:"pool_size,omitempty"`
	PoolWaits  int64 `json:"pool_waits,omitempty"`
	PoolWaitNs int64 `json:"pool_wait_ns,omitempty"`
	// ClockCost is what reading the clock takes, ClockTick its finest step; in
	// nanoseconds.
	ClockCost int64 `json:"clock_cost_ns,omitempty"`
	ClockTick int64 `json:"clock_tick_ns,omitempty"`
	// Steps are changes of the wall clock that were no passing of time.
	Steps []Step `json:"clock_steps,omitempty"`
	// Suspensions are stretches in which perfbench did not run at all.
	Suspensions []Suspension `json:"suspensions,omitempty"`
	// Growth is a backlog that grew to the end.
	Growth *Growth `json:"backlog_growth,omitempty"`
	// Ceilings are how many calls a second the harness alone does here, phase by phase.
	Ceilings []PhaseCeiling `json:"ceilings,omitempty"`
	// Processes are perfbench and, where it runs on this machine, the store; Store is
	// what the store's server tells of itself.
	Processes []Process `json:"processes,omitempty"`
	Store     *Used     `json:"store,omitempty"`
	// Noted is what took the store's servers long, as they have noted it themselves: in the
	// order in which it was read, and the longest where there is much. NotedMore is how much
	// more there was.
	Noted     []Noted `json:"noted,omitempty"`
	NotedMore int64   `json:"noted_more,omitempty"`
}

// PhaseCeiling is how many calls a second that count the harness alone does in a phase.
type PhaseCeiling struct {
	Phase string  `json:"phase"`
	PerS  float64 `json:"per_s"`
}

// Step is one change of the wall clock against the monotonic one.
type Step struct {
	AtS float64 `json:"at_s"`
	// ByS is how far it was set, forward or, negative, back.
	ByS float64 `json:"by_s"`
}

// Suspension is a stretch in which this process did not run.
type Suspension struct {
	AtS  float64 `json:"at_s"`
	ForS float64 `json:"for_s"`
	// Untimed is how many operations were under way across it: counted, not timed. It
	// is 0 when the machine slept, for then the clock of all times stood still.
	Untimed int64 `json:"untimed,omitempty"`
}

// Growth is a backlog that grew: its mean in the middle third of a stretch and in
// the last, which ends at ToS.
type Growth struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	// Rate is how much fell due per second.
	Rate float64 `json:"rate_per_s"`
}

// A backlog grows when each third of the run has more of it than the third before,
// the last by a quarter and by what falls due in growTime.
const (
	growBy      = 1.25
	growTime    = 0.05
	growSeconds = 3
)

// Grown looks for a backlog that grows to the end of a run: one value a second, and
// what fell due per second. nil: none does, or the run is too short to tell.
func Grown(backlog []int64, rate float64) *Growth {
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
	if middle < first || last < growBy*middle || last-middle < growTime*rate {
		return nil
	}
	return &Growth{FromS: float64(third), ToS: float64(n), From: middle, To: last, Rate: rate}
}
