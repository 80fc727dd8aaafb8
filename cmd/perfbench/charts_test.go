package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// A summary on a terminal ends with a chart of throughput and p99; elsewhere, or with
// --quiet, nobody looks at one.
func TestChartsAreDrawnWhereAPersonLooks(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results")
	call := func(tty bool, args ...string) string {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), cli.Env{
			Args: args, Environ: []string{"HOME=" + t.TempDir(), "LANG=C.UTF-8"},
			Stdout: &stdout, Stderr: &stderr, StdoutTerminal: tty, StdoutWidth: 60,
		})
		require.Equal(t, 0, code, stderr.String())
		return stdout.String()
	}
	drawn := func(doc string) bool {
		rates, times := strings.Contains(doc, "\nentries per second\n"), strings.Contains(doc, "\nresponse time, p99\n")
		assert.Equal(t, rates, times, doc)
		return rates
	}
	aRun := func(duration string, more ...string) []string {
		return append([]string{"run", "--profile", "ingestion", "--target", "null:", "--rate", "500", "--out", out, "--duration", duration}, more...)
	}
	doc := call(true, aRun("2300ms")...)
	require.True(t, drawn(doc), doc)
	for line := range strings.Lines(doc[strings.Index(doc, "\nentries per second\n"):]) {
		assert.LessOrEqual(t, len([]rune(line)), 61, line)
	}
	report := []string{"report", "latest", "--runs", out}
	assert.False(t, drawn(call(false, report...)))
	doc = call(true, report...)
	assert.True(t, drawn(doc))
	assert.Contains(t, doc, "\nverification ")
	assert.Contains(t, doc, "kept in "+out, "and where its folder is")
	assert.NotContains(t, doc, "run.json", "nothing is written")
	assert.False(t, drawn(call(true, append(report, "--out", "-", "--format", "json")...)), "a document to stdout is that document alone")
	assert.False(t, drawn(call(true, aRun("2200ms", "--quiet")...)))
	assert.False(t, drawn(call(false, aRun("2200ms")...)))
}
