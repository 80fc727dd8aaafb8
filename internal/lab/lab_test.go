//go:build linux || darwin

package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
)

// needRedis skips the test, or fails it in CI, where there is no redis-server.
func needRedis(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("install the Debian package redis-server")
		}
		t.Skip("SKIPPED, NOTHING WAS TESTED: install the Debian package redis-server")
	}
}

// labDir is a state directory in which nothing runs any more after the test.
func labDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state dir", "lab")
	t.Cleanup(func() {
		for _, s := range lab.Services() {
			if err := lab.Down(context.Background(), dir, s.Name, nil); !errors.Is(err, lab.ErrNotRunning) {
				assert.NoError(t, err)
			}
		}
	})
	return dir
}

func up(t *testing.T, dir, name string) lab.State {
	t.Helper()
	needRedis(t)
	st, err := lab.Up(t.Context(), dir, name, lab.Options{Tied: true})
	require.NoError(t, err)
	return st
}

// gone reports whether no process has that id, zombies included.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestFromUpToDown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, prefix, suffix string
		processes            int
		inURL                string // the servers that it names
	}{
		{"redis", "redis://", "", 1, "redis"},
		{"redis-cluster", "redis+cluster://", "", 3, "node"},
		{"redis-sentinel", "redis+sentinel://", "/perfbench", 5, "sentinel"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := labDir(t)
			st := up(t, dir, tt.name)
			assert.Equal(t, lab.Running, st.Condition)
			assert.NotEmpty(t, st.Version)
			require.Len(t, st.Processes, tt.processes)
			var addrs []string
			for _, p := range st.Processes {
				assert.True(t, p.Alive)
				host, _, err := net.SplitHostPort(p.Addr)
				require.NoError(t, err)
				assert.Equal(t, "127.0.0.1", host)
				if strings.HasPrefix(p.Name, tt.inURL) {
					addrs = append(addrs, p.Addr)
				}
			}
			assert.Equal(t, tt.prefix+strings.Join(addrs, ",")+tt.suffix, st.URL)

			all, err := lab.Status(dir)
			require.NoError(t, err)
			require.Len(t, all, 1)
			assert.Equal(t, st.Processes, all[0].Processes)
			assert.Equal(t, lab.Running, all[0].Condition)

			url, err := lab.Resolve(dir, "lab:"+tt.name+"?db=3")
			require.NoError(t, err)
			assert.Equal(t, st.URL+"?db=3", url)

			again, err := lab.Up(t.Context(), dir, tt.name, lab.Options{})
			require.NoError(t, err)
			assert.Equal(t, st.Processes, again.Processes, "the second up starts nothing")

			require.NoError(t, lab.Down(t.Context(), dir, tt.name, nil))
			for _, p := range st.Processes {
				assert.True(t, gone(p.PID), p.Name)
			}
			assert.NoDirExists(t, st.Dir)
			all, err = lab.Status(dir)
			require.NoError(t, err)
			assert.Empty(t, all)
		})
	}
}

func TestWhatIsNotRunning(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	_, err := lab.Resolve(dir, "lab:redis")
	require.ErrorIs(t, err, lab.ErrNotRunning)
	assert.EqualError(t, err, "target lab:redis: not running")
	assert.Equal(t, "perfbench lab up redis", fault.HintOf(err))
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))

	err = lab.Down(t.Context(), dir, "redis", nil)
	require.ErrorIs(t, err, lab.ErrNotRunning)
	assert.EqualError(t, err, "lab: redis is not running")

	url, err := lab.Resolve(dir, "redis://elsewhere:6379")
	require.NoError(t, err)
	assert.Equal(t, "redis://elsewhere:6379", url, "other targets pass")
}

func TestWrongNamesGetTheNearestRightOne(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	_, upErr := lab.Up(t.Context(), dir, "redis-clutser", lab.Options{})
	downErr := lab.Down(t.Context(), dir, "redis-clutser", nil)
	for _, err := range []error{upErr, downErr} {
		require.EqualError(t, err, `lab: unknown service "redis-clutser"`)
		assert.Contains(t, fault.HintOf(err), "did you mean redis-cluster")
		assert.Contains(t, fault.HintOf(err), "perfbench lab up --help shows all")
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

// A target of the lab that there is not lists those that run, and says how to start one.
func TestAnUnknownTargetListsThoseThatRun(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	_, err := lab.Resolve(dir, "lab:")
	require.EqualError(t, err, "target lab: names no service; nothing is running")
	assert.Contains(t, fault.HintOf(err), "perfbench lab up redis starts one")
	up(t, dir, "redis")
	_, err = lab.Resolve(dir, "lab:redis-clutser")
	require.EqualError(t, err, "target lab:redis-clutser: there is no such service; running: lab:redis")
	assert.Contains(t, fault.HintOf(err), "did you mean lab:redis-cluster? perfbench lab up redis-cluster starts one")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	running, all := lab.Targets(dir)
	assert.Equal(t, []string{"lab:redis"}, running)
	assert.Subset(t, all, []string{"lab:redis", "lab:postgres", "lab:redis-cluster"})
}

func TestMissingProgramNamesItsPackage(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	_, err := lab.Up(t.Context(), dir, "redis", lab.Options{
		LookPath: func(string) (string, error) { return "", exec.ErrNotFound },
	})
	require.EqualError(t, err, "lab: redis: redis-server is not on the PATH")
	assert.Contains(t, fault.HintOf(err), "apt-get install redis-server")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.NoDirExists(t, filepath.Join(dir, "redis"))
}

func TestServerKilledByHand(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	st := up(t, dir, "redis")
	log, err := os.OpenFile(filepath.Join(st.Processes[0].Dir, "log"), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = log.WriteString("Terminating due to java.lang.OutOfMemoryError: Java heap space\n") // as a JVM would
	require.NoError(t, errors.Join(err, log.Close()))
	assert.Empty(t, lab.OutOfHeap(dir, st.URL), "it runs")
	require.NoError(t, lab.Kill(t.Context(), dir, "redis", "redis"))
	assert.Equal(t, "java.lang.OutOfMemoryError: Java heap space", lab.OutOfHeap(dir, st.URL))
	assert.Empty(t, lab.OutOfHeap(dir, "redis://127.0.0.1:1"), "another server")

	all, err := lab.Status(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, lab.Dead, all[0].Condition)
	assert.Zero(t, all[0].Uptime())
	_, err = lab.Resolve(dir, "lab:redis")
	require.ErrorIs(t, err, lab.ErrNotRunning)
	assert.EqualError(t, err, "target lab:redis: not running any more")
	assert.Equal(t, "perfbench lab heal redis", fault.HintOf(err), "as lab status says: its data are still there")

	fresh := up(t, dir, "redis")
	assert.Equal(t, lab.Running, fresh.Condition, "up replaces a dead one")
	assert.NotEqual(t, st.Processes[0].PID, fresh.Processes[0].PID)

	require.NoError(t, lab.Kill(t.Context(), dir, "redis", "redis"))
	require.NoError(t, lab.Down(t.Context(), dir, "redis", nil), "down clears a dead one away")
	assert.NoDirExists(t, st.Dir)
}

func TestHalfDeadServiceIsLeftToDown(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	st := up(t, dir, "redis-cluster")
	require.NoError(t, lab.Kill(t.Context(), dir, st.Name, "node-2"))
	_, err := lab.Up(t.Context(), dir, st.Name, lab.Options{})
	require.EqualError(t, err, "lab: redis-cluster is only partly running")
	assert.Contains(t, fault.HintOf(err), "perfbench lab down redis-cluster")
	require.NoError(t, lab.Restart(t.Context(), dir, st.Name, "node-2"))
	_, err = lab.Up(t.Context(), dir, st.Name, lab.Options{})
	assert.NoError(t, err)
}

// A recycled process id must not be mistaken for the server that had it.
func TestDownSparesAStrangerWithTheSamePID(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	st := up(t, dir, "redis")
	stranger := exec.CommandContext(t.Context(), "sleep", "600")
	require.NoError(t, stranger.Start())
	t.Cleanup(func() { _ = stranger.Wait() }) // killed with the context
	require.NoError(t, lab.Kill(t.Context(), dir, "redis", "redis"))

	path := filepath.Join(st.Dir, "state.json")
	var record map[string]any
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &record))
	record["processes"].([]any)[0].(map[string]any)["pid"] = stranger.Process.Pid
	b, err = json.Marshal(record)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o600))

	all, err := lab.Status(dir)
	require.NoError(t, err)
	assert.Equal(t, lab.Dead, all[0].Condition)
	require.NoError(t, lab.Down(t.Context(), dir, "redis", nil))
	assert.False(t, gone(stranger.Process.Pid))
}

func TestFrozenServerIsReportedAndEnded(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	st := up(t, dir, "redis")
	require.NoError(t, lab.Pause(dir, "redis", "redis"))
	_, err := lab.Up(t.Context(), dir, "redis", lab.Options{})
	require.ErrorContains(t, err, "redis is already running but does not answer")
	require.NoError(t, lab.Down(t.Context(), dir, "redis", nil))
	assert.True(t, gone(st.Processes[0].PID))
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	t.Parallel()
	needRedis(t)
	for _, name := range []string{"redis-cluster", "redis-sentinel"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := labDir(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var pids []int
			_, err := lab.Up(ctx, dir, name, lab.Options{Tied: true, Progress: func(step string) {
				if !strings.HasPrefix(step, "forming") && !strings.HasPrefix(step, "waiting for the sentinels") {
					return
				}
				all, err := lab.Status(dir)
				assert.NoError(t, err)
				for _, p := range all[0].Processes {
					pids = append(pids, p.PID)
				}
				assert.Equal(t, lab.Starting, all[0].Condition)
				cancel()
			}})
			require.ErrorIs(t, err, context.Canceled)
			require.GreaterOrEqual(t, len(pids), 3)
			for _, pid := range pids {
				assert.True(t, gone(pid), "process %d", pid)
			}
			assert.NoDirExists(t, filepath.Join(dir, name))
		})
	}
}

func TestBadConfigurationShowsTheServersOwnWords(t *testing.T) {
	t.Parallel()
	needRedis(t)
	dir := labDir(t)
	_, err := lab.Up(t.Context(), dir, "redis", lab.Options{Args: []string{"--maxmemroy", "1mb"}})
	require.ErrorContains(t, err, "redis ended by itself; its log ends with:")
	require.ErrorContains(t, err, "maxmemroy")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.NoDirExists(t, filepath.Join(dir, "redis"))

	_, err = lab.Up(t.Context(), dir, "redis", lab.Options{Args: []string{"1mb"}})
	require.ErrorContains(t, err, `server argument "1mb": it must follow one that begins with --`)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestPortCanBeChosenUnlessItIsTaken(t *testing.T) {
	t.Parallel()
	needRedis(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, text, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	dir := labDir(t)
	_, err = lab.Up(t.Context(), dir, "redis", lab.Options{Port: port})
	require.ErrorContains(t, err, "the port was taken by somebody else")
	require.NoError(t, taken.Close())

	st, err := lab.Up(t.Context(), dir, "redis", lab.Options{Port: port, Tied: true})
	require.NoError(t, err)
	assert.Equal(t, "redis://127.0.0.1:"+text, st.URL)
	_, err = lab.Up(t.Context(), dir, "redis", lab.Options{Port: port + 1})
	require.EqualError(t, err, "lab: redis is already running, with other settings")
	_, err = lab.Up(t.Context(), dir, "redis-cluster", lab.Options{Port: port})
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestCallsAtOnceTakeTurns(t *testing.T) {
	t.Parallel()
	needRedis(t)
	dir := labDir(t)
	states := make([]lab.State, 4)
	var wg sync.WaitGroup
	for i := range states {
		wg.Go(func() {
			var err error
			states[i], err = lab.Up(t.Context(), dir, "redis", lab.Options{Tied: true})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	for _, st := range states {
		assert.Equal(t, states[0].Processes, st.Processes, "one server for all")
	}
}

func TestWaitingForAnotherHolderEndsWithTheContext(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	f, err := os.Create(filepath.Join(dir, "redis.lock"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told []string
	_, err = lab.Up(ctx, dir, "redis", lab.Options{Progress: func(s string) {
		told = append(told, s)
		cancel()
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{"waiting for another perfbench that starts or stops redis"}, told)
	require.NoError(t, f.Close())
}

func TestUptimeCountsFromReady(t *testing.T) {
	t.Parallel()
	st := lab.State{Condition: lab.Running, Started: time.Now().Add(-90 * time.Second)}
	assert.InDelta(t, 90, st.Uptime().Seconds(), 30)
	st.Condition = lab.Dead
	assert.Zero(t, st.Uptime())
}
