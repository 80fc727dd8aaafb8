package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/powercut"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// A setting that syncs what it acknowledges loses nothing in a power cut, and one that does not loses
// some, on each kind of server whose power can be cut.
func TestTheCostOfDurabilityAgainstWhatItLoses(t *testing.T) {
	labtest.Full(t, "TestScripts/lab, where processes crash, and internal/lab's TestAPowerCutLosesWhatRedisHadNotSynced")
	if err := powercut.Available(); err != nil {
		t.Skipf("power cuts are not tested: %v", err)
	}
	path, dir := binary(t), t.TempDir()
	workload := filepath.Join(dir, "events.yaml")
	require.NoError(t, os.WriteFile(workload, []byte("data: {event: {records: 1, size: 200}}\noperations: {store: {insert: event}}\n"), 0o600))
	perfbench := func(t *testing.T, args ...string) {
		t.Helper()
		c := exec.Command(path, args...)
		c.Dir, c.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+dir)
		out, err := c.CombinedOutput()
		if err != nil && strings.Contains(string(out), powercut.ErrMissing.Error()) {
			t.Skipf("power cuts are not tested: %s", out)
		}
		require.NoError(t, err, "%q\n%s", args, out)
	}
	for _, tt := range []struct{ service, over string }{
		{"redis", "appendfsync=always,no"},
		{"postgres", "synchronous_commit=on,off"},
		{"mariadb", "innodb_flush_log_at_trx_commit=1,2"},
	} {
		t.Run(tt.service, func(t *testing.T) {
			labtest.Need(t, tt.service)
			perfbench(t, "lab", "up", tt.service, "--power-cut")
			defer perfbench(t, "lab", "down", tt.service)
			perfbench(t, "sweep", "mix", "--file", workload, "--target", "lab:"+tt.service, "--over", tt.over, "--fault", "power-cut",
				"--repeat", "2", "--rate", "200", "--duration", "4s", "--warmup", "500ms", "--quiet", "--out", tt.service)
			dirs, err := filepath.Glob(filepath.Join(dir, tt.service, "*"+sweep.FolderEnd))
			require.NoError(t, err)
			require.Len(t, dirs, 1)
			r, err := sweep.Load(dirs[0])
			require.NoError(t, err)
			require.True(t, r.Complete())
			assert.Equal(t, sweep.PowerCut, r.Crash)
			assert.True(t, r.Points[0].Safe(), "%+v", r.Points[0].Loss)
			assert.Positive(t, r.Points[1].Loss.Lossy, "%+v", r.Points[1].Loss)
		})
	}
}
