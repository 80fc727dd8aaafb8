package rundir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

func TestFind(t *testing.T) {
	o := options(t)
	var dirs []string
	for range 3 {
		j := start(t, o)
		dirs = append(dirs, j.Dir())
		o.Run.Started = o.Run.Started.Add(time.Minute)
	}
	require.NoError(t, os.MkdirAll(filepath.Join(o.Out, "broken"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(o.Out, "broken", RunFile), []byte("{"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(o.Out, "other"), 0o755))

	runs, warnings, err := List(o.Out)
	require.NoError(t, err)
	require.Len(t, runs, 3)
	assert.Equal(t, dirs[2], runs[0].Dir, "newest first")
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0], "broken")

	for ref, want := range map[string]string{
		"latest": dirs[2], "-1": dirs[2], "-2": dirs[1], "-3": dirs[0],
		filepath.Base(dirs[1]): dirs[1], dirs[0]: dirs[0],
	} {
		got, err := Find(o.Out, ref)
		require.NoError(t, err, ref)
		assert.Equal(t, want, got, ref)
	}
	for ref, want := range map[string]string{
		"-4": "there are 3 runs", "260304-050607-ingestion-embeded": "there is no run", "": "there is no run",
		filepath.Join(o.Out, "other"): "not a run folder",
	} {
		_, err := Find(o.Out, ref)
		assert.ErrorContains(t, err, want, ref)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), ref)
	}
	_, err = Find(o.Out, "260304-050607-ingestion-embeded")
	assert.Contains(t, fault.HintOf(err), filepath.Base(dirs[0]))
}

func TestListOfNothing(t *testing.T) {
	runs, warnings, err := List(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	assert.Empty(t, runs)
	assert.Empty(t, warnings)
}

func TestLoadRefusesWhatItCannotRead(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON": "{", "empty": "", "a later schema": `{"schema": 2}`, "another shape": `{"schema":1,"operations":3}`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, RunFile), []byte(text), 0o644))
			_, err := Load(dir)
			require.Error(t, err)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.NotEmpty(t, fault.HintOf(err))
		})
	}
	_, err := Load(t.TempDir())
	assert.ErrorContains(t, err, "not a run folder")
}

// What a list says of a run changes with the run, and only what is new is read again.
func TestAListSaysWhichRunsAreGoing(t *testing.T) {
	if !CanLock {
		t.Skip("a living run cannot be told from a dead one on this system")
	}
	o := options(t)
	j := start(t, o)
	var l Lister
	listed := func() Run {
		runs, _, err := l.List(o.Out)
		require.NoError(t, err)
		require.Len(t, runs, 1)
		return runs[0].Run
	}
	assert.Equal(t, StillRunning, listed().EndedBy)
	assert.Empty(t, l.known, "what is going is read each time")
	require.NoError(t, j.hlog.Close())
	assert.Equal(t, CutShort, listed().EndedBy, "its process has died")

	run, err := readRun(j.Dir())
	require.NoError(t, err)
	run.EndedBy = "duration"
	data, err := json.Marshal(run)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(j.Dir(), RunFile), data, 0o644))
	assert.Equal(t, "duration", listed().EndedBy)
	assert.Len(t, l.known, 1)
	require.NoError(t, Note(j.Dir(), "an index was missing"))
	assert.Equal(t, "an index was missing", listed().Note)
	require.NoError(t, Retag(j.Dir(), map[string]string{"build": "7", "host": "big one"}))
	assert.Equal(t, map[string]string{"build": "7", "host": "big one"}, listed().Tags)
	assert.Equal(t, listed(), listed())
}
