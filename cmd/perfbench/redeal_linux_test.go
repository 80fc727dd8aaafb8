package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// killed kills a worker and waits until that is known.
func killed(t *testing.T, p *logged, w *exec.Cmd) {
	t.Helper()
	require.NoError(t, w.Process.Kill())
	_ = w.Wait()
	p.says(t, "was lost")
}

// row is what run.json has of a process.
func row(run *rundir.Run, w *exec.Cmd) (out []rundir.Worker) {
	for _, one := range run.Workers {
		if one.PID == w.Process.Pid {
			out = append(out, one)
		}
	}
	return out
}

// done is how many the run did.
func done(run *rundir.Run) (n int64) {
	for _, o := range run.Operations {
		n += o.Count
	}
	return n
}

// What a killed worker had left to do is done by another, so that all keys are there and the
// count is that which was asked for.
func TestTheRestOfAKilledWorkerIsDoneByAnother(t *testing.T) {
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, workers, _ := withWorkers(t, path, "--target", srv.URL(), "--rate", "900", "--count", "6001", "--threads", "8", "--payload", "64", "--patience", "5s", "--on-loss", "redeal")
	require.NoError(t, measured(p.out, 1))
	killed(t, p, workers[1])
	require.Zero(t, p.end(t), p.text(t))
	for _, i := range []int{0, 2} {
		require.NoError(t, workers[i].Wait(), "%s", workers[i].Stderr)
	}
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	assert.Contains(t, run.Verification.Summary, "6001 entries are there")
	assert.EqualValues(t, 6001, done(&run))
	gone := row(&run, workers[1])
	require.Len(t, gone, 1)
	assert.Equal(t, "gone", gone[0].State)
	require.NotNil(t, gone[0].DealtS)
	require.Greater(t, len(run.Workers), 3)
	require.LessOrEqual(t, gone[0].Heir, len(run.Workers))
	heir := run.Workers[gone[0].Heir-1]
	assert.Equal(t, gone[0].Number, heir.PartOf)
	assert.Positive(t, heir.Count)
	assert.True(t, slices.Contains([]int{workers[0].Process.Pid, workers[2].Process.Pid}, heir.PID))
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "; "), fmt.Sprintf("was done, or done again, by worker %d from ", heir.Number))
}

// A worker that was stopped for so long that another has its part is told to end when it is
// back, and what it says does not count.
func TestAStoppedWorkerWhosePartWasDealtIsToldToEnd(t *testing.T) {
	tier.Full(t, "TestTheRestOfAKilledWorkerIsDoneByAnother")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, workers, _ := withWorkers(t, path, "--target", srv.URL(), "--rate", "600", "--count", "1M", "--payload", "64", "--patience", "5s", "--on-loss", "redeal")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, workers[0].Process.Signal(syscall.SIGSTOP))
	p.says(t, "had left to do was dealt to worker ")
	require.NoError(t, workers[0].Process.Signal(syscall.SIGCONT))
	p.says(t, "was told to end")
	require.NoError(t, workers[0].Wait(), "%s", workers[0].Stderr)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	var all int64
	for _, w := range run.Workers {
		all += w.Count
	}
	assert.Equal(t, done(&run), all)
	stopped := row(&run, workers[0])
	require.NotEmpty(t, stopped)
	assert.True(t, stopped[0].Dismissed)
	assert.Equal(t, "stalled", stopped[0].State)
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "; "), "it came back, and was told to end")
}
