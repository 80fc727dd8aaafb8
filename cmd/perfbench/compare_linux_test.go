package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// Of neighbouring runs of 2 s on one Redis, none is better or worse than the next: they
// are too short to show what is chance.
func TestNeighbouringShortRunsAreNeitherBetterNorWorse(t *testing.T) {
	t.Parallel()
	srv, out := labtest.Redis(t), filepath.Join(t.TempDir(), "runs")
	for i := range 3 {
		text, err := exec.CommandContext(t.Context(), binary(t), "run", "ingestion", "--set", "testCase=put", "--target", srv.URL(), "--duration", "2s", "--seed", fmt.Sprint(i), "--out", out).CombinedOutput()
		require.NoError(t, err, string(text))
	}
	for _, pair := range [][2]string{{"-3", "-2"}, {"-2", "-1"}, {"-1", "-3"}} {
		text, err := exec.CommandContext(t.Context(), binary(t), "compare", pair[0], pair[1], "--runs", out, "--format", "json").Output()
		require.NoError(t, err, string(text))
		var c struct {
			Notes []string `json:"notes"`
		}
		require.NoError(t, json.Unmarshal(text, &c))
		assert.Contains(t, string(text), `"unsure"`)
		assert.NotContains(t, string(text), `"better"`)
		assert.NotContains(t, string(text), `"worse"`)
		require.NotEmpty(t, c.Notes)
		assert.Contains(t, c.Notes[0], "cannot show what is chance")
	}
}
