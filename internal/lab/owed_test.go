//go:build linux || darwin

package lab

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a command has broken is owed once its perfbench is gone, until the other command was run.
func TestACommandIsOwedOnceItsPerfbenchIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none, err := AllOwed(dir)
	require.NoError(t, err)
	assert.Empty(t, none)
	settled, err := Owe(dir, []string{"./failover.sh", "--to 2"}, []string{"./back.sh"})
	require.NoError(t, err)
	again, err := Owe(dir, []string{"./failover.sh", "--to 3"}, []string{"./back.sh", "3"})
	require.NoError(t, err)
	all, err := AllOwed(dir)
	require.NoError(t, err)
	assert.Empty(t, all, "we live, and do it ourselves")

	paths, err := filepath.Glob(filepath.Join(dir, "commands", "*.json"))
	require.NoError(t, err)
	require.Len(t, paths, 2)
	for _, path := range paths {
		var one Owed
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &one))
		one.By.Birth = "another's" // the process id is one of a later process
		b, err = json.Marshal(one)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, b, 0o600))
	}
	all, err = AllOwed(dir)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, []string{"./back.sh", "3"}, all[0].Heal, "the latest first")
	assert.Equal(t, []string{"./failover.sh", "--to 2"}, all[1].Broke)
	require.NoError(t, all[0].Settle())
	settled()
	again() // it is gone already
	all, err = AllOwed(dir)
	require.NoError(t, err)
	assert.Empty(t, all)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "commands", "1.json"), []byte("{}"), 0o600))
	_, err = AllOwed(dir)
	require.ErrorContains(t, err, "1.json: it names no command")
}
