package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// It is searched for one base load, and told, on a server that does 250 calls a second.
func TestWhatARealServerRecoversFrom(t *testing.T) {
	tier.Full(t, "internal/find searches on memory: in virtual time")
	t.Parallel()
	recovered(t, slowRedis(t), sleepInRedis, "--from", "20", "--to", "20")
}

// Servers that do 250 calls a second, each for as long as it takes: a Redis one at a time, and a
// PostgreSQL four. Which base load they come back from depends on how busy the machine is; that it
// is searched for, from what they can do at most, and told does not.
func TestProofOfWhatRealServersRecoverFrom(t *testing.T) {
	tier.Proof(t, "TestWhatARealServerRecoversFrom tries one base load")
	t.Run("redis", func(t *testing.T) {
		recovered(t, slowRedis(t), sleepInRedis, "--from", "60", "--to", "400")
	})
	t.Run("postgres", func(t *testing.T) {
		recovered(t, with(labtest.Postgres(t).URL(), "connections=4"), "{statement: 'SELECT pg_sleep(0.016)', expect: 1}", "--from", "60", "--to", "400")
	})
}

const sleepInRedis = "{statement: 'DEBUG SLEEP 0.004'}"

func slowRedis(t *testing.T) string {
	t.Helper()
	return labtest.Redis(t, "--enable-debug-command", "yes").URL()
}

// recovered searches for what a target comes back from, and compares what is told with itself and
// with what the target can do.
func recovered(t *testing.T, target, statement string, levels ...string) {
	t.Helper()
	const most, deadline, within = 250.0, 0.2, 5.0
	dir := t.TempDir()
	workload := filepath.Join(dir, "slow.yaml")
	require.NoError(t, os.WriteFile(workload, []byte("data: {user: {records: 10}}\noperations: {slow: "+statement+"}\n"), 0o600))
	p := exec.Command(binary(t), append([]string{
		"find", "mix", "--file", workload, "--target", target, "--namespace", "recovered", "--under", "recovers<5s",
		"--client", "deadline=200ms,retries=2,backoff=20ms", "--threads", "128", "--duration", "2m", "--out", dir,
	}, levels...)...)
	p.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	said, err := p.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // nothing holds, on a machine as busy as that
		require.Equal(t, fault.CodeThreshold, exit.ExitCode(), string(said))
	} else {
		require.NoError(t, err)
	}
	assert.Contains(t, string(said), "base load  in time before  in time after")
	folder, err := rundir.Find(dir, "latest")
	require.NoError(t, err)
	r, err := find.Load(folder)
	require.NoError(t, err)
	require.NotNil(t, r.Recovery)
	assert.Equal(t, find.RecoverySought{PulseS: 1, WithinS: within, DeadlineS: deadline}, *r.Recovery)
	assert.True(t, r.Tried(), "%s", said)
	assert.LessOrEqual(t, r.Found, 1.2*most)
	for _, s := range r.Steps {
		require.NotNil(t, s.Recovered)
		assert.LessOrEqual(t, s.Recovered.Good, 1.2*most, "answers in time per second")
		assert.Equal(t, s.Held, s.Recovered.Took != nil, "%+v", s)
		if s.Held {
			assert.GreaterOrEqual(t, s.Recovered.Attempts, 1.0)
			assert.LessOrEqual(t, *s.Recovered.Took, within)
		}
		if s.Recovered.Unsteady {
			assert.Less(t, s.Recovered.Before, 1.0)
		}
	}
}
