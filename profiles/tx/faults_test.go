package tx

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// away is how long a killed server stays away in these tests, at least.
const away = 500 * time.Millisecond

// survive runs sagas on a server that is killed in the middle and comes back.
func survive(t *testing.T, srv *labtest.Server, words ...string) (*SagaFacts, workload.Verification) {
	t.Helper()
	p, _ := ready(t, srv.URL(), inputs(given(append([]string{
		"mode=saga", "threads=4", "transactions=100000000", "accountCount=100", "failRate=0.1", "retryInterval=500ms", "cronInterval=50ms", "checkInterval=0s",
	}, words...)...)))
	var over atomic.Bool
	finished := make(chan error)
	go func() {
		_, err := work(t.Context(), p, over.Load)
		finished <- err
	}()
	time.Sleep(time.Second)
	srv.Kill()
	time.Sleep(away)
	srv.Restart()
	time.Sleep(1500 * time.Millisecond)
	over.Store(true)
	require.NoError(t, <-finished)
	v := p.Verify(t.Context())
	return p.Facts().(*SagaFacts), v
}

func TestRedisKilledWithAppendOnlyFile(t *testing.T) {
	f, v := survive(t, labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always"))
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Zero(t, f.LostAcked)
	assert.Positive(t, f.Done)
	assert.Positive(t, f.Undone)
	assert.Positive(t, f.Unknown, "some were under way")
	assert.GreaterOrEqual(t, f.StallS, away.Seconds(), "nothing completed while it was away")
	for _, part := range []string{"all of them whole", "of " + strconv.FormatInt(f.Unknown, 10) + " the client was told nothing", "unfinished ones taken up", "nothing completed for"} {
		assert.Contains(t, v.Summary, part)
	}
}

func TestRedisKilledWithoutAppendOnlyFile(t *testing.T) {
	f, v := survive(t, labtest.Redis(t))
	assert.Equal(t, workload.Failed, v.State)
	assert.Positive(t, f.LostAcked, "what was acknowledged before is gone, and is counted")
	assert.GreaterOrEqual(t, f.StallS, away.Seconds())
	named := 0
	for _, c := range v.Checks {
		if c.Name == checkAcked {
			named = len(c.Examples)
			assert.Contains(t, c.Examples[0], "not there")
		}
		if c.Name == checkMoney {
			assert.False(t, c.OK, "the accounts are gone")
		}
	}
	assert.Equal(t, maxExamples, named)
	assert.Contains(t, v.Summary, strconv.FormatInt(f.LostAcked, 10)+" are lost or changed that were acknowledged")
	assert.Contains(t, v.Summary, "nothing completed for")
}

func TestMariaDBKilled(t *testing.T) {
	f, v := survive(t, labtest.MariaDB(t))
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Zero(t, f.LostAcked)
	assert.Positive(t, f.Done)
	assert.Positive(t, f.Unknown)
	assert.GreaterOrEqual(t, f.StallS, away.Seconds())
}

// perfbench itself is killed: the next run takes up what is unfinished, and checks
// what the log of the first says was acknowledged.
func TestPerfbenchKilled(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "perfbench")
	build := exec.Command("go", "build", "-o", bin, "github.com/perfbench/perfbench/cmd/perfbench")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	srv := labtest.Redis(t)
	log := filepath.Join(dir, "acks")
	command := func(words ...string) *exec.Cmd {
		cmd := exec.Command(bin, append([]string{
			"run", "--profile", "tx", "--target", srv.URL(), "--out", filepath.Join(dir, "results"), "--set", "mode=saga", "--set", "accountCount=100",
			"--set", "retryInterval=300ms", "--set", "failRate=0.1", "--set", "ackLog=" + log, "--threads", "8",
		}, words...)...)
		cmd.Dir = dir
		return cmd
	}
	first := command("--duration", "60s")
	require.NoError(t, first.Start())
	require.Eventually(t, func() bool {
		st, err := os.Stat(log)
		return err == nil && st.Size() > 10000
	}, 20*time.Second, 10*time.Millisecond, "it is at work")
	require.NoError(t, first.Process.Kill())
	_ = first.Wait() // killed
	time.Sleep(time.Second)

	out, err = command("--count", "200").CombinedOutput()
	require.NoError(t, err, "%s", out)
	runs, err := filepath.Glob(filepath.Join(dir, "results", "*", "run.json"))
	require.NoError(t, err)
	require.Len(t, runs, 2)
	var f SagaFacts
	for _, name := range runs {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var r rundir.Run
		require.NoError(t, json.Unmarshal(data, &r))
		if r.EndedBy == "count" {
			require.NoError(t, json.Unmarshal(r.Facts, &f))
			assert.Equal(t, workload.Passed, r.Verification.State, "%+v", r.Verification)
			assert.Contains(t, r.Verification.Summary, "that earlier runs had acknowledged 0 are lost")
			assert.Contains(t, r.Verification.Summary, "taken up at the start")
		}
	}
	assert.Greater(t, f.EarlierAcked, int64(300))
	assert.Zero(t, f.EarlierLost)
	assert.Positive(t, f.AtStart.Found, "eight were under way")
	assert.Zero(t, f.AtStart.Undecided)
}
