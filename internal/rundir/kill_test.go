package rundir

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// victimOut, when set, makes TestVictim a process that journals until it is killed.
const victimOut = "RUNDIR_TEST_VICTIM"

func TestVictim(t *testing.T) {
	out := os.Getenv(victimOut)
	if out == "" {
		t.Skip("only runs as the child of TestKilledProcessLeavesAWholeFolder")
	}
	o := options(t)
	o.Out = out
	j, err := Create(o)
	require.NoError(t, err)
	f := newFakeRun(8)
	for s := range 100_000 {
		require.NoError(t, j.Second(f.second(s)))
		_, _ = os.Stdout.WriteString(".\n") //nolint:forbidigo // this is a process of its own, whose output is counted
	}
}

func TestKilledProcessLeavesAWholeFolder(t *testing.T) {
	out := t.TempDir()
	for i := range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
		cmd.Env = append(os.Environ(), victimOut+"="+out)
		stdout, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(stdout)
		for n := 0; n < 4+i && lines.Scan(); n++ { // a second each, as fast as they come; it goes on while we kill it
			continue
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()

		dir, err := Find(out, "latest")
		require.NoError(t, err)
		f, err := Load(dir)
		require.NoError(t, err)
		assert.Equal(t, CutShort, f.Run.EndedBy)
		assert.GreaterOrEqual(t, f.Run.Journal.Seconds, 1.0)
		assert.Len(t, f.Run.Remarks(), 1, "nothing but the note that it was cut short: no figure had to be recomputed")
		consistent(t, f)
		assert.NoFileExists(t, filepath.Join(dir, reserveFile))
		require.NoError(t, os.RemoveAll(dir))
	}
}
