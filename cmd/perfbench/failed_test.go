package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// A failed verification is told once, by the worst of what is wrong with an example;
// the report has the rest.
func TestAFailedVerificationIsToldOnce(t *testing.T) {
	v := workload.Verification{State: workload.Failed, Summary: "a long story of 7 entries and of 900", Checks: []workload.Check{
		{Name: "profile: number of entries", Want: "1000", Got: "993"},
		{Name: "eligibility: number of entries", Want: "5000", Got: "4100", Examples: []string{"key 17", "key 18"}},
		{Name: "values", OK: true, Want: "10", Got: "10"},
		{Name: "links", Want: "10", Got: "9"},
	}}
	const worst = "eligibility: number of entries: expected 5000, found 4100, such as key 17; 2 more checks failed"
	assert.Equal(t, worst, v.Brief())
	run := rundir.Run{Verification: v, Verdict: rundir.Verdict{State: "failed", Reasons: []string{"verification failed"}}}
	err := fault.Code(errors.Join(fmt.Errorf("%s: %s", session.VerificationFailed, v.Brief()), errors.New("threshold p99<1ms missed")), fault.CodeVerification)
	for told, quiet := range map[string]bool{"results/x": false, "": true} {
		var out, errs strings.Builder
		a := &cli.Call{Env: cli.Env{Stdout: &out, Stderr: &errs}, Told: told}
		if !quiet {
			out.WriteString(cli.Summary(&run, told))
		}
		a.Report(err)
		all := out.String() + errs.String()
		assert.Equal(t, 1, strings.Count(all, worst), "quiet %t: %s", quiet, all)
		assert.NotContains(t, all, "a long story")
		assert.NotContains(t, all, "key 18")
		assert.Contains(t, errs.String(), "threshold p99<1ms missed")
		assert.Equal(t, !quiet, strings.Contains(all, "perfbench report results/x --format text --out -  shows all of it"))
	}
	assert.NotContains(t, strings.Join(run.Remarks(), "\n"), "a long story", "a report has it where it speaks of verification")
}
