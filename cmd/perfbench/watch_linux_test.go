package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Two workbenches watch a run with workers that a third process drives: one by where workers join,
// which changes nothing and leaves, and one by the run's folder, which turns a knob and sees the end.
func TestWorkbenchesWatchARunOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, _, url := withWorkers(t, path, "--target", srv.URL(), "--rate", "600", "--duration", "10m", "--payload", "64")
	require.NoError(t, measured(p.out, 1))
	dir, err := rundir.Find(p.out, "latest")
	require.NoError(t, err)

	leaves := inTerminal(t, path, 100, 30, "tui", "--watch", url)
	leaves.shows("Bulk ingestion", "watching: no key changes the run")
	leaves.matches(`eligibility\.putall +[1-9]`)
	leaves.press("x", "q") // the first would stop a run of its own
	leaves.shows("exit code 0")

	stays := inTerminal(t, path, 100, 30, "tui", "--watch", dir)
	stays.matches(`eligibility\.putall +[1-9]`)
	stays.press("+")
	p.says(t, "threads ")
	stays.shows("undo own change")
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	stays.shows("Results", "ingestion on redis", "tab page") // the verdict of a crowded machine may leave no line for more
	stays.press("q")
	stays.shows("exit code 0", "It failed, with exit code 130: interrupted")

	run := p.folder(t).Run
	assert.Equal(t, "interrupt", run.EndedBy)
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	if assert.Len(t, run.Changes, 1) {
		assert.Equal(t, measure.ByWatcher, run.Changes[0].By)
	}
	assert.NoDirExists(t, filepath.Join(dir, "stream"))
	code, _, stderr := terminal(t, "", "", "tui", "--watch", dir)
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "the run in "+dir+" cannot be watched: it has ended")
}

// A coordinator that dies is named by who watches.
func TestWhoWatchesIsToldOfACoordinatorThatDies(t *testing.T) {
	tier.Full(t, "TestWorkbenchesWatchARunOfAnotherProcess")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, workers, url := withWorkers(t, path, "--target", srv.URL(), "--rate", "600", "--duration", "10m", "--payload", "64")
	require.NoError(t, measured(p.out, 1))
	s := inTerminal(t, path, 100, 30, "tui", "--watch", url)
	s.matches(`eligibility\.putall +[1-9]`)
	require.NoError(t, p.Process.Signal(syscall.SIGKILL))
	s.matches(`(?i)nothing was heard from the coordinator`)
	s.shows("the outcome of run")
	for _, w := range workers {
		_ = w.Process.Kill()
	}
}
