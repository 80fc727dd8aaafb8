package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/powercut"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// A setting that syncs what it acknowledges loses nothing in a power cut, and one that does not loses
// some, on each kind of server whose power can be cut.
func TestTheCostOfDurabilityAgainstWhatItLoses(t *testing.T) {
	tier.Full(t, "TestScripts/lab, where processes crash, and internal/lab's TestAPowerCutLosesWhatRedisHadNotSynced")
	t.Parallel()
	durability(t, "redis", "appendfsync=always,no", "1", "4s")
}

// throughBroker is a run through a broker that has something to lose.
var throughBroker = []string{
	"--target", "memory:?service=60ms", "--set", "via=lab:rabbitmq", "--set", "prefetchCount=1", "--rate", "2000", "--batch", "50", "--payload", "300", "--set", "query=off", "--quiet",
	"--drain", "90s", // the broker takes its time to come back
}

// What a broker has confirmed and kept in memory is lost when its power is cut. The store is so slow that
// batches wait in the queue.
func TestProofOfWhatBrokersLose(t *testing.T) {
	tier.Proof(t, "profiles/eventstore's TestBroker has a queue that is emptied, and internal/session's TestWhatStandsBetweenIsBroken a broker that is killed")
	run, dir := powered(t, "rabbitmq")
	run(t, slices.Concat([]string{"sweep", "event-store", "--over", "publish=confirm,confirmTransient,fireAndForget", "--fault", "via.power-cut", "--repeat", "3", "--duration", "4s", "--out", "swept"}, throughBroker)...)
	r := sweepIn(t, filepath.Join(dir, "swept"))
	assert.Equal(t, sweep.PowerCut, r.Crash)
	assert.True(t, r.Points[0].Safe(), "%+v", r.Points[0].Loss)
	assert.Positive(t, r.Points[1].Loss.Lossy, "%+v", r.Points[1].Loss)
	assert.Positive(t, r.Points[2].Loss.Lossy, "%+v", r.Points[2].Loss)
	for _, f := range runsIn(t, filepath.Join(dir, "swept")) {
		require.Len(t, f.Run.Faults, 1)
		assert.Equal(t, "via.power-cut:primary", f.Run.Faults[0].Name())
		assert.Positive(t, f.Run.Faults[0].Connections, "the generators came back")
	}
}

// A Redis without persistence loses all that it had when its power is cut. The account names it, and
// never more than was lost: what was acknowledged and is not there, as counted by the server itself.
func TestANamedLossIsNoMoreThanWasLost(t *testing.T) {
	tier.Full(t, "internal/lab's TestAPowerCutLosesWhatRedisHadNotSynced")
	t.Parallel()
	namedLosses(t, 1)
}

func TestProofThatANamedLossIsNoMoreThanWasLost(t *testing.T) {
	tier.Proof(t, "TestANamedLossIsNoMoreThanWasLost cuts once")
	namedLosses(t, 50)
}

func namedLosses(t *testing.T, cuts int) {
	t.Helper()
	run, dir := powered(t, "redis")
	events := filepath.Join(dir, "events.yaml")
	require.NoError(t, os.WriteFile(events, []byte("data: {event: {records: 1, size: 200}}\noperations: {store: {insert: event}}\n"), 0o600))
	for i := range cuts {
		out := fmt.Sprint("cut", i)
		run(t, "run", "mix", "--file", events, "--target", "lab:redis", "--namespace", out, "--load", "skip", "--rate", "500", "--duration", "1500ms",
			"--at", "800ms..900ms:fault=power-cut:primary", "--quiet", "--out", out)
		all := runsIn(t, filepath.Join(dir, out))
		require.Len(t, all, 1)
		r := &all[0].Run
		var acked, failed int64
		for _, o := range r.Operations {
			acked, failed = acked+o.Count, failed+o.Errors
		}
		there := keysOf(t, r.Target, out+":event:*")
		v := r.Verification
		require.NotNil(t, v.Lost, v.Summary)
		t.Logf("%d acknowledged, %d failed, %d are there, %d named as lost", acked, failed, there, *v.Lost)
		assert.Equal(t, workload.Failed, v.State, v.Summary)
		assert.Positive(t, *v.Lost)
		// What had no answer may be there, so as much more may be lost of what was acknowledged.
		assert.GreaterOrEqual(t, *v.Lost, acked-there)
		assert.LessOrEqual(t, *v.Lost, acked-there+min(failed, there), v.Summary)
	}
}

// keysOf counts the keys of a Redis that match a pattern.
func keysOf(t *testing.T, target, pattern string) int64 {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	c, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "EVAL \"return #redis.call('KEYS', ARGV[1])\" 0 %s\r\n", pattern)
	require.NoError(t, err)
	line, err := bufio.NewReader(c).ReadString('\n')
	require.NoError(t, err)
	n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(line, ":")), 10, 64)
	require.NoError(t, err, line)
	return n
}

// runsIn returns the runs of a folder.
func runsIn(t *testing.T, out string) (all []*rundir.Folder) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, "*", "run.json"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, path := range found {
		f, err := rundir.Load(filepath.Dir(path))
		require.NoError(t, err)
		all = append(all, f)
	}
	return all
}

func TestProofOfTheCostOfDurabilityAgainstWhatItLoses(t *testing.T) {
	tier.Proof(t, "TestTheCostOfDurabilityAgainstWhatItLoses has a Redis, and internal/lab's TestAPowerCutLosesWhatSQLServersHadNotSynced the others")
	for service, over := range map[string]string{
		"redis":     "appendfsync=always,everysec,no",
		"postgres":  "synchronous_commit=on,off",
		"mariadb":   "innodb_flush_log_at_trx_commit=1,2",
		"cassandra": "commitlog_sync=batch,group,periodic",
	} {
		t.Run(service, func(t *testing.T) { durability(t, service, over, "2", "4s") })
	}
}

// A primary that waits for its replica loses nothing that it acknowledged when it is killed, and the
// replica takes over. One that does not wait promises nothing, so nothing is asserted of it.
func TestProofThatSynchronousReplicasLoseNothing(t *testing.T) {
	tier.Proof(t, "internal/lab's TestAReplicaTakesOver has one failover of each kind of server")
	for service, over := range map[string]string{
		"postgres-standby": "synchronous_commit=on,local",
		"mariadb-replica":  "rpl_semi_sync_master_enabled=ON,OFF",
	} {
		t.Run(service, func(t *testing.T) {
			r := crashes(t, service, nil, over, "kill:primary", "3", "9s")
			assert.Equal(t, sweep.ProcessCrash, r.Crash)
			assert.True(t, r.Points[0].Safe(), "%+v", r.Points[0].Loss)
			t.Logf("%s: %+v and %+v", over, r.Points[0].Loss, r.Points[1].Loss)
		})
	}
}

// durability sweeps a setting of a server, of which the first value is safe and the last is not.
func durability(t *testing.T, service, over, repeat, duration string) {
	t.Helper()
	if err := powercut.Available(); err != nil {
		t.Skipf("power cuts are not tested: %v", err)
	}
	r := crashes(t, service, []string{"--power-cut"}, over, "power-cut", repeat, duration)
	assert.Equal(t, sweep.PowerCut, r.Crash)
	assert.True(t, r.Points[0].Safe(), "%+v", r.Points[0].Loss)
	last := r.Points[len(r.Points)-1]
	assert.Positive(t, last.Loss.Lossy, "%+v", last.Loss)
}

// crashes sweeps a setting of servers that are started with some flags, and has a fault in each run.
func crashes(t *testing.T, service string, up []string, over, broken, repeat, duration string) *sweep.Result {
	t.Helper()
	run, dir := started(t, service, up...)
	events := filepath.Join(dir, "events.yaml")
	require.NoError(t, os.WriteFile(events, []byte("data: {event: {records: 1, size: 200}}\noperations: {store: {insert: event}}\n"), 0o600))
	run(t, "sweep", "mix", "--file", events, "--target", "lab:"+service, "--over", over, "--fault", broken,
		"--repeat", repeat, "--rate", "200", "--duration", duration, "--warmup", "500ms", "--quiet", "--out", service,
		"--drain", "2m") // a Cassandra that starts again on a busy machine
	return sweepIn(t, filepath.Join(dir, service))
}

// powered is started with a power that can be cut; without such, it skips.
func powered(t *testing.T, service string) (run func(t *testing.T, args ...string), dir string) {
	t.Helper()
	if err := powercut.Available(); err != nil {
		t.Skipf("power cuts are not tested: %v", err)
	}
	return started(t, service, "--power-cut")
}

// started starts a service in a lab of the test's own, with some flags, and returns what runs perfbench
// there, in a folder. What a run or a sweep may find is no error.
func started(t *testing.T, service string, up ...string) (run func(t *testing.T, args ...string), dir string) {
	t.Helper()
	path, dir := binary(t), t.TempDir()
	run = func(t *testing.T, args ...string) {
		t.Helper()
		c := exec.Command(path, args...)
		c.Dir, c.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+dir)
		out, err := c.CombinedOutput()
		if err != nil && strings.Contains(string(out), powercut.ErrMissing.Error()) {
			t.Skipf("power cuts are not tested: %s", out)
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) && args[0] != "lab" { // most calls fail where starting it again takes long
			require.Contains(t, []int{fault.CodeThreshold, fault.CodeVerification}, exit.ExitCode(), "%q\n%s", args, out)
			return
		}
		require.NoError(t, err, "%q\n%s", args, out)
	}
	labtest.Need(t, service)
	run(t, append([]string{"lab", "up", service}, up...)...)
	t.Cleanup(func() { run(t, "lab", "down", service) })
	return run, dir
}

// sweepIn returns the only sweep below a folder.
func sweepIn(t *testing.T, out string) *sweep.Result {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(out, "*"+sweep.FolderEnd))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	r, err := sweep.Load(dirs[0])
	require.NoError(t, err)
	require.True(t, r.Complete())
	return r
}
