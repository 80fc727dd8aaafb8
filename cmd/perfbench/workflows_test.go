package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// Workflows take others' actions by commit, since a tag can be moved, and may only read
// unless a job says what else it writes.
func TestWorkflowsArePinnedAndMayOnlyRead(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`(?m)^.*\buses: .*$`)
	pinned := regexp.MustCompile(`uses: ([\w./-]+@[0-9a-f]{40} # v\d|\./|perfbench/perfbench/)`)
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = append(files, "../../.github/actions/perfbench/action.yml", filepath.Join(examples, "merge-gate/workflow.yml"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range uses.FindAllString(string(data), -1) {
			assert.Regexp(t, pinned, line, file)
		}
		if strings.HasSuffix(file, "action.yml") {
			continue
		}
		var workflow struct{ Permissions map[string]string }
		require.NoError(t, yaml.Unmarshal(data, &workflow), file)
		assert.Equal(t, map[string]string{"contents": "read"}, workflow.Permissions, file)
	}
}
