package rundir

import (
	"math"
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// SetResult writes the result of a run into its model: operations, segments, changes,
// errors and the measured length. It keeps no reference to res.
func SetResult(run *Run, res *measure.Result) {
	run.MeasuredS = res.Measured.Seconds()
	run.Operations, run.Response = operations(res.Ops), together(res.All)
	for i := range res.Ops {
		run.Operations[i].Slowest = slowest(res.Ops[i].Slowest[:])
	}
	c, _ := workload.ParseClient(run.Parameters["client"]) // it was read when the run was made
	inTime(run.Operations, res.Ops, c)
	run.Segments = make([]Segment, len(res.Segments))
	for i, s := range res.Segments {
		run.Segments[i] = Segment{
			From: s.From.Seconds(), To: s.To.Seconds(),
			Settings: copySettings(s.Settings), Operations: operations(s.Ops), Response: together(s.All),
		}
		inTime(run.Segments[i].Operations, s.Ops, c)
		for _, a := range s.Arrivals {
			run.Segments[i].Arrivals = append(run.Segments[i].Arrivals, ArrivalsOf(a))
		}
		for _, a := range s.Accounts {
			run.Segments[i].Accounts = append(run.Segments[i].Accounts, Account{Track: a.Track, Worked: a.Worked.Seconds(), Calls: a.Calls.Seconds(), Pauses: a.Pauses.Seconds()})
		}
		if s.SettingsEnd != nil {
			run.Segments[i].SettingsEnd = copySettings(s.SettingsEnd)
		}
	}
	run.Shares = nil
	for _, s := range res.Shares {
		run.Shares = append(run.Shares, Shares(s))
	}
	run.Sessions = nil
	for _, s := range res.Sessions {
		run.Sessions = append(run.Sessions, Sessions{Track: s.Track, Begun: s.Begun, Ended: s.Ended, Calls: s.Steps, LastedS: s.Lasted.Seconds(), InProgress: s.InProgress})
	}
	run.Phases = nil
	for _, p := range res.Phases {
		run.Phases = append(run.Phases, Phase{Name: p.Name, From: p.From.Seconds(), To: p.To.Seconds(), Tracks: p.Tracks})
	}
	run.PausedS = run.paused()
	run.Marks = nil
	for _, m := range res.Marks {
		run.Marks = append(run.Marks, Mark{At: m.At.Seconds(), Note: m.Note})
	}
	run.Changes = make([]Change, len(res.Changes))
	for i, c := range res.Changes {
		run.Changes[i] = Change{At: c.At.Seconds(), Name: c.Name, From: c.From, To: c.To, By: c.By, Segment: c.Segment, Ramp: c.Ramp}
	}
	run.Errors = make([]Error, len(res.Errors))
	for i, e := range res.Errors {
		run.Errors[i] = Error{Track: e.Track, Op: e.Op, Class: e.Class, Count: e.Count}
		for _, m := range res.Messages {
			if m.Operation == e.Operation && m.Class == e.Class {
				run.Errors[i].Messages = append(run.Errors[i].Messages, m.Text)
			}
		}
	}
	run.Silences, run.Sound, run.Outages = res.Silences, res.Sound, outages(run, res.Unanswered)
	run.Emptied = without(outages(run, res.Undone), run.Outages)
}

// ArrivalsOf returns arrivals as run.json has them.
func ArrivalsOf(a measure.Arrivals) Arrivals {
	return Arrivals{Track: a.Track, SpanS: a.Span.Seconds(), Spans: a.Spans, Mean: a.Mean, Asked: a.Asked, Begun: a.Begun, Moved: a.Moved, Late: a.Late}
}

// inTime says how many calls were answered within the client's deadline, if there was one.
func inTime(to []Operation, ops []measure.Totals, c workload.Client) {
	for i := range to {
		if c.Deadline > 0 {
			to[i].InTime = &ops[i].InTime
		}
	}
}

func operations(ops []measure.Totals) []Operation {
	out := make([]Operation, len(ops))
	for i, t := range ops {
		out[i] = Operation{
			Track: t.Track, Op: t.Op, Count: t.Count, Calls: t.Calls, Errors: t.Errors,
			Unstarted: t.Unstarted, Retries: t.Retries, Beyond: t.Beyond, ActiveS: t.Active.Seconds(),
			Response: LatencyOf(t.Response), Service: LatencyOf(t.Service), Wait: LatencyOf(t.Wait),
			Lateness: LatencyOf(t.Lateness),
		}
		if v := t.Throughput(); !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[i].Throughput = &v
		}
	}
	return out
}

// LatencyOf returns the part of a summary that documents show.
func LatencyOf(s measure.Summary) Latency {
	return Latency{
		Mean: s.Mean, Min: s.Min, P50: s.P50, P90: s.P90, P95: s.P95,
		P99: s.P99, P999: s.P999, P9999: s.P9999, Max: s.Max,
	}
}

// together returns the latency of all calls; nil: there was none.
func together(s measure.Summary) *Latency {
	if s.Count == 0 {
		return nil
	}
	l := LatencyOf(s)
	return &l
}

// slowest returns what documents show of requests of several calls; nil if no call was timed.
func slowest(list []measure.Slowest) (out []Slowest) {
	known := func(v int64) *int64 {
		if v == measure.Hidden {
			return nil
		}
		return &v
	}
	for _, s := range list {
		if s.Calls > 0 {
			out = append(out, Slowest{s.Calls, known(s.P50), known(s.P99)})
		}
	}
	return out
}

// copySettings copies m without values that JSON cannot represent.
func copySettings(m map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(m))
	for k, v := range m {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out[k] = v
		}
	}
	return out
}

// Failed reports whether the run's verification failed; it then has no throughput.
func (r *Run) Failed() bool { return r.Verification.State == workload.Failed }

// Unverified reports whether what is stored could not be verified, as when the store stayed away. Of a run
// that somebody interrupted, or whose process died, that is said instead.
func (r *Run) Unverified() bool {
	return r.Verification.State == workload.Incomplete && r.EndedBy != "interrupt" && r.EndedBy != CutShort && r.EndedBy != StillRunning
}

// settle prepares the run for writing: no nulls where lists belong, and no throughput
// after a failed verification.
func (r *Run) settle() {
	r.Schema = Schema
	fill(&r.Operations)
	fill(&r.Segments)
	fill(&r.Changes)
	fill(&r.Errors)
	fill(&r.Notices)
	fill(&r.Verdict.Reasons)
	fill(&r.Verdict.Causes)
	fillMap(&r.Settings)
	fillMap(&r.Parameters)
	fillMap(&r.Origins)
	fillMap(&r.Environment)
	r.Segments = slices.Clone(r.Segments)
	for i := range r.Segments {
		fill(&r.Segments[i].Operations)
		fillMap(&r.Segments[i].Settings)
	}
	if r.Verification.State == "" {
		r.Verification = workload.Verification{State: workload.Incomplete, Summary: "the run has not reached its verification"}
	}
	if !r.Failed() {
		return
	}
	r.Operations = slices.Clone(r.Operations)
	for i := range r.Operations {
		r.Operations[i].Throughput = nil
	}
	for i := range r.Segments {
		r.Segments[i].Operations = slices.Clone(r.Segments[i].Operations)
		for k := range r.Segments[i].Operations {
			r.Segments[i].Operations[k].Throughput = nil
		}
	}
}

func fill[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}

func fillMap[V any](m *map[string]V) {
	if *m == nil {
		*m = map[string]V{}
	}
}
