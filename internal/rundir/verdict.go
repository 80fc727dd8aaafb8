package rundir

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Verdict says what the figures of a run are worth; docs/verdict.md explains every
// reason. Whether thresholds were met, and what ended the run, is recorded separately.
type Verdict struct {
	// State is verdict.Valid, Degraded or Invalid.
	State string `json:"state"`
	// Reasons are sentences that a person can act on; Causes has the keyword for each.
	Reasons []string `json:"reasons"`
	Causes  []string `json:"causes"`
	// Doubts are the reasons as a reader is told them: each cause once, with what else it explains.
	Doubts []verdict.Doubt `json:"doubts,omitempty"`
	// Thresholds are all those that the run had, met and missed, in the order given. A
	// run that was cut short was never judged and has none.
	Thresholds []Threshold `json:"thresholds,omitempty"`
}

// Valid reports whether nothing casts doubt on the figures.
func (v Verdict) Valid() bool { return v.State == verdict.Valid }

// Because is the verdict with the first of its causes, such as "DEGRADED: errors".
func (v Verdict) Because() string {
	if causes := v.Main(); len(causes) > 0 {
		return v.State + ": " + causes[0]
	}
	return v.State
}

// Use says whether the figures may be used, in a clause; "" if nothing speaks against it.
func (v Verdict) Use() string {
	switch v.State {
	case verdict.Degraded:
		return "read the figures with this in mind"
	case verdict.Invalid:
		return "do not use these figures"
	}
	return ""
}

// Told returns the doubts, also where only causes and reasons are recorded.
func (v Verdict) Told() []verdict.Doubt {
	if len(v.Doubts) > 0 {
		return v.Doubts
	}
	return verdict.Told(v.State, v.Causes, v.Reasons)
}

// showing puts the seconds in which others had the processors first among what shows that they did, if that is a
// doubt.
func (v *Verdict) showing(w *Why) {
	at := slices.IndexFunc(v.Doubts, func(d verdict.Doubt) bool { return d.Cause == verdict.Crowded })
	if at < 0 || w == nil {
		return
	}
	var shows []verdict.Doubt
	for _, c := range w.Coincidences {
		if c.Crowded {
			shows = append(shows, verdict.Doubt{Cause: verdict.Crowded, Text: c.Text})
		}
	}
	v.Doubts = slices.Clone(v.Doubts)
	v.Doubts[at].Shows = append(shows, v.Doubts[at].Shows...)
}

// Shows reports whether a doubt shows in what a text says.
func (v Verdict) Shows(text string) bool {
	return slices.ContainsFunc(v.Told(), func(d verdict.Doubt) bool {
		return slices.ContainsFunc(d.Shows, func(s verdict.Doubt) bool { return s.Text == text })
	})
}

// Main returns the words for the causes of all doubts, without what they explain.
func (v Verdict) Main() []string {
	var out []string
	for _, d := range v.Told() {
		out = append(out, d.Cause.Word())
	}
	return out
}

// Why returns the doubts in one line each, without a full stop.
func (v Verdict) Why() []string {
	var out []string
	for _, d := range v.Told() {
		out = append(out, d.Sentence())
	}
	return out
}

// Missed returns the thresholds that were not met.
func (v Verdict) Missed() []Threshold {
	var out []Threshold
	for _, t := range v.Thresholds {
		if !t.OK {
			out = append(out, t)
		}
	}
	return out
}

// Judge judges the run again from what is recorded in it; the outcome of its thresholds
// is kept.
func (r *Run) Judge() Verdict {
	got := verdict.Judge(recordOf(r))
	v := Verdict{State: got.State, Reasons: []string{}, Causes: []string{}, Doubts: got.Doubts, Thresholds: r.Verdict.Thresholds}
	for _, reason := range got.Reasons {
		v.Reasons = append(v.Reasons, reason.Text)
		v.Causes = append(v.Causes, string(reason.Cause))
	}
	return v
}

// Void returns why, by what was measured, nobody may use the figures of the run, as verdict.Verdict
// has it; "" if nothing says so.
func (r *Run) Void() string { return verdict.Judge(recordOf(r)).Void() }

// Checked lists what the rules of the verdict looked at in the run, and what they found there. Reasons for doubt
// are those that its verdict has.
func (r *Run) Checked() []verdict.Checked {
	list := verdict.Check(recordOf(r))
	for i := range list {
		list[i].OK = !slices.Contains(r.Verdict.Causes, string(list[i].Cause))
	}
	return list
}

// Asides returns sentences about what casts no doubt on the run, but has to be known.
func (r *Run) Asides() []string {
	out := verdict.Remarks(recordOf(r))
	if text := attemptsOf(r); text != "" {
		out = append(out, text)
	}
	return out
}

// Restarted returns that one of Asides which says when servers of the store were started again, and of what
// the verification speaks then; "" if none was.
func (r *Run) Restarted() string { return verdict.Restarted(recordOf(r)) }

// ended is how many calls of an operation were answered or given up.
func (r *Run) ended(o *Operation) int64 {
	return o.Calls + o.Errors - r.TimedOut(o)
}

// TimedOut is how many calls of an operation timed out: these are timed, and errors. It is that of the whole run.
func (r *Run) TimedOut(o *Operation) (n int64) {
	for _, e := range r.Errors {
		if e.Track == o.Track && e.Op == o.Op && e.Class == store.Timeout.String() {
			n += e.Count
		}
	}
	return min(n, o.Calls)
}

// Attempts is how many attempts a call of an operation took; 0 if it made none.
func (r *Run) Attempts(o *Operation) float64 {
	if n := r.ended(o); n > 0 {
		return float64(n+o.Retries) / float64(n)
	}
	return 0
}

// attemptsOf says what the policy of a client that is not patient made of the run; "" for any other.
func attemptsOf(r *Run) string {
	c, err := workload.ParseClient(r.Parameters["client"])
	if err != nil || c.Patient() {
		return ""
	}
	var good, ended, retries int64
	for _, o := range r.Operations {
		if !r.Counts(o) {
			continue
		}
		ended, retries = ended+r.ended(&o), retries+o.Retries
		if o.InTime != nil {
			good += *o.InTime
		}
	}
	if ended <= 0 {
		return ""
	}
	took := fmt.Sprintf("%.3g attempts", float64(ended+retries)/float64(ended))
	if took == "1 attempts" {
		took = "1 attempt"
	}
	text := fmt.Sprintf("Callers had a policy (%s): a call took %s.", c, took)
	if c.Deadline > 0 {
		text += fmt.Sprintf(" %.3g %% of the calls were answered within %s of when they were due.", 100*float64(good)/float64(ended), units.Duration(c.Deadline))
	}
	return text
}

// judgeDamaged judges a run whose figures were recomputed from what is left of its
// files. What cast doubt on it before still does, though it may not show in the rest.
func judgeDamaged(r *Run) Verdict {
	old, v := r.Verdict, r.Judge()
	for i, cause := range old.Causes {
		if i < len(old.Reasons) && !slices.Contains(v.Causes, cause) {
			v.Causes, v.Reasons = append(v.Causes, cause), append(v.Reasons, old.Reasons[i])
			v.Doubts = append(v.Doubts, verdict.Doubt{Cause: verdict.Cause(cause), Text: old.Reasons[i]})
		}
	}
	if old.State == verdict.Invalid || old.State == verdict.Degraded && v.Valid() {
		v.State = old.State
	}
	return v
}

// askedLate is how many seconds late a store may be asked what it has counted, after a warm-up and
// at the ends of a segment.
const askedLate = 0.5

// whereIn names a segment in a sentence about what happened in it; empty: there is only one.
func whereIn(r *Run, segment int) string {
	if len(r.Segments) < 2 || segment < 0 || segment >= len(r.Segments) {
		return ""
	}
	return " in the segment from " + plot.At(r.Segments[segment].From)
}

// came returns arrivals as the judgement sees them.
func came(a Arrivals, where string) verdict.Came {
	return verdict.Came{Track: a.Track, Segment: where, Span: a.SpanS, Moved: a.Moved, Late: a.Late, Asked: a.Asked, Begun: a.Begun}
}

// waited is as verdict.Came has it. Where perfbench itself was late, how long they waited for a thread is not known.
func waited(ops []Operation, track string) float64 {
	least := int64(-1)
	for i := range ops {
		switch o := &ops[i]; {
		case o.Track != track || o.Calls == 0:
		case o.Lateness.P50 > o.Wait.P50/10:
			return 0
		case least < 0 || o.Wait.P50 < least:
			least = o.Wait.P50
		}
	}
	return time.Duration(max(least, 0)).Seconds()
}

// full returns what held the run back for most of a time, as verdict.Came has it.
func (r *Run) full(from, to float64) string {
	if r.Why == nil {
		return ""
	}
	long := map[string]float64{}
	for _, p := range r.Why.Parts {
		if p.Full {
			long[p.Limit] += max(min(p.To, to)-max(p.From, from), 0)
		}
	}
	for limit, s := range long {
		if s > (to-from)/2 {
			return limit
		}
	}
	return ""
}

// own is what was observed of the process that did the run's work. Workers judge their own processes;
// the coordinator's is idle.
func (r *Run) own() *verdict.Observed {
	o := r.Observed
	if o == nil || len(r.Workers) == 0 {
		return o
	}
	return &verdict.Observed{Steps: o.Steps, Suspensions: o.Suspensions, Growth: o.Growth, CaughtUp: o.CaughtUp, GivenUp: o.GivenUp}
}

// Dead is as verdict.Dead, of outages of the run.
func (r *Run) Dead(outages ...verdict.Outage) string {
	return verdict.Dead(outages, r.own(), r.MeasuredS)
}

// Silent is as verdict.Observed.Silent.
func (r *Run) Silent(in verdict.Outage) float64 { return r.own().Silent(in) }

// recordOf returns the run as the judgement sees it.
func recordOf(r *Run) verdict.Record {
	rec := verdict.Record{
		Going: r.EndedBy == StillRunning || r.EndedBy == "", InProcess: r.Store.InProcess,
		Early:   !r.Ended.IsZero() && r.Ended.Before(r.Measured),
		Seconds: r.MeasuredS, Observed: r.own(), Unit: r.Unit,
	}
	for _, f := range FaultSpans(r) {
		rec.Broken = append(rec.Broken, verdict.Broken{Name: f.Name(), From: f.From, To: f.To})
	}
	rec.Limit = r.full(0, r.MeasuredS)
	rec.Outages, rec.Emptied = r.Outages, r.Emptied
	if r.Observed != nil {
		rec.Restarts = r.Observed.Restarts
		if g := r.Observed.Growth; g != nil {
			rec.GrowthLimit = r.full(g.FromS, g.ToS)
		}
	}
	if r.WarmupUnsettled {
		rec.Unsettled = seconds(r.WarmupS)
	}
	for _, o := range r.Operations {
		op := judgedOp(r, o)
		op.TimedOut = r.TimedOut(&o)
		rec.Ops = append(rec.Ops, op)
	}
	if r.Mixes() > 0 {
		for _, s := range r.Stretches() {
			seg := verdict.Segment{From: s.From, To: s.To, Sought: soughtIn(r, s), Limit: r.full(s.From, s.To)}
			for _, o := range s.Operations {
				seg.Ops = append(seg.Ops, judgedOp(r, o))
			}
			rec.Segments = append(rec.Segments, seg)
		}
	}
	for i, s := range r.Segments {
		where := whereIn(r, i)
		for _, a := range s.Arrivals {
			c := came(a, where)
			c.Waited, c.Limit = waited(s.Operations, a.Track), r.full(s.From, s.To)
			rec.Came = append(rec.Came, c)
		}
		if q := s.Requests; q != nil {
			rec.Counted = append(rec.Counted, verdict.Counted{Segment: where, Seconds: q.Seconds, Asked: q.Asked, Made: q.Made, Uncounted: askedLate})
		}
		for _, a := range s.Accounts {
			rec.Accounts = append(rec.Accounts, verdict.Account{Track: a.Track, Segment: where, Seconds: s.To - s.From, Worked: a.Worked, Calls: a.Calls, Pauses: a.Pauses})
		}
	}
	if o := r.Observed; o != nil && o.Store != nil && o.Store.Made != nil && o.Store.Asked != nil {
		all := verdict.Counted{Seconds: r.MeasuredS, Asked: *o.Store.Asked, Made: *o.Store.Made}
		if r.WarmupS > 0 {
			all.Uncounted = askedLate
		}
		rec.Counted = append(rec.Counted, all)
	}
	if o := r.Observed; o != nil && len(r.Workers) > 0 {
		rec.Coordinator = o.CPU
	}
	for _, w := range r.Workers {
		judged := verdict.Worker{Number: w.Number, Host: w.Host, SkewMS: w.SkewMS, ChangeMS: w.ChangeMS, Known: w.KnownS, Lost: w.LostS, Dealt: w.DealtS, Heir: w.Heir, Dismissed: w.Dismissed, Stalls: w.Stalls, GivenUp: w.GivenUp, Doubts: w.Doubts, Company: w.Company, Unusable: unusable(w)}
		for _, a := range w.Arrivals {
			if a.Segment != nil {
				judged.Came = append(judged.Came, came(a, whereIn(r, *a.Segment)))
			}
		}
		rec.Workers = append(rec.Workers, judged)
	}
	for _, c := range r.Resumed {
		rec.Resumed = append(rec.Resumed, verdict.Resumed(c))
	}
	for _, ph := range r.Phases {
		p := verdict.Phase{Name: ph.Name, Seconds: ph.To - ph.From}
		for _, o := range r.Operations {
			if slices.Contains(ph.Tracks, o.Track) && r.Whole(o) {
				p.Calls += o.Calls
			}
		}
		rec.Phases = append(rec.Phases, p)
	}
	for _, e := range r.Errors {
		if e.Class == store.Lost.String() && r.Fails(Operation{Track: e.Track, Op: e.Op}) {
			rec.Lost += e.Count
		}
		if e.Class != store.Panicked.String() {
			continue
		}
		rec.Panics += e.Count
		if rec.PanicAt == "" && len(e.Messages) > 0 {
			rec.PanicAt = e.Messages[0]
		}
	}
	rec.Undone, rec.Unlike = r.Verification.Undone, r.Verification.Unlike
	switch r.Verification.State {
	case workload.Passed:
		rec.Verified = verdict.Passed
	case workload.Failed:
		rec.Verified = verdict.Failed
	case workload.Incomplete:
		rec.Verified = verdict.Incomplete
		if r.Verification.Summary == workload.Hurried {
			rec.Verified = verdict.Hurried
		}
	}
	if why, ok := strings.CutPrefix(r.EndedBy, "fault: "); ok {
		rec.Fault = "a fault ended the run early: " + why
	}
	if r.EndedBy == CutShort {
		rec.Fault = "the process of this run ended without a report, and nothing was verified: run again"
		rec.Verified = verdict.Unasked
	}
	return rec
}

// Searched reports whether a search turned the knobs of the run.
func (r *Run) Searched() bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.By == measure.BySearch })
}

// soughtIn reports whether a search opened a segment.
func soughtIn(r *Run, s Stretch) bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Segment == s.First && c.By == measure.BySearch })
}

// judgedOp returns an operation as the judgement sees it.
func judgedOp(r *Run, o Operation) verdict.Op {
	return verdict.Op{
		Name: o.Track + "." + o.Op, Counts: r.Counts(o), Within: !r.Fails(o), Over: r.left(o.Track),
		Count: o.Count, Unstarted: o.Unstarted, Calls: o.Calls, Errors: o.Errors,
		Response: o.Response.Summary(o.Calls), Lateness: o.Lateness.Summary(o.Calls), ServiceMean: o.Service.Mean, ServiceP50: o.Service.P50, ServiceP99: o.Service.P99,
	}
}

// left reports whether a run has gone on to other phases than those of a track.
func (r *Run) left(track string) bool {
	if len(r.Phases) == 0 {
		return false
	}
	last := r.Phases[len(r.Phases)-1].From
	begun := func(p Phase) bool { return slices.Contains(p.Tracks, track) }
	return slices.ContainsFunc(r.Phases, begun) && !slices.ContainsFunc(r.Phases, func(p Phase) bool { return begun(p) && p.To > last })
}

// Summary returns the latency of n values in the form used by judgements and by
// reports.
func (l Latency) Summary(n int64) measure.Summary {
	return measure.Summary{
		Count: n, Mean: l.Mean, Min: l.Min, P50: l.P50, P90: l.P90, P95: l.P95,
		P99: l.P99, P999: l.P999, P9999: l.P9999, Max: l.Max,
	}
}

// Shown returns l, a latency of n values, as reports and screens show it: percentiles
// that too few values support are measure.Hidden.
func (l Latency) Shown(n int64) Latency { return LatencyOf(l.Summary(n).Shown()) }

// rejudge replaces the verdict of a run that was never judged, or was judged in terms
// that we do not know.
func rejudge(r *Run) {
	if !verdict.Known(r.Verdict.State) || r.EndedBy == CutShort || r.EndedBy == StillRunning {
		r.Verdict = r.Judge()
	}
	fill(&r.Verdict.Reasons)
	fill(&r.Verdict.Causes)
	if v := r.Judge(); len(r.Verdict.Doubts) == 0 && slices.Equal(v.Causes, r.Verdict.Causes) { // of an older version
		r.Verdict.Doubts = v.Doubts
	}
}

// unusable is why what a worker sent cannot be used; empty: it can.
func unusable(w Worker) string {
	if !w.Unusable {
		return ""
	}
	return w.Fault
}
