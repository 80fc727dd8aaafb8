package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// A coordinator that is killed is resumed: workers have gone on, and the report has all that
// the store holds, by a NATS within the coordinator and by one of the user, beyond a change of
// settings and over a token and TLS.
func TestAKilledCoordinatorIsResumed(t *testing.T) {
	t.Parallel()
	path := binary(t)
	for name, place := range map[string]func(t *testing.T) (listen, join []string){
		"its own NATS": func(*testing.T) (listen, join []string) {
			return []string{"--listen", "127.0.0.1:0", "--cleanup", "--on-loss", "redeal"}, nil
		},
		"token and TLS": func(t *testing.T) (listen, join []string) {
			token := filepath.Join(t.TempDir(), "token")
			require.NoError(t, os.WriteFile(token, []byte("0123456789abcdef0123456789abcdef\n"), 0o600))
			return []string{"--listen", "127.0.0.1:0", "--token-file", token, "--tls-self-signed"}, []string{"--token-file", token}
		},
		"the user's NATS": func(t *testing.T) (listen, join []string) {
			return []string{"--nats", natsOfTheUser(t)}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "its own NATS" {
				tier.Full(t, "the case of its own NATS")
			}
			srv := labtest.Redis(t)
			listen, join := place(t)
			p := startLogged(t, path, "ingestion", append([]string{"--target", srv.URL(), "--rate", "600", "--count", "12000", "--payload", "64", "--at", "1s:rate=900", "--workers", "2"}, listen...)...)
			p.says(t, "perfbench join ")
			said := whereToJoin.FindStringSubmatch(p.text(t))
			if print := regexp.MustCompile("--fingerprint ([0-9a-f]+)").FindStringSubmatch(p.text(t)); print != nil {
				join = append(join, "--fingerprint", print[1])
			}
			workers := joined(t, path, said[1], 2, join...)
			p.says(t, "rate 600 ")
			require.NoError(t, measured(p.out, 6))
			dir, err := rundir.Find(p.out, "latest")
			require.NoError(t, err)
			refused := func(why string, args ...string) {
				out, err := exec.Command(path, append([]string{"resume"}, args...)...).CombinedOutput()
				exit, ok := errors.AsType[*exec.ExitError](err)
				require.True(t, ok, "%s", out)
				assert.Equal(t, 2, exit.ExitCode(), "%s", out)
				assert.Contains(t, string(out), why)
			}
			require.NoError(t, p.Process.Kill())
			_ = p.Wait()
			goesOn(t, srv)

			q := resumed(t, p, path, dir)
			q.says(t, "the coordinator was resumed, after ")
			require.Zero(t, q.end(t), q.text(t))
			for _, w := range workers {
				require.NoError(t, w.Wait(), "%s", w.Stderr)
			}
			f := q.folder(t)
			run := f.Run
			assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
			assert.Contains(t, run.Verdict.Causes, "workers")
			require.Len(t, run.Resumed, 1)
			assert.Positive(t, run.Resumed[0].ForS)
			require.Len(t, run.Workers, 2)
			var done, told, seconds int64
			for _, o := range run.Operations {
				done += o.Count
			}
			for _, w := range run.Workers {
				assert.Equal(t, "ended", w.State)
				told += w.Count
				for _, a := range w.Applied { // of those who were reached once more
					assert.Less(t, a.AtS, run.Resumed[0].AtS, "it came into force before")
				}
			}
			for _, r := range f.Series {
				seconds += r.Count
			}
			assert.EqualValues(t, 12000, done)
			assert.Equal(t, done, told)
			assert.Equal(t, done, seconds, "each second has its own")
			require.Len(t, run.Segments, 2)
			assert.EqualValues(t, 900, run.Segments[1].Settings["rate"])
			require.Len(t, run.Changes, 1)
			if slices.Contains(listen, "--cleanup") {
				done = 0 // what the run made is removed at its end
			}
			assert.EqualValues(t, done, stored(t, srv))
			assert.NoDirExists(t, filepath.Join(dir, "stream"))
			refused("has come to its end", dir)
		})
	}
}

// A coordinator that dies after it has dealt what a lost worker had is resumed, and so is the
// one in its place: the others make the whole rate again.
func TestACoordinatorThatHasDealtIsResumedTwice(t *testing.T) {
	tier.Full(t, "TestAKilledCoordinatorIsResumed has one that is resumed once")
	t.Parallel()
	path, srv := binary(t), labtest.Redis(t)
	p, lost, dir := dealt(t, path, srv.URL())
	for range 2 {
		require.NoError(t, p.Process.Kill())
		_ = p.Wait()
		goesOn(t, srv)
		p = resumed(t, p, path, dir)
		p.says(t, "the coordinator was resumed, after ")
	}
	require.Eventually(t, func() bool {
		said := strings.Split(p.text(t), "the coordinator was resumed, after ") // what came before is said again
		return len(said) == 3 && strings.Contains(said[2], "were dealt to workers ")
	}, 5*time.Minute, 20*time.Millisecond, "they are dealt once more")
	makesAll(t, dir)
	require.NoError(t, p.Process.Signal(os.Interrupt))
	require.Equal(t, 130, p.end(t), p.text(t))
	run := p.folder(t).Run
	assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
	require.Len(t, run.Resumed, 2)
	for i, w := range run.Workers {
		gone := w.PID == lost
		assert.Equal(t, gone, w.DealtS != nil, "worker %d", i+1)
	}
}

// resumed goes on with a run that was killed.
func resumed(t *testing.T, p *logged, path, dir string) *logged {
	t.Helper()
	q := &logged{process: &process{Cmd: exec.Command(path, "resume", dir), out: p.out}, log: filepath.Join(t.TempDir(), "stderr")}
	stderr, err := os.Create(q.log)
	require.NoError(t, err)
	t.Cleanup(func() { _ = stderr.Close() })
	q.Dir, q.Env, q.Stdout, q.Cmd.Stderr = p.Dir, p.Env, &q.stdout, stderr
	require.NoError(t, q.Start())
	t.Cleanup(func() { _ = q.Process.Kill() }) // long gone, unless the test has failed
	return q
}

// natsOfTheUser starts a NATS with JetStream, and returns its URL.
func natsOfTheUser(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(time.Minute))
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s.ClientURL()
}
