package saga

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store/sqlstore/twophase"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/profiletest"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// away is how long a killed server stays away in these tests, at least.
const away = 500 * time.Millisecond

// survive runs sagas on a server that is killed in the middle and comes back.
func survive(t *testing.T, srv *labtest.Server, words ...string) (*Facts, workload.Verification) {
	t.Helper()
	p, _ := ready(t, srv.URL(), inputs(given(append([]string{
		"mode=saga", "threads=4", "transactions=100000000", "accountCount=100", "failRate=0.1", "retryInterval=500ms", "cronInterval=50ms", "checkInterval=0s",
	}, words...)...)))
	r := profiletest.Begin(t.Context(), t, p)
	until := func(what string, is func(f *Facts) bool) {
		t.Helper()
		require.Eventually(t, func() bool { return is(p.Facts().(*Facts)) }, time.Minute, 10*time.Millisecond, what)
	}
	until("sagas are done and undone", func(f *Facts) bool { return f.Done > 100 && f.Undone > 10 })
	srv.Kill()
	until("clients have missed the server", func(f *Facts) bool { return f.StallS >= away.Seconds() })
	srv.Restart()
	before := p.Facts().(*Facts)
	until("sagas end again", func(f *Facts) bool { return f.Done+f.Undone > before.Done+before.Undone+100 })
	r.Stop(nil)
	_, err := r.Wait()
	require.NoError(t, err)
	v := p.Verify(t.Context())
	return p.Facts().(*Facts), v
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
	for name, url := range map[string]func() string{
		model.TransSaga: func() string { return labtest.Redis(t).URL() },
		model.TransTCC:  func() string { return "sqlite:" + filepath.Join(dir, "tcc.db") },
		model.TransMsg:  func() string { return labtest.Shared(t, "postgres").URL() },
		model.TransXA:   func() string { return labtest.Shared(t, "mariadb").URL() },
	} {
		t.Run(name, func(t *testing.T) {
			k := killed{bin: bin, dir: t.TempDir(), url: url(), kind: name, namespace: "killed" + name}
			k.test(t)
		})
	}
	t.Run("not due", func(t *testing.T) {
		k := killed{bin: bin, dir: t.TempDir(), url: labtest.Redis(t).URL(), kind: model.TransSaga, namespace: "notdue"}
		k.leave(t)
	})
}

// killed is a run of a kind of transaction that is killed, and the next one.
type killed struct{ bin, dir, url, kind, namespace string }

func (k killed) command(words ...string) *exec.Cmd {
	cmd := exec.Command(k.bin, append([]string{
		"run", "--profile", "tx", "--target", k.url, "--out", filepath.Join(k.dir, "results"), "--namespace", k.namespace,
		"--set", "mode=saga", "--set", "transType=" + k.kind, "--set", "accountCount=1000", "--set", "retryInterval=300ms", "--set", "failRate=0.1",
		"--set", "ackLog=" + filepath.Join(k.dir, "acks"), "--threads", "8",
	}, words...)...)
	cmd.Dir = k.dir
	switch k.kind {
	case model.TransXA:
		cmd.Args = append(cmd.Args, "--set", "lockTimeout=0s", "--set", "timeout=500ms")
	case model.TransTCC, model.TransMsg:
		cmd.Args = append(cmd.Args, "--set", "timeout=500ms")
	}
	return cmd
}

func (k killed) test(t *testing.T) {
	first := k.atWork(t)
	theirs := k.plant(t)
	require.NoError(t, first.Process.Kill())
	_ = first.Wait() // killed
	time.Sleep(time.Second)

	out, err := k.command("--count", "200").CombinedOutput()
	require.NoError(t, err, "%s", out)
	f, v := k.second(t)
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Contains(t, v.Summary, "that earlier runs had acknowledged 0 are lost")
	assert.Contains(t, v.Summary, "taken up at the start")
	assert.Greater(t, f.EarlierAcked, int64(300))
	assert.Zero(t, f.EarlierLost)
	assert.Positive(t, f.AtStart.Found, "eight were under way")
	assert.Zero(t, f.AtStart.Undecided)
	theirs()
}

// leave kills a run whose sagas are not due for an hour: the next run leaves them
// alone, and misses none of the money that they have under way.
func (k killed) leave(t *testing.T) {
	const later = "retryInterval=1h"
	first := k.atWork(t, "--set", later)
	require.NoError(t, first.Process.Kill())
	_ = first.Wait() // killed

	out, err := k.command("--count", "200", "--set", later).CombinedOutput()
	require.NoError(t, err, "%s", out)
	f, v := k.second(t)
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Contains(t, v.Summary, "unfinished ones left alone that are not due yet, with ")
	assert.Positive(t, f.Left, "eight were under way")
	assert.Zero(t, f.AtStart.Found)
	assert.Zero(t, f.EarlierLost)
}

// atWork starts a run and waits until it has acknowledged a few hundred transactions.
func (k killed) atWork(t *testing.T, words ...string) *exec.Cmd {
	cmd := k.command(append(words, "--duration", "60s")...)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		st, err := os.Stat(filepath.Join(k.dir, "acks"))
		return err == nil && st.Size() > 10000
	}, 20*time.Second, 10*time.Millisecond, "it is at work")
	return cmd
}

// second reads the facts of the run that came after the one that was killed.
func (k killed) second(t *testing.T) (f Facts, v workload.Verification) {
	runs, err := filepath.Glob(filepath.Join(k.dir, "results", "*", "run.json"))
	require.NoError(t, err)
	require.Len(t, runs, 2)
	for _, name := range runs {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var r rundir.Run
		require.NoError(t, json.Unmarshal(data, &r))
		if r.EndedBy == "count" {
			require.NoError(t, json.Unmarshal(r.Facts, &f))
			v = r.Verification
		}
	}
	return f, v
}

// plant prepares a transaction of others, where the kind is one that is prepared in
// the database; what it returns sees to it that it is the only one left, and takes
// it away.
func (k killed) plant(t *testing.T) (check func()) {
	if k.kind != model.TransXA {
		return func() {}
	}
	db := typedSQL(t, k.url)
	conn, err := db.SQL().Conn(t.Context())
	require.NoError(t, err)
	for _, text := range []string{"XA START 'theirs','1'", "XA END 'theirs','1'", "XA PREPARE 'theirs','1'"} {
		_, err := conn.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
	return func() {
		_, err := conn.ExecContext(t.Context(), "XA ROLLBACK 'theirs','1'")
		require.NoError(t, err, "it is untouched")
		require.NoError(t, conn.Close())
		require.NoError(t, db.EnsureDatabase(t.Context(), k.namespace))
		x, err := twophase.New(t.Context(), db.SQL(), db.Dialect(), k.namespace)
		require.NoError(t, err)
		left, err := x.Prepared(t.Context())
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}
