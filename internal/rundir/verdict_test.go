package rundir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/verdict"
)

// Folders of versions that knew other verdicts are judged by what is in them.
func TestFoldersWithOldVerdictsAreJudgedAnew(t *testing.T) {
	j := start(t, options(t))
	f := newFakeRun(1)
	for s := range 3 {
		require.NoError(t, j.Second(f.second(s)))
	}
	finish(t, j, f)
	path := filepath.Join(j.Dir(), RunFile)
	for _, old := range []string{"ok", "failed", "interrupted"} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var raw map[string]any
		require.NoError(t, json.Unmarshal(data, &raw))
		raw["verdict"] = map[string]any{
			"state": old, "reasons": []string{"threshold p99<1ms missed"},
			"thresholds": []any{map[string]any{"expr": "p99<1ms", "ok": false, "got": "2 ms"}},
		}
		data, err = json.Marshal(raw)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		got, err := Load(j.Dir())
		require.NoError(t, err)
		assert.True(t, verdict.Known(got.Run.Verdict.State), old)
		assert.NotContains(t, got.Run.Verdict.Reasons, "threshold p99<1ms missed")
		assert.Len(t, got.Run.Verdict.Missed(), 1, "thresholds stand beside the verdict")
	}
}
