//go:build trust

package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/verdict"
)

// clientFault is a run that something on the client's machine spoils.
type clientFault struct {
	name  string
	want  []verdict.Cause // any of them
	flags []string
	env   string // NAME=VALUE of the process
	param string // of the target
	// target is another than the Redis.
	target string
	// beside, when set, works until the run is over; it gets the run's process.
	beside func(ctx context.Context, t *testing.T, pid int)
}

var (
	closed  = []string{"--threads=4"}
	slow    = []string{"--threads=8", "--rate=500"}
	quick   = []string{"--threads=8", "--rate=5000"}
	others  = []verdict.Cause{verdict.Crowded}
	waiting = []verdict.Cause{verdict.Crowded, verdict.Lateness}
)

var clientFaults = []clientFault{
	{name: "three hogs, closed loop", want: others, flags: closed, beside: hogs(3, "0")},
	{name: "three hogs, 500/s", want: waiting, flags: slow, beside: hogs(3, "0")},
	{name: "three hogs, 5,000/s", want: waiting, flags: quick, beside: hogs(3, "0")},
	{name: "two hogs at nice -5, closed loop", want: others, flags: closed, beside: hogs(2, "-5")},
	{name: "two hogs at nice -5, 500/s", want: waiting, flags: slow, beside: hogs(2, "-5")},
	{name: "two hogs, closed loop", want: others, flags: closed, beside: hogs(2, "0")},
	{name: "two hogs, one thread", want: others, flags: []string{"--threads=1"}, beside: hogs(2, "0")},
	{name: "one hog, closed loop", want: others, flags: closed, beside: hogs(1, "0")},
	{name: "four hogs, 32 threads", want: others, flags: []string{"--threads=32"}, beside: hogs(4, "0")},
	{name: "three stops of 0.3 s", want: []verdict.Cause{verdict.Suspended}, flags: closed, beside: stops(3, 300*time.Millisecond)},
	{name: "three stops of 0.3 s, 500/s", want: []verdict.Cause{verdict.Suspended}, flags: slow, beside: stops(3, 300*time.Millisecond)},
	{name: "one stop of 2 s", want: []verdict.Cause{verdict.Suspended}, flags: closed, beside: stops(1, 2*time.Second)},
	{name: "six stops of 0.15 s", want: []verdict.Cause{verdict.Suspended}, flags: slow, beside: stops(6, 150*time.Millisecond)},
	{name: "a pool of one connection", want: []verdict.Cause{verdict.Pool}, flags: []string{"--threads=16"}, param: "pipelining=off&connections=1"},
	{name: "a pool of two connections", want: []verdict.Cause{verdict.Pool}, flags: []string{"--threads=32"}, param: "pipelining=off&connections=2"},
	{name: "one processor for 64 threads", want: []verdict.Cause{verdict.CPU, verdict.Scheduler}, flags: []string{"--threads=64", "--payload=16"}, env: "GOMAXPROCS=1", param: "pipelining=off"},
	{name: "a collector that never rests", want: []verdict.Cause{verdict.GC}, flags: []string{"--threads=8", "--payload=4096"}, env: "GOGC=1"},
	{name: "a rate beyond what one thread does", want: []verdict.Cause{verdict.Backlog, verdict.Unstarted}, flags: []string{"--threads=1", "--rate=200k"}},
	{name: "too few calls", want: []verdict.Cause{verdict.Samples}, flags: []string{"--threads=2", "--rate=20"}},
	{name: "hogs beside a run of 16 KB values", want: others, flags: []string{"--threads=4", "--payload=16384"}, beside: hogs(3, "0")},
}

// hogs keeps as many processors busy, at that priority, until the run is over.
func hogs(n int, nice string) func(context.Context, *testing.T, int) {
	return func(ctx context.Context, t *testing.T, _ int) {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				_ = exec.CommandContext(ctx, "nice", "-n", nice, "sh", "-c", "exec sh -c 'while :; do :; done'").Run() // it ends with ctx
			})
		}
		all.Wait()
		assert.Error(t, ctx.Err(), "the hogs ended before the run")
	}
}

// stops stops the run as often, for so long, with a while between.
func stops(n int, long time.Duration) func(context.Context, *testing.T, int) {
	return func(ctx context.Context, _ *testing.T, pid int) {
		for i := 0; i < n && store.Pause(ctx, 900*time.Millisecond) == nil; i++ {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			_ = store.Pause(ctx, long)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

// ran carries out a run and returns its record.
func ran(t *testing.T, binary, target string, c clientFault, seconds int) rundir.Run {
	t.Helper()
	if c.param != "" {
		target += "?" + c.param
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"run", "ingestion", "--set=testCase=put", "--target=" + target, fmt.Sprintf("--duration=%ds", seconds), "--out=" + dir}, c.flags...)...)
	cmd.Env = append(os.Environ(), c.env)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	ctx, cancel := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	if c.beside != nil {
		beside.Go(func() { c.beside(ctx, t, cmd.Process.Pid) })
	}
	err := cmd.Wait()
	cancel()
	beside.Wait()
	require.NoError(t, err, said.String())
	runs, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, runs, 1)
	f, err := rundir.Load(runs[0])
	require.NoError(t, err)
	return f.Run
}

func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "perfbench")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../../cmd/perfbench").CombinedOutput()
	require.NoError(t, err, string(out))
	return binary
}

// Of thirty runs of 6 to 20 s with nothing wrong about them, at most two are not VALID;
// of twenty spoilt by what is done to the client, nineteen say so. Its figures are those of
// the machine: run it on one that has nothing else to do, as a user who may lower nice. Each
// run can be done by itself (-run 'TestVerdictsCanBeTrusted/spoilt/one_hog'), which then must
// be right.
func TestVerdictsCanBeTrusted(t *testing.T) {
	binary, srv := build(t), labtest.Redis(t)
	t.Run("clean", func(t *testing.T) {
		runs, doubted := 0, 0
		kinds := []clientFault{
			{name: "closed loop", flags: closed},
			{name: "500 a second", flags: slow},
			{name: "5,000 a second", flags: quick},
			{name: "one thread", flags: []string{"--threads=1"}},
			{name: "null", flags: slow, target: "null:"},
			{name: "memory", flags: quick, target: "memory:"},
		}
		for i := range 30 {
			kind, seconds := kinds[i%len(kinds)], 6+i*14/29
			t.Run(fmt.Sprintf("%s for %d s", kind.name, seconds), func(t *testing.T) {
				r := ran(t, binary, cmp.Or(kind.target, srv.URL()), kind, seconds)
				if runs++; r.Verdict.State != verdict.Valid {
					doubted++
				}
				t.Logf("%s %v", r.Verdict.State, r.Verdict.Reasons)
			})
		}
		t.Logf("%d of %d are not VALID", doubted, runs)
		assert.LessOrEqual(t, doubted, runs*2/30, "of %d", runs)
	})
	t.Run("spoilt", func(t *testing.T) {
		runs, named := 0, 0
		for _, c := range clientFaults {
			t.Run(c.name, func(t *testing.T) {
				r := ran(t, binary, srv.URL(), c, 6)
				runs++
				if slices.ContainsFunc(c.want, func(want verdict.Cause) bool { return slices.Contains(r.Verdict.Causes, string(want)) }) {
					named++
				}
				t.Logf("want %v, got %v %v", c.want, r.Verdict.Causes, r.Verdict.Reasons)
			})
		}
		t.Logf("%d of %d are named, on %d processors", named, runs, runtime.NumCPU())
		assert.GreaterOrEqual(t, named, runs-runs/20, "of %d", runs)
	})
}
