package widget

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestTrustIsSaidInAWord(t *testing.T) {
	for _, c := range []struct {
		name string
		run  rundir.Run
		want string
	}{
		{"valid", rundir.Run{Verdict: rundir.Verdict{State: verdict.Valid}}, "✓ VALID"},
		{"with misgivings", rundir.Run{Verdict: rundir.Verdict{State: verdict.Degraded}}, "! DEGRADED"},
		{"data lost", rundir.Run{Verdict: rundir.Verdict{State: verdict.Invalid}, Verification: workload.Verification{State: workload.Failed}}, "✗ INVALID · verification failed"},
		{"threshold missed", rundir.Run{Verdict: rundir.Verdict{State: verdict.Valid, Thresholds: []rundir.Threshold{{Expr: "p99<1ms"}}}}, "✗ VALID · threshold missed"},
		{"threshold met", rundir.Run{Verdict: rundir.Verdict{State: verdict.Valid, Thresholds: []rundir.Threshold{{Expr: "p99<1ms", OK: true}}}}, "✓ VALID"},
		{"store away", rundir.Run{EndedBy: "duration", Verdict: rundir.Verdict{State: verdict.Degraded}, Verification: workload.Verification{State: workload.Incomplete}}, "✗ DEGRADED · not verified"},
		{"killed", rundir.Run{EndedBy: rundir.CutShort, Verdict: rundir.Verdict{State: verdict.Degraded}}, "! DEGRADED · cut short"},
		{"interrupted", rundir.Run{EndedBy: "interrupt", Verdict: rundir.Verdict{State: verdict.Valid}}, "✓ VALID · interrupted"},
		{"going on", rundir.Run{EndedBy: rundir.StillRunning}, "▶ still running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := Trust(monoStyles(), &c.run)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestAFailedVerificationHasNoThroughput(t *testing.T) {
	v := 10.0
	run := rundir.Run{MeasuredS: 10, Verification: workload.Verification{State: workload.Failed}, Operations: []rundir.Operation{{Count: 100, Throughput: &v}}}
	assert.True(t, math.IsNaN(FiguresOf(&run).Rate))
	run.Verification.State = workload.Passed
	assert.InDelta(t, 10, FiguresOf(&run).Rate, 1e-9)
}

func TestFiguresOfSeveralSegmentsAreMarked(t *testing.T) {
	v := 10.0
	run := rundir.Run{MeasuredS: 10, Operations: []rundir.Operation{{Count: 5000, Calls: 5000, Throughput: &v, Response: rundir.Latency{P99: 1e6}}}, Segments: make([]rundir.Segment, 1)}
	f := FiguresOf(&run)
	assert.Equal(t, []string{"500/s", "1 ms"}, []string{f.RateText(), f.P99Text()})
	run.Outages = []verdict.Outage{{From: 4, To: 6}}
	f = FiguresOf(&run)
	assert.Equal(t, []string{"~500/s", "1 ms"}, []string{f.RateText(), f.P99Text()}, "calls of an outage have no times")
	assert.Equal(t, "~ includes an outage", rundir.SignNote(&run))
	several := run
	several.Outages, several.Segments = nil, make([]rundir.Segment, 2)
	assert.Equal(t, "~ mixes segments between live changes, or includes an outage", rundir.SignNote(&run, &several))
	assert.Empty(t, rundir.SignNote(&rundir.Run{}))
	run.Outages, run.Segments = nil, make([]rundir.Segment, 3)
	f = FiguresOf(&run)
	assert.Equal(t, 3, f.Mixes)
	assert.Equal(t, []string{"~500/s", "~1 ms"}, []string{f.RateText(), f.P99Text()})
	f.Rate = math.NaN()
	assert.Equal(t, "–", f.RateText(), "a rate that is not known has no unit")
	run.Operations[0].Calls = 10
	f = FiguresOf(&run)
	assert.Equal(t, "–", f.P99Text(), "there is none to mark")
}
