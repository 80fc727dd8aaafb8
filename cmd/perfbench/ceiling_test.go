package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Plans of several phases have the ceiling of each phase in which something counts and
// nothing pauses, those of later tenants included.
func TestEveryPhaseHasItsCeiling(t *testing.T) {
	tier.Full(t, "internal/session has a run with its ceiling")
	srv := labtest.Redis(t)
	cache := t.TempDir()
	observed := func(args ...string) (phases []string) {
		out := t.TempDir()
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), cli.Env{
			Args:    append([]string{"run", "--quiet", "--target", srv.URL(), "--out", out}, args...),
			Environ: []string{"HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + cache}, Calibrate: true, Stdout: &stdout, Stderr: &stderr,
		})
		require.Zero(t, code, stderr.String())
		f, err := rundir.Find(out, "latest")
		require.NoError(t, err)
		r, err := rundir.Load(f)
		require.NoError(t, err)
		require.NotNil(t, r.Run.Observed)
		for _, c := range r.Run.Observed.Ceilings {
			assert.Positive(t, c.PerS, c.Phase)
			phases = append(phases, c.Phase)
		}
		return phases
	}
	// A machine with much to do may not come to all phases; the next run tries again.
	same := func(want []string, args ...string) {
		t.Helper()
		var got []string
		for range 10 {
			if got = observed(args...); slices.Equal(want, got) {
				return
			}
		}
		assert.Equal(t, want, got)
	}
	same([]string{"load-0", "valid-0", "sweep-0", "load-1", "valid-1", "sweep-1"},
		"--profile", "authz", "--set", "runs=2", "--set", "users=30", "--set", "groups=15", "--set", "sweepLimit=200")
	same([]string{"load"}, "--profile", "event-store", "--count", "3000") // nothing counts in what comes after it
	same([]string{"set", "eval-args-p50", "tx-save", "tx-branch", "tx-finish", "saga-unloaded", "saga"},
		"--profile", "tx", "--preset", "baseline", "--set", "rows=set,eval-args-p50", "--count", "500")
	steps := filepath.Join(t.TempDir(), "steps.properties")
	require.NoError(t, os.WriteFile(steps, []byte("groupNames=g1,g2\ng1.operations=put1\ng2.operations=get1\n"+
		"put1.testCase=put\nput1.map=map1\nget1.ref=put1\nget1.testCase=get\n"), 0o600))
	same([]string{"g1", "g2"}, "--profile", "group", "--file", steps, "--count", "400")
	assert.Empty(t, observed("--profile", "group", "--preset", "put-sleep"), "how long it thinks is no work of ours")

	data, err := os.ReadFile(filepath.Join(cache, "perfbench", "ceilings.json"))
	require.NoError(t, err)
	var kept map[string]any
	require.NoError(t, json.Unmarshal(data, &kept))
	assert.Len(t, kept, 4)
}
