package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A run that is stopped and goes on says so: it is marked, and degrades the verdict.
func TestASuspendedRunSaysSo(t *testing.T) {
	t.Parallel()
	p := start(t, binary(t), "--duration", "10m")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
	time.Sleep(1500 * time.Millisecond) // how long it is stopped is what is tested
	require.NoError(t, p.Process.Signal(syscall.SIGCONT))
	require.NoError(t, measured(p.out, 2))
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 130, p.end(t), p.stderr.String())
	run := p.folder(t).Run
	assert.Contains(t, run.Verdict.Causes, "suspended")
	require.NotNil(t, run.Observed)
	require.NotEmpty(t, run.Observed.Suspensions)
	assert.Greater(t, run.Observed.Suspensions[0].ForS, 1.0)
	require.NotEmpty(t, run.Marks)
	assert.Contains(t, run.Marks[0].Note, "suspended for ")
	assert.Contains(t, p.stdout.String(), "verdict DEGRADED")
}
