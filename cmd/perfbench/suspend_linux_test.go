package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A run that is stopped and goes on stands still meanwhile: no time, duration or second
// of its has the gap. It says so: it is marked, and degrades the verdict.
func TestASuspendedRunSaysSo(t *testing.T) {
	t.Parallel()
	p := start(t, binary(t), "--target", "null:", "--duration", "4s", "--rate", "500")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
	time.Sleep(2 * time.Second) // how long it is stopped is what is tested
	require.NoError(t, p.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, 0, p.end(t), p.stderr.String())
	run := p.folder(t).Run
	require.NotNil(t, run.Observed)
	assert.Contains(t, run.Verdict.Causes, "suspended", "%+v\n%s", *run.Observed, p.stdout.String())
	longest := 0.0
	for _, gap := range run.Observed.Suspensions {
		longest = max(longest, gap.ForS)
	}
	assert.Greater(t, longest, 1.5)
	require.NotEmpty(t, run.Marks)
	assert.Contains(t, run.Marks[0].Note, "suspended for ")
	assert.Greater(t, run.MeasuredS, 3.5, "the phase has its time all the same")
	assert.Greater(t, run.Ended.Sub(run.Measured).Seconds(), run.MeasuredS+1.5, "beside the gap")
	require.NotEmpty(t, run.Operations)
	for _, o := range run.Operations {
		assert.Less(t, o.Response.Max, (2 * time.Second).Nanoseconds(), o.Op)
	}
	assert.Contains(t, p.stdout.String(), "verdict DEGRADED")
	assert.Regexp(t, `[0-9.]+ s measured, suspended for [0-9.]+ s more, ended by duration`, p.stdout.String())
}
