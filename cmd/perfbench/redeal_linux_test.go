package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
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

// units is how many the run did.
func units(run *rundir.Run) (n int64) {
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
	p, workers, _ := withWorkers(t, path, "--target", srv.URL(), "--rate", "900", "--count", "6001", "--threads", "8", "--payload", "64", "--patience", "2s", "--on-loss", "redeal")
	require.NoError(t, measured(p.out, 1))
	killed(t, p, workers[1])
	require.Zero(t, p.end(t), p.text(t))
	for _, i := range []int{0, 2} {
		require.NoError(t, workers[i].Wait(), "%s", workers[i].Stderr)
	}
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	assert.Contains(t, run.Verification.Summary, "6001 entries are there")
	assert.EqualValues(t, 6001, units(&run))
	gone := row(&run, workers[1])
	require.Len(t, gone, 1)
	assert.Equal(t, "gone", gone[0].State)
	require.NotNil(t, gone[0].DealtS)
	require.Len(t, run.Workers, 4)
	heir := run.Workers[3]
	assert.Equal(t, 4, gone[0].Heir)
	assert.Equal(t, gone[0].Number, heir.PartOf)
	assert.Equal(t, "ended", heir.State)
	assert.Positive(t, heir.Count)
	assert.True(t, slices.Contains([]int{workers[0].Process.Pid, workers[2].Process.Pid}, heir.PID))
	assert.Contains(t, strings.Join(run.Verdict.Reasons, "; "), "was done, or done again, by worker 4 from ")
}
