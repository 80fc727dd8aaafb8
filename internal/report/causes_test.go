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
}
