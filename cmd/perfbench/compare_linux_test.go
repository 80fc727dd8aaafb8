package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Of neighbouring runs of 2 s on one Redis, none is better or worse than the next: they
// are too short to show what is chance. With three more of the same plan in the folder, what
// these differ by counts as chance.
func TestNeighbouringShortRunsAreNeitherBetterNorWorse(t *testing.T) {
	t.Parallel()
	tier.Full(t, "internal/compare, on figures of such runs")
	srv, out := labtest.Redis(t), filepath.Join(t.TempDir(), "runs")
	runs := func(from, to int) {
		for i := from; i < to; i++ {
			text, err := exec.CommandContext(t.Context(), binary(t), "run", "ingestion", "--set", "testCase=put", "--target", srv.URL(), "--duration", "2s", "--seed", fmt.Sprint(i), "--out", out).CombinedOutput()
			require.NoError(t, err, string(text))
		}
	}
	compared := func(a, b string) (text, note string) {
		data, err := exec.CommandContext(t.Context(), binary(t), "compare", a, b, "--runs", out, "--format", "json").Output()
		require.NoError(t, err, string(data))
		var c struct {
			Notes []string `json:"notes"`
		}
		require.NoError(t, json.Unmarshal(data, &c))
		require.NotEmpty(t, c.Notes)
		return string(data), c.Notes[0]
	}
	runs(0, 3)
	for _, pair := range [][2]string{{"-3", "-2"}, {"-2", "-1"}, {"-1", "-3"}} {
		text, note := compared(pair[0], pair[1])
		assert.Contains(t, text, `"unsure"`)
		assert.NotContains(t, text, `"better"`)
		assert.NotContains(t, text, `"worse"`)
		assert.Contains(t, note, "cannot show what is chance")
	}
	note := ""
	for i := 3; i < 30 && !strings.Contains(note, "counts as chance"); i += 2 { // a crowded machine makes runs that do not count
		runs(i, i+2)
		_, note = compared("-2", "-1")
	}
	assert.Regexp(t, "what [3-9][0-9]* earlier runs of the same plan on this machine differed by, one from the next, counts as chance", note)
}
