package workbench

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
)

// The workbench opens the profile that a file is for.
func TestAFileOpensItsProfile(t *testing.T) {
	captured := filepath.Join(t.TempDir(), "x.capture")
	w, err := capture.Create(captured, capture.Header{Store: "redis", Source: "redis://shop", How: "MONITOR", Started: time.Unix(1_700_000_000, 0), Timing: capture.Exact}, 0)
	require.NoError(t, err)
	require.NoError(t, w.Add(&capture.Call{At: time.Millisecond, Conn: 1, Args: []capture.Arg{capture.TextArg("GET"), capture.TextArg("k")}, Keys: []int{1}}))
	require.NoError(t, w.Close("the time was up"))
	assert.Equal(t, "mix", profileFor(request.Request{Files: []string{captured}}))
	assert.Equal(t, "tx", profileFor(request.Request{Profile: "tx", Files: []string{captured}}), "what was named stays")
	assert.Empty(t, profileFor(request.Request{}))
}

// A plan that cannot be opened says all that is wrong with it at the row of the file.
func TestEachMistakeOfAPlanIsOneOfItsFile(t *testing.T) {
	b := newBench(&surroundings{env: command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session(), out: t.TempDir(), state: t.TempDir(), soft: t.Context(), hard: t.Context()})
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("profile: mix\nthread: 4\nrate: fast\n"), 0o600))
	_, err := b.requests.Preview(request.Request{Profile: "mix", Files: []string{bad}})
	parts := fault.Parts(err)
	require.Len(t, parts, 2)
	assert.EqualError(t, parts[0], bad+`:2:1: a plan has no key "thread"`)
	assert.EqualError(t, parts[1], bad+`:3: rate: "fast" is not a number`)
	for _, part := range parts {
		assert.Equal(t, "file", fault.FieldOf(part))
		assert.NotEmpty(t, fault.HintOf(part))
	}
}

// Plan files whose runs were done lately come before those of the working directory, and these before those in
// the folders of runs, each once; other files are left out, and what is wrong with one is said.
func TestPlanFilesAreFound(t *testing.T) {
	t.Chdir(t.TempDir())
	b := newBench(&surroundings{env: command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session(), out: t.TempDir(), state: t.TempDir(), soft: t.Context(), hard: t.Context()})
	assert.Empty(t, b.requests.PlanFiles())
	elsewhere := filepath.Join(t.TempDir(), "night.yaml")
	for path, text := range map[string]string{
		"a.yaml": "profile: ingestion\n", "b.yml": "profile: ingestion\ncuont: 3\n", "c.yaml": "profile: ingestion\nthreads: 2\n",
		"bad.yaml": "profile: ingestion\nthreads: [4\n", "values.yaml": "threads: 4\n", "notes.txt": "profile: ingestion\n", elsewhere: "profile: ingestion\n",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir("d.yaml", 0o700))
	var exported []string
	for i := range mostExported + 2 {
		path := filepath.Join(b.requests.out, fmt.Sprint("run ", i), report.PlanName)
		require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("profile: ingestion\n"), 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(int64(1_000_000_000+i), 0)))
		exported = append([]string{path}, exported...)
	}
	for _, path := range []string{"gone.yaml", exported[3], elsewhere, "c.yaml", elsewhere} {
		require.NoError(t, request.RememberPlan(b.requests.state, path))
	}
	var paths []string
	for _, f := range b.requests.PlanFiles() {
		paths = append(paths, f.Path)
		if f.Path == "b.yml" {
			assert.ErrorContains(t, f.Err, "cuont")
		} else if f.Path == "bad.yaml" {
			assert.ErrorContains(t, f.Err, "bad.yaml")
			assert.Nil(t, f.File)
		} else {
			assert.NoError(t, f.Err)
		}
	}
	last := slices.Delete(slices.Clone(exported[:mostExported]), 3, 4)
	assert.Equal(t, append([]string{elsewhere, "c.yaml", exported[3], "a.yaml", "b.yml", "bad.yaml"}, last...), paths)
}
