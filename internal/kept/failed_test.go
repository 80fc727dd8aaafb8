package kept

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// A run of which so many calls failed that its verdict names them is found as failed, and any other
// doubt is none.
func TestRunsWithManyErrorsAreFoundAsFailed(t *testing.T) {
	of := func(cause verdict.Cause) Item {
		return Item{Run: &rundir.Run{ID: "r", Verdict: rundir.Verdict{State: verdict.Degraded, Causes: []string{string(cause)}}}}
	}
	for cause, want := range map[verdict.Cause]bool{verdict.Errors: true, verdict.Crowded: false} {
		i := of(cause)
		assert.Equal(t, want, i.Is(Failed), cause)
		assert.Equal(t, want, len(Filter{Verdicts: []string{Failed}}.Of([]Item{i})) == 1, cause)
		assert.Equal(t, "DEGRADED", i.JudgedBriefly(), "what is shorter has no other word")
	}
}

// A doubt stands beside the verdict with its first cause, where nothing else does that says more.
func TestAVerdictHasItsFirstCauseBesideIt(t *testing.T) {
	with := func(by string, causes ...string) *Item {
		return &Item{Run: &rundir.Run{EndedBy: by, Verdict: rundir.Verdict{State: verdict.Degraded, Causes: causes, Reasons: make([]string, len(causes))}}}
	}
	for _, c := range []struct {
		i           *Item
		full, brief string
	}{
		{with("duration", "errors", "crowded"), "DEGRADED: errors", "DEGRADED: errors"},
		{with("duration", "samples"), "DEGRADED: samples", "DEGRADED: samples"},
		{with("duration"), "DEGRADED", "DEGRADED"},
		{with("interrupt", "samples"), "DEGRADED · interrupted", "DEGRADED: samples"},
		{with("fault: no store", "errors"), "DEGRADED · ended by a fault", "DEGRADED · fault"},
		{with("duration", "unstarted"), "DEGRADED: never sent", "DEGRADED: never sent"},
		{with(rundir.StillRunning, "samples"), "still running", "still running"},
		{&Item{Run: &rundir.Run{EndedBy: rundir.StillRunning, Of: rundir.OfSweep}}, "still running, in a sweep", "still running, in a sweep"},
	} {
		assert.Equal(t, []string{c.full, c.brief}, []string{c.i.Because(c.i.Judged()), c.i.Because(c.i.JudgedBriefly())}, c.full)
	}
}

// Where there is little room, what failed is told in a word of its own.
func TestWhatFailedIsToldBriefly(t *testing.T) {
	for want, r := range map[string]rundir.Run{
		"DEGRADED · verification": {Verification: workload.Verification{State: workload.Failed}},
		"DEGRADED · missed":       {Verdict: rundir.Verdict{Thresholds: []rundir.Threshold{{Expr: "p99<1ms"}}}},
		"DEGRADED · not verified": {Verification: workload.Verification{State: workload.Incomplete}, EndedBy: "duration"},
		"DEGRADED · cut short":    {EndedBy: rundir.CutShort},
		"DEGRADED":                {EndedBy: "interrupt", Verification: workload.Verification{State: workload.Incomplete}},
	} {
		r.Verdict.State = verdict.Degraded
		i := Item{Run: &r}
		assert.Equal(t, want, i.JudgedBriefly())
	}
}

// A run whose store stayed away to its end says that nothing was verified, rather than that calls failed, and
// is marked and found as one that failed.
func TestARunWhoseStoreStayedAwayIsNotVerified(t *testing.T) {
	r := rundir.Run{EndedBy: "duration", Verdict: rundir.Verdict{State: verdict.Degraded, Causes: []string{"verification", "errors"}}, Verification: workload.Verification{State: workload.Incomplete}}
	i := Item{Run: &r}
	assert.Equal(t, "DEGRADED · not verified", i.Judged())
	assert.Equal(t, Bad, i.Class())
	assert.True(t, i.Is(Failed))
	r.EndedBy = "interrupt"
	assert.Equal(t, "DEGRADED · interrupted", i.Judged())
	assert.Equal(t, Doubtful, i.Class())
}
