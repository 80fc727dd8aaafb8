// Package verdict judges whether the figures of a run are really those of the store. It
// knows every reason why they may not be, and how strong it must be to count. It is
// pure: what was observed goes in, the verdict comes out.
package verdict

// States of a verdict.
const (
	// Valid means that nothing was noticed that would distort the store's figures.
	Valid = "VALID"
	// Degraded means that the figures are to be read with the reasons in mind.
	Degraded = "DEGRADED"
	// Invalid means that the figures must not be used.
	Invalid = "INVALID"
)

// Cause is the keyword for one kind of reason.
type Cause string

// Causes, in the order in which they are listed.
const (
	Verification Cause = "verification"
	Panic        Cause = "panic"
	Errors       Cause = "errors"
	Unfinished   Cause = "unfinished"
	Unmeasured   Cause = "unmeasured"
	Laws         Cause = "laws"
	Workers      Cause = "workers"
	Skew         Cause = "skew"
	Suspended    Cause = "suspended"
	Pauses       Cause = "pauses"
	Lateness     Cause = "lateness"
	Arrivals     Cause = "arrivals"
	Replay       Cause = "replay"
	Backlog      Cause = "backlog"
	Unstarted    Cause = "unstarted"
	Throttled    Cause = "throttled"
	CPU          Cause = "cpu"
	Stolen       Cause = "stolen"
	Crowded      Cause = "crowded"
	Scheduler    Cause = "scheduler"
	GC           Cause = "gc"
	Memory       Cause = "memory"
	Pool         Cause = "pool"
	Ceiling      Cause = "ceiling"
	Clock        Cause = "clock"
	Samples      Cause = "samples"
	Warmup       Cause = "warmup"
)

// Ours reports whether a cause is a limit of perfbench, or of the resources it was
// given: the run may then have measured perfbench rather than the store.
func (c Cause) Ours() bool {
	switch c {
	case Throttled, CPU, Scheduler, GC, Pool, Ceiling:
		return true
	}
	return false
}

// Word is how people are told of a cause, wherever that is: its keyword, unless that is no word for what tables
// call otherwise.
func (c Cause) Word() string {
	switch c {
	case Unstarted:
		return neverSentWord
	case Stolen:
		return "hypervisor"
	}
	return string(c)
}

// neverSentWord is what tables of operations have as a column, too.
const neverSentWord = "never sent"

// Words names a cause of which nothing else is told so that it says what it is: "crowded by other programs".
func (c Cause) Words() string {
	switch c {
	case Crowded:
		return "crowded by other programs"
	case Stolen:
		return "processors taken by the hypervisor"
	case Throttled:
		return "throttled by its CPU quota"
	}
	return c.Word()
}

// Reason is one thing that keeps a run from being valid.
type Reason struct {
	Cause Cause
	// State is the verdict that the reason leads to: Degraded or Invalid.
	State string
	// Text says what was noticed and what to do about it, in one sentence; What is its
	// beginning, without what to do.
	Text, What string
}

// Verdict says whether the figures of a run can be trusted, VALID, DEGRADED or INVALID, and what
// casts doubt on them.
type Verdict struct {
	State   string
	Reasons []Reason
	// Doubts are the reasons as a reader is told them: each cause once, with all that it explains.
	Doubts []Doubt
}

// Judge judges what was observed of a run.
func Judge(r Record) Verdict {
	v := Verdict{State: Valid}
	for _, rule := range rules {
		if r.Going && rule.atEnd || r.InProcess && rule.server {
			continue
		}
		f := rule.look(&r)
		if f.state == "" {
			continue
		}
		v.Reasons = append(v.Reasons, Reason{rule.cause, f.state, f.what + f.cure, f.what})
		if v.State != Invalid {
			v.State = f.state
		}
	}
	v.Doubts = doubts(&r, v.Reasons)
	return v
}

// Void returns why, by what was measured, nobody may use the figures: a panic, half of the calls
// failed, or nothing was measured; "" if none of these. A failed verification says so by what is
// stored, and laws and workers speak of perfbench.
func (v Verdict) Void() string {
	for _, x := range v.Reasons {
		if x.State == Invalid && (x.Cause == Panic || x.Cause == Errors || x.Cause == Unmeasured) {
			return x.Text
		}
	}
	return ""
}

// Known reports whether state is one of the three states.
func Known(state string) bool { return state == Valid || state == Degraded || state == Invalid }
