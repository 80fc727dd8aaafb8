package compare

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// runs is a folder with copies of a run, and one that is damaged.
func runs(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	for _, name := range []string{"before-1", "before-2", "after-1", "broken"} {
		require.NoError(t, os.CopyFS(filepath.Join(out, name), os.DirFS("../../testdata/runs/open-loop")))
	}
	require.NoError(t, os.WriteFile(filepath.Join(out, "broken", "run.json"), []byte("{"), 0o644))
	return out
}

func TestSets(t *testing.T) {
	out := runs(t)
	data, err := Baseline(must(t, out, "before-*").Runs)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "baseline.json")
	require.NoError(t, os.WriteFile(file, data, 0o644))
	for ref, want := range map[string]int{
		"before-*": 2, filepath.Join(out, "*-1"): 2, "after-1": 1, "latest": 1, filepath.Join(out, "before-2"): 1, out: 3, file: 2,
	} {
		assert.Len(t, must(t, out, ref).Runs, want, ref)
	}
}

func must(t *testing.T, out, ref string) Set {
	t.Helper()
	set, _, err := FindSet(out, ref)
	require.NoError(t, err, ref)
	return set
}

func TestADamagedRunAmongManyIsLeftOutAndNamed(t *testing.T) {
	out := runs(t)
	_, warnings, err := FindSet(out, out)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	assert.Regexp(t, `broken.*run\.json: unexpected end of JSON input: left out$`, warnings[0])
}

func TestBadInput(t *testing.T) {
	out := runs(t)
	empty, damaged := t.TempDir(), filepath.Join(t.TempDir(), "baseline.json")
	require.NoError(t, os.WriteFile(damaged, []byte(`{"perfbench_baseline": 1}`), 0o644))
	for ref, want := range map[string]string{
		"nothing-*":   `no run matches "nothing-*", neither here nor in ` + out,
		"before-[":    `"before-[" is not a pattern`,
		empty:         "there is no run in " + empty,
		"bro*":        "bro*: its one run cannot be compared: ",
		"nosuch":      `there is no run "nosuch"`,
		damaged:       "is damaged: it has no runs",
		"gather.go":   "gather.go is neither a run folder nor a baseline",
		out + "/brok": "there is no run",
	} {
		_, _, err := FindSet(out, ref)
		require.ErrorContains(t, err, want, ref)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), ref)
	}
}
