package verdict

import (
	"slices"
	"strings"
)

// Doubt is what a reader is told of reasons that have one cause: the cause with what to do about it,
// and what else of the run it explains.
type Doubt struct {
	Cause Cause `json:"cause"`
	// Text is a sentence. Of the cause itself it ends with the cure, what to do; of what that explains
	// it does not, as the cure is the same.
	Text string `json:"text"`
	Cure string `json:"cure,omitempty"`
	// Shows are the reasons that the cause explains, in the order of all reasons.
	Shows []Doubt `json:"shows,omitempty"`
}

// Sentence returns the doubt in one line, without a full stop.
func (d Doubt) Sentence() string {
	if len(d.Shows) == 0 {
		return d.Text
	}
	var shows []string
	for _, s := range d.Shows {
		shows = append(shows, s.Text)
	}
	return d.Text + showsIn + strings.Join(shows, "; ")
}

// showsIn stands between a cause and what it shows itself in.
const showsIn = ". It shows in this: "

// Of returns the doubt that tells of a cause; false if none does.
func Of(all []Doubt, c Cause) (Doubt, bool) {
	for _, d := range all {
		if d.Cause == c || slices.ContainsFunc(d.Shows, func(s Doubt) bool { return s.Cause == c }) {
			return d, true
		}
	}
	return Doubt{}, false
}

// explanation is a cause, and reasons that are there because of it and go away with it.
type explanation struct {
	cause Cause
	of    []Cause
	// holds says whether it does in this run; nil: always.
	holds func(*Record) bool
}

// waiting is what a process shows that does not get a processor when it wants one.
var waiting = []Cause{Pauses, Scheduler, Lateness, Arrivals}

// explanations in the order in which they are tried: a reason goes to the first cause that is there.
// Every row has one cure, that of its cause.
var explanations = []explanation{
	{cause: Unmeasured, of: []Cause{Samples}},
	{cause: Unfinished, of: []Cause{Verification, Samples}},
	{cause: Errors, of: []Cause{Backlog, Unstarted}, holds: outOfService},
	{cause: Throttled, of: append([]Cause{CPU, Ceiling}, waiting...)},
	{cause: Throttled, of: []Cause{Backlog}, holds: heldUp},
	{cause: Throttled, of: []Cause{GC}, holds: collectsLittle},
	{cause: Crowded, of: waiting},
	{cause: Crowded, of: []Cause{Backlog}, holds: heldUp},
	{cause: Crowded, of: []Cause{Backlog}, holds: crowdedOut},
	{cause: Crowded, of: []Cause{Unstarted}, holds: burst},
	{cause: Crowded, of: []Cause{GC}, holds: collectsLittle},
	{cause: Stolen, of: waiting},
	{cause: Stolen, of: []Cause{GC}, holds: collectsLittle},
	{cause: Stolen, of: []Cause{Backlog}, holds: heldUp},
	{cause: Memory, of: append([]Cause{Suspended}, waiting...)},
	{cause: CPU, of: append([]Cause{Ceiling, GC}, waiting...)},
	{cause: GC, of: waiting},
	{cause: Scheduler, of: waiting},
	{cause: Suspended, of: []Cause{Lateness, Arrivals}},
	{cause: Suspended, of: []Cause{Backlog}, holds: heldUp},
	{cause: Pauses, of: []Cause{Lateness, Arrivals}},
	{cause: Pauses, of: []Cause{Backlog}, holds: heldUp},
	{cause: Lateness, of: []Cause{Arrivals}},
	{cause: Backlog, of: []Cause{Unstarted}},
	{cause: Lateness, of: []Cause{Unstarted}, holds: behind},
}

// collectsLittle reports whether garbage collections stopped perfbench for long though they did little:
// they had to wait for a processor, too.
func collectsLittle(r *Record) bool {
	return r.Observed != nil && r.Observed.GCCPU < gcCPU*r.Observed.Cores
}

// behind reports whether what was never sent fell due no longer before the end than perfbench was
// late at p99.
func behind(r *Record) bool {
	late := int64(0)
	for _, o := range r.Ops {
		late = max(late, o.Lateness.P99)
	}
	never, done := unsent(r.Ops)
	return never+done > 0 && float64(never)/float64(never+done)*r.Seconds <= float64(late)/1e9
}

// heldUp reports whether a backlog is as large as what fell due while perfbench did not run.
func heldUp(r *Record) bool {
	g := r.growth()
	return g != nil && g.PausedS > 0 && g.PausedS*g.Rate >= g.To-g.From
}

// crowdedOut reports whether a backlog grew because others had the processors.
func crowdedOut(r *Record) bool { return r.growth().crowded(r.Observed) }

// burst reports whether settings were changed and no backlog grew, so that what was never sent is what a
// moment had left when they were.
func burst(r *Record) bool { return len(r.Segments) > 0 && r.growth() == nil }

// outOfService reports whether nothing was done for a while in the time in which a backlog grew, or
// up to the end.
func outOfService(r *Record) bool {
	from := r.Seconds / 2
	if g := r.growth(); g != nil {
		from = g.FromS - (g.ToS-g.FromS)/2
	}
	return slices.ContainsFunc(r.Outages, func(o Outage) bool { return o.To > from && !r.own(o) })
}

func (r *Record) growth() *Growth {
	if r.Observed == nil {
		return nil
	}
	return r.Observed.Growth
}

// doubts puts reasons under their causes. A reason that weighs more than a cause stands by itself.
func doubts(r *Record, reasons []Reason) []Doubt {
	at := map[Cause]int{}
	for i, x := range reasons {
		at[x.Cause] = i
	}
	under := make([]int, len(reasons)) // the reason of its cause, or its own
	for i, x := range reasons {
		under[i] = i
		for _, e := range explanations {
			by, there := at[e.cause]
			if there && by != i && slices.Contains(e.of, x.Cause) && (reasons[by].State == Invalid || x.State != Invalid) && (e.holds == nil || r != nil && e.holds(r)) {
				under[i] = by
				break
			}
		}
	}
	var out []Doubt
	for i, x := range reasons {
		if under[i] != i {
			continue
		}
		d := Doubt{Cause: x.Cause, Text: x.Text, Cure: strings.TrimLeft(strings.TrimPrefix(x.Text, x.What), ":; ")}
		for k, s := range reasons {
			if k != i && last(under, k) == i {
				d.Shows = append(d.Shows, Doubt{Cause: s.Cause, Text: s.What})
			}
		}
		out = append(out, d)
	}
	return out
}

// last follows causes to the one that nothing explains.
func last(under []int, i int) int {
	for under[i] != i {
		i = under[i]
	}
	return i
}

// Told returns the doubts of a verdict of which only causes and their texts are known, as in a run of
// an older version.
func Told(state string, causes, texts []string) []Doubt {
	var reasons []Reason
	for i := range max(len(causes), len(texts)) {
		x := Reason{State: state}
		if i < len(causes) {
			x.Cause = Cause(causes[i])
		}
		if i < len(texts) {
			x.Text, x.What = texts[i], texts[i]
		}
		reasons = append(reasons, x)
	}
	return doubts(nil, reasons)
}
