package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// While workers go on whose coordinator was killed, nobody else gets their data, and whoever
// tries is told until when.
func TestWorkersOfADeadCoordinatorKeepTheirData(t *testing.T) {
	tier.Full(t, "writers of internal/testing/storetest, on each store, and TestAKilledCoordinatorIsResumed")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, workers, _ := withWorkers(t, path, "--target", srv.URL(), "--rate", "600", "--duration", "10m", "--payload", "64")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, p.Process.Kill())
	_ = p.Wait()
	goesOn(t, srv)
	next := start(t, path, "--target", srv.URL(), "--count", "100")
	require.Equal(t, 2, next.end(t), next.stderr.String())
	assert.Contains(t, next.stderr.String(), "they have lost their coordinator, and may write until 20")
	goesOn(t, srv)
	for _, w := range workers {
		require.NoError(t, w.Process.Kill())
	}
	require.Eventually(t, func() bool {
		return exec.Command(path, "run", "ingestion", "--target", srv.URL(), "--count", "100", "--out", t.TempDir()).Run() == nil
	}, 2*time.Minute, time.Second, "their lease lapses")
}

// A worker that was stopped for longer than it is waited for writes nothing once its run has
// ended: what --cleanup has removed stays so.
func TestAWorkerThatWasStoppedWritesNothingLater(t *testing.T) {
	tier.Full(t, "Fence of internal/testing/storetest, on each store, and TestARunThatWasStoppedLeavesTheDataOfTheNext")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, workers, _ := withWorkers(t, path, "--target", srv.URL(), "--threads", "24", "--duration", "5s", "--payload", "64", "--patience", "2s", "--cleanup")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, workers[0].Process.Signal(syscall.SIGSTOP))
	p.end(t)
	assert.Empty(t, strings.TrimSpace(redisCLI(t, srv, "KEYS", "*")), p.text(t))
	require.NoError(t, workers[0].Process.Signal(syscall.SIGCONT))
	require.Error(t, workers[0].Wait(), "%s", workers[0].Stderr)
	assert.Empty(t, strings.TrimSpace(redisCLI(t, srv, "KEYS", "*")))
}

// A run that was stopped until another had the data and ended changes nothing of that one's.
func TestARunThatWasStoppedLeavesTheDataOfTheNext(t *testing.T) {
	tier.Full(t, "TestSignals: a frozen run, and the tests of leases")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p := start(t, path, "--target", srv.URL(), "--threads", "24", "--duration", "10m", "--payload", "64")
	require.NoError(t, measured(p.out, 1))
	require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool {
		return exec.Command(path, "run", "ingestion", "--target", srv.URL(), "--count", "3000", "--payload", "100", "--out", t.TempDir()).Run() == nil
	}, 2*time.Minute, time.Second, "its lease lapses")
	content := func() string {
		return redisCLI(t, srv, "EVAL", `local a = redis.call('HGETALL', KEYS[1]); local l = {}; for i = 1, #a, 2 do l[#l+1] = a[i] .. a[i+1] end; table.sort(l); return redis.sha1hex(table.concat(l))`, "1", "perfbench:eligibility")
	}
	want := content()
	require.NoError(t, p.Process.Signal(syscall.SIGCONT))
	require.Equal(t, 1, p.end(t), p.stderr.String())
	assert.Contains(t, p.stderr.String(), "meanwhile")
	assert.Equal(t, want, content())
}
