package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// What earlier versions wrote is read, and every document of its mode made of it.
func TestRunsOfEarlierVersionsAreReported(t *testing.T) {
	tier.Slow(t, tier.Computes)
	t.Parallel()
	documents := map[string][]string{
		"ingestion": {"padogrid", "padogrid-csv"}, "group": {"padogrid", "padogrid-csv"}, "pbm": {"padogrid", "padogrid-csv"},
		"open-loop": nil, "saga": {"ab"}, "baseline": {"redis-benchmark", "ceiling"}, "authz": {"oae", "oae-html"}, "event-store": {"th2"},
	}
	runs, err := os.ReadDir("../../testdata/runs")
	require.NoError(t, err)
	require.Len(t, runs, len(documents))
	for _, r := range runs {
		dir := filepath.Join("../../testdata/runs", r.Name())
		folder, err := rundir.Load(dir)
		require.NoError(t, err)
		for _, format := range append(documents[r.Name()], "text", "markdown", "html", "junit", "hgrm", "csv") {
			var out, stderr strings.Builder
			code := run(t.Context(), cli.Env{
				Args: []string{"report", dir, "--format", format, "--out", "-"}, Environ: []string{"HOME=" + t.TempDir()},
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr,
			})
			require.Zero(t, code, "%s as %s: %s", r.Name(), format, stderr.String())
			assert.NotEmpty(t, out.String(), "%s as %s", r.Name(), format)
			if format == "text" {
				assert.Contains(t, out.String(), folder.Run.Profile)
			}
		}
	}
}

// filesOfSystems are files of each system, with the profile that reads them and a part of
// its plan.
var filesOfSystems = map[string]struct{ profile, shows string }{
	"padogrid/ingestion.properties":     {"ingestion", "10000 entries, 2 times"},
	"padogrid/group.properties":         {"group", "g1"},
	"padogrid/tx.properties":            {"tx", "4096"},
	"padogrid-coherence/tx.properties":  {"tx", "summary"},
	"oae/classic":                       {"authz", "2 users"},
	"oae/hilary/scripts":                {"authz", "2 users"},
	"th2/woodpecker.yml,th2/estore.yml": {"event-store", "my_book"},
}

// A file of each system is planned for as it is.
func TestSamplesOfEachSystemArePlanned(t *testing.T) {
	t.Parallel()
	for files, tt := range filesOfSystems {
		args := []string{"run", "--profile", tt.profile, "--target", "memory:", "--dry-run"}
		for name := range strings.SplitSeq(files, ",") {
			args = append(args, "--file", "../../testdata/samples/"+name)
		}
		var out, stderr strings.Builder
		code := run(t.Context(), cli.Env{Args: args, Environ: []string{"HOME=" + t.TempDir()}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr})
		assert.Zero(t, code, "%s: %s", files, stderr.String())
		assert.Contains(t, out.String(), tt.shows, files)
	}
}
