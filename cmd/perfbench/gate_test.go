package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// Three runs of a second, at a rate that a busy machine makes up for after a pause: of fewer or
// shorter ones, or at a higher rate, the comparison may rightly be unsure.
const gatePlan = `
profile: ingestion
target: ${STORE}
rate: ${RATE}
duration: 1s
repeat: 3
set: {testCase: put}
runs:
  - name: put
    out: ${RESULTS}/put
`

// The steps of the action, as GitHub would do them, against a real server: without a
// baseline, against itself, and after a change that made it slower.
func TestTheMergeGate(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	t.Parallel()
	var action struct {
		Runs struct {
			Steps []struct{ ID, Run string }
		}
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	home := filepath.Join(root, ".github", "actions", "perfbench")
	data, err := os.ReadFile(filepath.Join(home, "action.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, &action))
	script := ""
	for _, s := range action.Runs.Steps {
		if s.ID == "gate" {
			script = s.Run
		}
	}
	require.NotEmpty(t, script)

	temp := t.TempDir()
	work := filepath.Join(temp, "perfbench")
	plan := filepath.Join(temp, "plan.yaml")
	require.NoError(t, os.Mkdir(work, 0o700))
	require.NoError(t, os.Symlink(binary(t), filepath.Join(work, "perfbench")))
	require.NoError(t, os.WriteFile(plan, []byte(gatePlan), 0o600))
	store := labtest.Redis(t).URL()
	gate := func(more ...string) (output, page, log string) {
		out, summary := filepath.Join(temp, "output"), filepath.Join(temp, "summary")
		require.NoError(t, errors.Join(os.WriteFile(out, nil, 0o600), os.WriteFile(summary, nil, 0o600)))
		c := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
		c.Dir = temp
		c.Env = append([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + temp, "RUNNER_TEMP=" + temp, "GITHUB_ACTION_PATH=" + home, "GITHUB_OUTPUT=" + out,
			"GITHUB_STEP_SUMMARY=" + summary, "PLAN=" + plan, "TOLERANCE=50%", "STORE=" + store, "RATE=100",
		}, more...)
		said, err := c.CombinedOutput()
		require.NoError(t, err, string(said))
		read := func(path string) string {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			return string(data)
		}
		return read(out), read(summary), string(said)
	}

	output, page, log := gate()
	assert.Contains(t, output, "code=0\n", log)
	assert.Contains(t, output, "page="+filepath.Join(work, "page.md"))
	assert.Equal(t, "# put\n\nThere is no baseline yet to compare with.\n\n", page)
	baseline := filepath.Join(work, "baselines", "put.json")
	kept, err := os.ReadFile(baseline)
	require.NoError(t, err)
	// As if the same runs had been made ten years before: no run is compared with itself.
	kept = regexp.MustCompile(`\b\d(\d{5}-\d{6}-ingestion)`).ReplaceAll(kept, []byte("1$1"))
	require.NoError(t, os.WriteFile(baseline, kept, 0o600))

	output, page, log = gate("COMPARE_ONLY=1")
	assert.Contains(t, output, "code=0\n", log)
	assert.Contains(t, page, "| entries/s |")
	assert.NotContains(t, page, "| worse |")

	require.NoError(t, os.WriteFile(baseline, kept, 0o600)) // the action has put that of the runs there
	output, _, log = gate()
	assert.Contains(t, output, "code=2\n", log)
	assert.Contains(t, log, "is not empty: earlier runs would be taken for these")

	require.NoError(t, os.RemoveAll(filepath.Join(work, "results")))
	output, page, log = gate("RATE=10")
	assert.Contains(t, output, "code=5\n", log)
	assert.Regexp(t, `entries/s \|.*\| worse \|`, page)
}
