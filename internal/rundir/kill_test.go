package rundir

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/verdict"
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

// However early a process dies, what it leaves is the folder of a run that measured
// nothing, and no other folder.
func TestAFolderIsThatOfARunFromItsFirstMoment(t *testing.T) {
	o := options(t)
	o.Out = t.TempDir()
	o.Run.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, end := range []string{"", "-2"} {
		dir, err := makeDir(o) // and here it dies
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(o.Out, label(o.Run)+end), dir)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 1)
		assert.Equal(t, RunFile, files[0].Name())
		f, err := Load(dir)
		require.NoError(t, err)
		assert.Equal(t, filepath.Base(dir), f.Run.ID)
		assert.Equal(t, CutShort, f.Run.EndedBy)
		assert.Equal(t, verdict.Invalid, f.Run.Verdict.State)
		assert.Contains(t, f.Run.Verdict.Causes, string(verdict.Unmeasured))
		found, err := Find(o.Out, "latest")
		require.NoError(t, err)
		assert.Equal(t, dir, found)
	}
	left, err := filepath.Glob(filepath.Join(o.Out, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestKilledProcessLeavesAWholeFolder(t *testing.T) {
	out := t.TempDir()
	for i := range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
		cmd.Env = append(os.Environ(), victimOut+"="+out, "TMPDIR="+t.TempDir()) // a killed process cannot clean up
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
		data, err := os.ReadFile(filepath.Join(dir, RunFile))
		require.NoError(t, err)
		var left Run
		require.NoError(t, json.Unmarshal(data, &left))
		f, err := Load(dir)
		require.NoError(t, err)
		assert.Equal(t, f.Run.Verdict, left.Verdict, "a script that reads the file has the verdict of every screen")
		assert.NotContains(t, left.Verdict.Causes, string(verdict.Unmeasured))
		assert.Equal(t, CutShort, f.Run.EndedBy)
		assert.GreaterOrEqual(t, f.Run.Journal.Seconds, 1.0)
		assert.Len(t, f.Run.Remarks(), 1, "nothing but the note that it was cut short: no figure had to be recomputed")
		consistent(t, f)
		assert.NoFileExists(t, filepath.Join(dir, reserveFile))
		require.NoError(t, os.RemoveAll(dir))
	}
}

// A run whose process died is written anew in its folder, from the first second, and what
// was sampled before stays. What goes on or is over is not.
func TestAFolderIsTakenOver(t *testing.T) {
	j := start(t, options(t))
	_, err := Take(j.Dir())
	require.ErrorContains(t, err, "is still going: its process lives")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	f := newFakeRun(1)
	for s := range 3 {
		require.NoError(t, j.Second(f.second(s)))
		j.Sampled([]Sample{{T: s, Source: OfStore, Name: "calls", Value: float64(s)}})
	}
	require.NoError(t, j.Second(f.second(3)))
	dir := kill(t, j)
	for again := range 2 { // the second time its successor has died, too
		dead, err := Take(dir)
		require.NoError(t, err)
		_, err = Take(dir)
		require.Error(t, err, "one at a time")
		assert.Equal(t, 2, dead.Sampled())
		o := options(t)
		o.Run = dead.Run
		o.Run.Resumed = append(o.Run.Resumed, Resumed{AtS: 4, ForS: 1})
		j, err = dead.Resume(o)
		require.NoError(t, err)
		_, err = Take(dir)
		require.ErrorContains(t, err, "is still going")
		f = newFakeRun(1)
		for s := range 5 - again {
			require.NoError(t, j.Second(f.second(s)))
		}
		assert.FileExists(t, filepath.Join(dir, asideDir, HlogFile))
		if again == 0 {
			dir = kill(t, j)
		}
	}
	id := filepath.Base(dir)
	finish(t, j, f)
	whole, err := Load(dir)
	require.NoError(t, err)
	consistent(t, whole)
	assert.Equal(t, id, whole.Run.ID)
	assert.Len(t, whole.Run.Resumed, 2)
	assert.Len(t, whole.Samples, 3)
	assert.Equal(t, 3, whole.Series[len(whole.Series)-1].T)
	assert.NoDirExists(t, filepath.Join(dir, asideDir))
	_, err = Take(dir)
	require.ErrorContains(t, err, "has come to its end")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
