//go:build linux || darwin

package lab_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab"
)

const (
	starterDir  = "PERFBENCH_TEST_LAB_DIR"  // where the other process starts something
	starterDies = "PERFBENCH_TEST_LAB_DIES" // at the step that begins so
)

// TestStarter is the other process of the tests below, not a test of its own.
func TestStarter(t *testing.T) {
	dir, dies := os.Getenv(starterDir), os.Getenv(starterDies)
	if dir == "" {
		t.Skip("this is the process that other tests start")
	}
	_, err := lab.Up(t.Context(), dir, "redis-sentinel", lab.Options{Progress: func(step string) {
		if dies != "" && strings.HasPrefix(step, dies) {
			assert.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
		}
	}})
	require.NoError(t, err)
}

// startElsewhere runs Up in a process of its own, which has ended on return.
func startElsewhere(t *testing.T, dir, dies string) error {
	t.Helper()
	needRedis(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStarter$")
	cmd.Env = append(os.Environ(), starterDir+"="+dir, starterDies+"="+dies, "TMPDIR="+t.TempDir()) // a killed process cannot clean up
	out, err := cmd.CombinedOutput()
	t.Logf("the other process: %s", out)
	return err
}

func TestServersOutliveTheProcessThatStartedThem(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	require.NoError(t, startElsewhere(t, dir, ""))
	all, err := lab.Status(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, lab.Running, all[0].Condition)
	again, err := lab.Up(t.Context(), dir, "redis-sentinel", lab.Options{})
	require.NoError(t, err)
	assert.Equal(t, all[0].Processes, again.Processes)
	require.NoError(t, lab.Down(t.Context(), dir, "redis-sentinel", nil))
	for _, p := range all[0].Processes {
		assert.False(t, lab.IsAlive(p), p.Name) // its port may be another's by now
	}
}

func TestStartCutShortByKillIsCleanedUp(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	require.ErrorContains(t, startElsewhere(t, dir, "waiting for the sentinels"), "killed")
	all, err := lab.Status(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, lab.Starting, all[0].Condition)
	require.Len(t, all[0].Processes, 5)
	_, err = lab.Resolve(dir, "lab:redis-sentinel")
	require.EqualError(t, err, "target lab:redis-sentinel: its start has not ended")

	st, err := lab.Up(t.Context(), dir, "redis-sentinel", lab.Options{Tied: true})
	require.NoError(t, err)
	assert.Equal(t, lab.Running, st.Condition)
	for _, p := range all[0].Processes {
		assert.False(t, lab.IsAlive(p), "%s of the first try is gone", p.Name) // its port may be another's by now
	}
}
