package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// causes are those of doubts, and of what each of them shows.
func causes(all []Doubt) map[Cause][]Cause {
	out := map[Cause][]Cause{}
	for _, d := range all {
		shows := []Cause{}
		for _, s := range d.Shows {
			shows = append(shows, s.Cause)
		}
		out[d.Cause] = shows
	}
	return out
}

// crammed is a run on a machine that others keep busy, with all that this does to it.
func crammed() Record {
	const us, ms = 1000, 1_000_000
	r := clean()
	shared(&r, 0.5, 0.3, 0.8, 0.6, 2)
	o := r.Observed
	o.Pauses, o.PausedS, o.WakeP90 = 20, 5.5, 8*ms
	o.Growth = &Growth{FromS: 20, ToS: r.Seconds, From: 10, To: 300, Rate: 2500, PausedS: 0.4}
	r.Ops[0].Lateness.P50 = 90 * us
	r.Came = []Came{{Track: "puts", Span: 0.01, Asked: 1, Begun: 6, Moved: 0.2, Late: 0.2}}
	return r
}

// A machine that is busy with others is one doubt with one cure, whatever it does to a run; what has
// another cause stands by itself. All reasons are there one by one as well.
func TestReasonsOfOneCauseAreToldTogether(t *testing.T) {
	r := crammed()
	r.Ops[0].Unstarted = 400
	v := Judge(r)
	assert.Len(t, v.Reasons, 7)
	require.Len(t, v.Doubts, 1, "%+v", v.Doubts)
	assert.Equal(t, map[Cause][]Cause{Crowded: {Pauses, Lateness, Arrivals, Backlog, Unstarted, Scheduler}}, causes(v.Doubts))
	d := v.Doubts[0]
	assert.Contains(t, d.Text, "other processes used 1.2 processors of this machine")
	assert.Contains(t, d.Text, ": stop them, or use a machine that has processors to spare")
	for _, s := range d.Shows {
		assert.NotContains(t, s.Text, "lower the rate", "the cure is that of the cause")
		assert.NotContains(t, s.Text, "leave the machine to perfbench")
	}
	assert.Contains(t, d.Sentence(), "to spare. It shows in this: perfbench got no processor for 5.5 s of the run, in 20 pauses; perfbench started")
	for _, x := range v.Reasons {
		assert.NotEqual(t, Suspended, x.Cause, "who waits for a processor was not stopped")
	}

	r.Observed.Growth.PausedS, r.Ops[0].Errors = 0, 400
	assert.Equal(t, map[Cause][]Cause{Crowded: {Pauses, Lateness, Arrivals, Scheduler}, Backlog: {Unstarted}, Errors: {}}, causes(Judge(r).Doubts),
		"a rate that is too high, and calls that fail, are something else")
}

// Each cause explains what it can, and no more.
func TestCausesExplainWhatTheyCan(t *testing.T) {
	const us = 1000
	for name, c := range map[string]struct {
		change func(*Record)
		want   map[Cause][]Cause
	}{
		"a stop by hand does not explain a full machine": {func(r *Record) {
			*r = crammed()
			r.Observed.Suspensions, r.Observed.Growth = []Suspension{{AtS: 3, ForS: 5}}, nil
		}, map[Cause][]Cause{Suspended: {}, Crowded: {Pauses, Lateness, Arrivals, Scheduler}}},
		"a long wait for a processor is no stop": {func(r *Record) {
			*r = crammed()
			r.Observed.Pauses, r.Observed.PausedS, r.Observed.PausesAt, r.Observed.Growth = 1, 5, []Pause{{AtS: 3, ForS: 5}}, nil
		}, map[Cause][]Cause{Crowded: {Pauses, Lateness, Arrivals, Scheduler}}},
		"short stops by hand make calls late": {func(r *Record) {
			r.Observed.Pauses, r.Observed.PausedS, r.Ops[0].Lateness.P50 = 3, 0.8, 90*us
		}, map[Cause][]Cause{Suspended: {Lateness}}},
		"a quota": {func(r *Record) {
			r.Observed.Quota, r.Observed.Cores, r.Observed.Periods, r.Observed.Throttled, r.Observed.ThrottledS = 1.6, 1.6, 600, 300, 8
			r.Observed.Pauses, r.Observed.PausedS, r.Ops[0].Lateness.P50 = 30, 6, 90*us
		}, map[Cause][]Cause{Throttled: {Pauses, Lateness, CPU}}},
		"collections of garbage that wait for a processor": {func(r *Record) {
			*r = crammed()
			r.Observed.Growth, r.Observed.GCPauses, r.Observed.GCCPU = nil, 0.02, 0.1
		}, map[Cause][]Cause{Crowded: {Pauses, Lateness, Arrivals, Scheduler, GC}}},
		"collections of garbage that take processors": {func(r *Record) {
			*r = crammed()
			r.Observed.Growth, r.Observed.GCPauses, r.Observed.GCCPU = nil, 0.02, 0.3*r.Observed.Cores
		}, map[Cause][]Cause{Crowded: {Pauses, Lateness, Arrivals, Scheduler}, GC: {}}},
		"a hypervisor": {func(r *Record) {
			r.Observed.Stolen, r.Observed.Pauses, r.Observed.PausedS, r.Observed.SchedP50 = 0.2, 30, 6, 60*us
		}, map[Cause][]Cause{Stolen: {Pauses, Scheduler}}},
		"perfbench at its limit": {func(r *Record) {
			r.Observed.CPU, r.Observed.GCCPU, r.Observed.Ceilings[0].PerS, r.Observed.SchedP50 = 7.5, 1.5, 5_400, 60*us
		}, map[Cause][]Cause{CPU: {Scheduler, GC, Ceiling}}},
		"a store that was away": {func(r *Record) {
			r.Ops[0].Errors, r.Ops[0].Unstarted, r.Outages = 4000, 900, []Outage{{From: 40, To: 60}}
			r.Observed.Growth = &Growth{FromS: 20, ToS: 60, From: 10, To: 30000, Rate: 2500}
		}, map[Cause][]Cause{Errors: {Backlog, Unstarted}}},
		"a store that was away long before": {func(r *Record) {
			r.Ops[0].Errors, r.Outages = 4000, []Outage{{From: 4, To: 6}}
			r.Observed.Growth = &Growth{FromS: 40, ToS: 60, From: 10, To: 30000, Rate: 2500}
		}, map[Cause][]Cause{Errors: {}, Backlog: {}}},
		"work that was due in the last moments of a perfbench that is late": {func(r *Record) {
			*r = crammed()
			r.Observed.Growth, r.Ops[0].Count, r.Ops[0].Unstarted, r.Ops[0].Lateness.P99 = nil, 300_000, 400, 300_000*us
		}, map[Cause][]Cause{Crowded: {Pauses, Lateness, Arrivals, Unstarted, Scheduler}}},
		"work that was due for longer": {func(r *Record) {
			*r = crammed()
			r.Observed.Growth, r.Ops[0].Count, r.Ops[0].Unstarted, r.Ops[0].Lateness.P99 = nil, 300_000, 4000, 300_000*us
		}, map[Cause][]Cause{Crowded: {Pauses, Lateness, Arrivals, Scheduler}, Unstarted: {}}},
		"what voids a run stands by itself": {func(r *Record) {
			*r = crammed()
			r.Observed.Growth, r.Accounts = nil, []Account{account(0.1)}
		}, map[Cause][]Cause{Laws: {}, Crowded: {Pauses, Lateness, Arrivals, Scheduler}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := clean()
			c.change(&r)
			assert.Equal(t, c.want, causes(Judge(r).Doubts))
		})
	}
}

// Every cause has one explanation at most that goes round: none explains what explains it.
func TestExplanationsDoNotGoRound(t *testing.T) {
	place := map[Cause]int{}
	for i, e := range explanations {
		if _, there := place[e.cause]; !there {
			place[e.cause] = i
		}
	}
	for _, e := range explanations {
		for _, c := range e.of {
			at, is := place[c]
			assert.True(t, !is || c == e.cause || at > place[e.cause] || c == Suspended && e.cause == Memory, "%s explains %s", e.cause, c)
		}
	}
}

// A verdict of which only causes and texts are known, as of an older version, is told in the same way.
func TestAnOlderVerdictIsTold(t *testing.T) {
	got := Told(Degraded, []string{"lateness", "crowded", "changes"}, []string{"late; wait", "others: stop them", "settings changed"})
	assert.Equal(t, []Doubt{{Cause: Crowded, Text: "others: stop them", Shows: []Doubt{{Cause: Lateness, Text: "late; wait"}}}, {Cause: "changes", Text: "settings changed"}}, got)
	d, ok := Of(got, Lateness)
	assert.True(t, ok)
	assert.Equal(t, Crowded, d.Cause)
	_, ok = Of(got, Panic)
	assert.False(t, ok)
}
