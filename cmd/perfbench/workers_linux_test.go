package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
)

// whereToJoin finds what the coordinator says of it.
var whereToJoin = regexp.MustCompile(`perfbench join (\S+)\n`)

// withWorkers starts a run and three workers.
func withWorkers(t *testing.T, path string, args ...string) (p *logged, workers []*exec.Cmd) {
	t.Helper()
	p = startLogged(t, path, "ingestion", append(args, "--workers", "3", "--listen", "127.0.0.1:0")...)
	p.says(t, "perfbench join nats://")
	url := whereToJoin.FindStringSubmatch(p.text(t))[1]
	for range 3 {
		w := exec.Command(path, "join", url)
		w.Env = []string{"PATH=" + os.Getenv("PATH")}
		w.Stderr = &bytes.Buffer{}
		require.NoError(t, w.Start())
		t.Cleanup(func() { _ = w.Process.Kill() }) // long gone, unless the test has failed
		workers = append(workers, w)
	}
	return p, workers
}

// Three workers write what one process would, to the byte, and their figures are one.
func TestWorkersWriteWhatOneProcessWould(t *testing.T) {
	path, srv := binary(t), labtest.Redis(t)
	same := []string{"--target", srv.URL(), "--count", "3001", "--threads", "8", "--payload", "64", "--allow-existing"}
	contents := func() map[string]string {
		out := map[string]string{}
		for _, key := range []string{"perfbench:eligibility", "perfbench:profile"} {
			out[key] = redisCLI(t, srv, "EVAL", `local a = redis.call('HGETALL', KEYS[1]); local l = {}; for i = 1, #a, 2 do l[#l+1] = a[i] .. a[i+1] end; table.sort(l); return #l .. ' ' .. redis.sha1hex(table.concat(l))`, "1", key)
		}
		return out
	}
	one := start(t, path, same...)
	require.Zero(t, one.end(t), one.stderr.String())
	want := contents()
	redisCLI(t, srv, "FLUSHALL")

	p, workers := withWorkers(t, path, same...)
	for _, w := range workers {
		require.NoError(t, w.Wait(), "%s", w.Stderr)
	}
	require.Zero(t, p.end(t), p.text(t))
	assert.Equal(t, want, contents())
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	require.Len(t, run.Workers, 3)
	var done, all int64
	for _, w := range run.Workers {
		assert.Equal(t, "ended", w.State)
		assert.Positive(t, w.Count)
		done += w.Count
	}
	for _, o := range run.Operations {
		all += o.Count
	}
	assert.EqualValues(t, 3001, all)
	assert.Equal(t, all, done)
}

// A worker that is killed is missed and named, and the others go on.
func TestAKilledWorkerIsMissed(t *testing.T) {
	path, srv := binary(t), labtest.Redis(t)
	p, workers := withWorkers(t, path, "--target", srv.URL(), "--rate", "600", "--duration", "10m", "--payload", "64", "--at", "0.5s:rate=900")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, workers[1].Process.Kill())
	p.says(t, "was lost")
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	assert.Contains(t, run.Verdict.Causes, "workers")
	require.Len(t, run.Segments, 2)
	assert.EqualValues(t, 900, run.Segments[1].Settings["rate"])
	states := map[string][]rundir.Worker{}
	for _, w := range run.Workers {
		states[w.State] = append(states[w.State], w)
	}
	require.Len(t, states["gone"], 1)
	assert.Len(t, run.Workers, 3)
	gone := states["gone"][0]
	assert.Equal(t, workers[1].Process.Pid, gone.PID)
	assert.NotNil(t, gone.LostS)
	assert.NotNil(t, gone.KnownS)
}
