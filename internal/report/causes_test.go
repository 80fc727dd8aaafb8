package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// An outage with which the reason for doubt begins is not told again; others are.
func TestAnOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	f := &rundir.Folder{Run: rundir.Run{
		Unit: "entries", MeasuredS: 30, EndedBy: "duration", Outages: []verdict.Outage{{From: 18, To: 23.5}},
		Operations: []rundir.Operation{{Track: "load", Op: "put", Count: 900, Calls: 900, Errors: 100}},
	}}
	outages := func() (out []string) {
		for _, c := range report.Causes(f) {
			if strings.Contains(strings.ToLower(c.Text), "nothing was done from") {
				out = append(out, c.Name)
			}
		}
		return out
	}
	f.Run.Verdict = f.Run.Judge()
	assert.Equal(t, []string{"errors"}, outages())
	f.Run.Outages = append(f.Run.Outages, verdict.Outage{From: 26, To: 28})
	f.Run.Verdict = f.Run.Judge()
	assert.Equal(t, []string{"errors", "outage", "outage"}, outages(), "the reason has the time of both")
	f.Run.Outages, f.Run.Operations[0].Errors = f.Run.Outages[:1], 0
	f.Run.Verdict = f.Run.Judge()
	assert.Equal(t, []string{"outage"}, outages())
	f.Run.Observed = &verdict.Observed{PausesAt: []verdict.Pause{{AtS: 18, ForS: 5}}}
	assert.Equal(t, []string{"pauses"}, outages(), "perfbench itself did not run")
	f.Run.Outages = append(f.Run.Outages, verdict.Outage{From: 25, To: 26})
	f.Run.Observed.PausesAt = append(f.Run.Observed.PausesAt, verdict.Pause{AtS: 25, ForS: 1})
	assert.Contains(t, report.Causes(f), report.Cause{
		Name: "pauses", Text: "Nothing was done from 00:18 to 00:23.5 of the run and 1 more time (6.5 s of 30 s): perfbench itself did not run.",
	}, "of which there is one line")
}

// A pause of the user is no limit of the run, though it is pacing to whoever reads run.json.
func TestAPauseIsNoLimit(t *testing.T) {
	t.Parallel()
	f := &rundir.Folder{Run: rundir.Run{Unit: "entries", MeasuredS: 30, Why: &rundir.Why{Parts: []rundir.WhyPart{
		{From: 0, To: 10, Resource: "pacing", Text: "The requested rate set the pace."},
		{From: 10, To: 14, Resource: "pacing", Text: "The run was paused, so nothing was done."},
		{From: 14, To: 30, Resource: "pacing", Text: "The requested rate set the pace."},
	}}}}
	assert.Equal(t, []report.Cause{
		{Name: "limited by", Text: "The requested rate set the pace"},
	}, report.Causes(f))
}
