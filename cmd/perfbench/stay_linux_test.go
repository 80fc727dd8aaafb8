package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// swept is a sweep that a command under way has done, or is about to.
func swept(t *testing.T, p *logged) *sweep.Result {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(p.out, "*"+sweep.FolderEnd))
	require.NoError(t, err)
	require.Len(t, dirs, 1, "%s", p.text(t))
	r, err := sweep.Load(dirs[0])
	require.NoError(t, err)
	return r
}

// pids are the processes that worked for a run.
func pids(t *testing.T, p *logged, id string) (out []int) {
	t.Helper()
	f, err := rundir.Load(filepath.Join(p.out, id))
	require.NoError(t, err)
	for _, w := range f.Run.Workers {
		out = append(out, w.PID)
	}
	return out
}

// The same workers do all runs of a sweep, over TLS with a certificate that was made for it,
// and end with the last.
func TestASweepHasTheSameWorkersForAllRuns(t *testing.T) {
	t.Parallel()
	path, srv, dir := binary(t), labtest.Redis(t), t.TempDir()
	token := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(token, []byte("0123456789abcdef0123456789abcdef\n"), 0o600))
	p := startCommand(t, path, dir, "sweep", "ingestion", "--target", srv.URL(), "--over", "threads=4,8", "--repeat", "1", "--duration", "1s", "--warmup", "0s", "--payload", "64", "--rate", "500",
		"--allow-existing", "--workers", "2", "--listen", "127.0.0.1:0", "--token-file", token, "--tls-self-signed")
	p.says(t, "--fingerprint ")
	print := regexp.MustCompile("--fingerprint ([0-9a-f]+)").FindStringSubmatch(p.text(t))[1]
	var want []int
	for _, w := range joined(t, path, whereToJoin.FindStringSubmatch(p.text(t))[1], 2, "--token-file", token, "--fingerprint", print) {
		want = append(want, w.Process.Pid)
		defer func() {
			require.NoError(t, w.Wait(), "%s", w.Stderr)
			assert.Equal(t, 2, strings.Count(text(w), "done: "), "%s", w.Stderr)
		}()
	}
	require.Zero(t, p.end(t), p.text(t))
	r := swept(t, p)
	assert.True(t, r.Complete())
	assert.Equal(t, 2, r.Workers)
	assert.Contains(t, p.stdout.String(), "each run: 2 workers")
	for _, d := range r.Runs {
		assert.ElementsMatch(t, want, pids(t, p, d.ID))
		assert.NoDirExists(t, filepath.Join(p.out, d.ID, "stream"))
	}
}

// text is what a worker that has ended said.
func text(w *exec.Cmd) string {
	b, _ := w.Stderr.(interface{ String() string })
	return b.String()
}

// A worker that is lost is replaced by whoever joins next: the run that it was lost in goes on
// without it, and the next waits.
func TestASweepWaitsForAWorkerThatWasLost(t *testing.T) {
	tier.Full(t, "TestASweepHasTheSameWorkersForAllRuns")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p := startCommand(t, path, t.TempDir(), "sweep", "ingestion", "--target", srv.URL(), "--over", "rate=300,400", "--repeat", "1", "--duration", "3s", "--warmup", "0s", "--payload", "64",
		"--threads", "4", "--allow-existing", "--workers", "2", "--listen", "127.0.0.1:0", "--patience", "1s")
	p.says(t, "perfbench join ")
	url := whereToJoin.FindStringSubmatch(p.text(t))[1]
	workers := joined(t, path, url, 2)
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, workers[1].Process.Kill())
	p.says(t, "run 2 of 2 ")
	other := joined(t, path, url, 1)[0]
	require.Zero(t, p.end(t), p.text(t))
	require.NoError(t, workers[0].Wait(), "%s", workers[0].Stderr)
	require.NoError(t, other.Wait(), "%s", other.Stderr)
	r := swept(t, p)
	require.Len(t, r.Runs, 2)
	assert.Equal(t, "DEGRADED", r.Runs[0].Verdict)
	assert.ElementsMatch(t, []int{workers[0].Process.Pid, other.Process.Pid}, pids(t, p, r.Runs[1].ID))
}

// A sweep that is interrupted sends its workers home; one that is killed is gone on with, by
// the same command and workers that join it.
func TestASweepThatWasKilledGoesOnWithWorkers(t *testing.T) {
	tier.Full(t, "TestASweepHasTheSameWorkersForAllRuns")
	t.Parallel()
	path, srv, dir := binary(t), labtest.Redis(t), t.TempDir()
	begin := func() (p *logged, url string) {
		p = startCommand(t, path, dir, "sweep", "ingestion", "--target", srv.URL(), "--over", "rate=300,310,…,370", "--repeat", "1", "--duration", "1s", "--warmup", "0s", "--payload", "64",
			"--threads", "4", "--allow-existing", "--workers", "1", "--listen", "127.0.0.1:0")
		p.says(t, "perfbench join ")
		return p, whereToJoin.FindStringSubmatch(p.text(t))[1]
	}
	p, url := begin()
	goesOn := func(p *logged) {
		p.says(t, fmt.Sprintf("goes on: %d of 8 runs are done", len(swept(t, p).Runs)))
	}
	w := joined(t, path, url, 1)[0]
	p.says(t, "run 2 of 8 ") // the others take much longer than to see that
	require.NoError(t, p.Process.Kill())
	_ = p.Wait()
	require.NoError(t, w.Process.Kill())
	_ = w.Wait()

	p, url = begin()
	goesOn(p)
	before := len(swept(t, p).Runs)
	w = joined(t, path, url, 1)[0]
	p.says(t, fmt.Sprintf("run %d of 8 ", before+2))
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	if err := w.Wait(); err != nil { // it may have joined a run that did not begin
		assert.Contains(t, text(w), "before the run began")
	}

	p, url = begin()
	goesOn(p)
	w = joined(t, path, url, 1)[0]
	require.Zero(t, p.end(t), p.text(t))
	require.NoError(t, w.Wait(), "%s", w.Stderr)
	r := swept(t, p)
	assert.True(t, r.Complete())
}

// A worker that stays does the runs of one coordinator after those of another, at a NATS of
// the user, until it is interrupted.
func TestAWorkerThatStaysDoesTheRunsOfManyCoordinators(t *testing.T) {
	tier.Full(t, "TestASweepHasTheSameWorkersForAllRuns")
	t.Parallel()
	path, srv, url := binary(t), labtest.Redis(t), natsOfTheUser(t)
	w := startCommand(t, path, t.TempDir(), "join", url, "--stay")
	w.says(t, "waiting for runs at "+url)
	same := []string{"--target", srv.URL(), "--count", "2000", "--payload", "64", "--allow-existing", "--workers", "1", "--nats", url}
	repeats := startLogged(t, path, "ingestion", append(same, "--repeat", "2")...)
	require.Zero(t, repeats.end(t), repeats.text(t))
	assert.Contains(t, repeats.stdout.String(), "2 runs of ingestion")
	failing := startLogged(t, path, "ingestion", append(same, "--threshold", "p99<1ns")...)
	require.Equal(t, 5, failing.end(t), failing.text(t))
	w.says(t, failing.folder(t).Run.ID+", worker 1 of 1: done: 2000 entries")
	assert.Equal(t, 3, strings.Count(w.text(t), "\nrun "), "one sentence of each run: %s", w.text(t))
	require.NoError(t, w.Process.Signal(os.Interrupt))
	require.Zero(t, w.end(t), w.text(t))
}
