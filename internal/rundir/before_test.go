package rundir

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// age makes of a run folder one of a version that did not measure lateness.
func age(t *testing.T, dir string) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, HlogFile))
	require.NoError(t, err)
	var kept []byte
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte("."+hlog.Lateness+",")) {
			kept = append(kept, line...)
		}
	}
	require.Less(t, len(kept), len(log))
	require.NoError(t, os.WriteFile(filepath.Join(dir, HlogFile), kept, 0o644))

	data, err := os.ReadFile(filepath.Join(dir, RunFile))
	require.NoError(t, err)
	var run map[string]any
	require.NoError(t, json.Unmarshal(data, &run))
	run["journal"].(map[string]any)["hlog_bytes"] = len(kept)
	lists := []any{run["operations"]}
	for _, s := range run["segments"].([]any) {
		lists = append(lists, s.(map[string]any)["operations"])
	}
	for _, list := range lists {
		for _, o := range list.([]any) {
			require.Contains(t, o, "lateness_ns")
			delete(o.(map[string]any), "lateness_ns")
		}
	}
	data, err = json.Marshal(run)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, RunFile), data, 0o644))
}

func TestFoldersOfBeforeLatenessLoad(t *testing.T) {
	j, f := start(t, options(t)), newFakeRun(9)
	for s := range 4 {
		require.NoError(t, j.Second(f.second(s)))
	}
	cut, damaged := kill(t, j), kill(t, j)
	finish(t, j, f)
	for name, dir := range map[string]string{"finished": j.Dir(), "cut short": cut, "damaged": damaged} {
		age(t, dir)
		require.NoError(t, validate(t, dir), name)
		if name == "damaged" {
			require.NoError(t, os.Truncate(filepath.Join(dir, HlogFile), 9000))
		}
		got, err := Load(dir)
		require.NoError(t, err, name)
		require.Len(t, got.Run.Operations, 2)
		for _, o := range got.Run.Operations {
			assert.False(t, o.Late(), name)
			assert.Zero(t, o.Lateness, name)
			assert.Positive(t, o.Wait.Max, name)
		}
	}
}
