package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// Whoever interrupts a series keeps the runs that are complete, and what they come to.
func TestAnInterruptedSeriesComparesWhatThereIs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	dir := t.TempDir()
	p := exec.Command(binary(t), "run", "--profile", "ingestion", "--target", "memory:", "--duration", "300ms", "--repeat", "100", "--against-set", "threads=4")
	p.Dir, p.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	var out strings.Builder
	p.Stdout = &out
	said, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() }) // long gone, unless the test has failed
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "run 5 of 200 ") {
	}
	require.NoError(t, p.Process.Signal(os.Interrupt))
	_, err = io.Copy(io.Discard, said)
	require.NoError(t, err)
	_ = p.Wait() // it fails: the code says how
	assert.Equal(t, 130, p.ProcessState.ExitCode())
	assert.Contains(t, out.String(), "perfbench compare: ingestion on memory")

	runs, warnings, err := rundir.List(filepath.Join(dir, "results"))
	require.NoError(t, err)
	assert.Empty(t, warnings)
	complete := 0
	for _, r := range runs {
		if r.Run.EndedBy == "duration" {
			complete++
		}
	}
	assert.GreaterOrEqual(t, complete, 4)
	assert.LessOrEqual(t, len(runs)-complete, 1, "the one that was under way")
	found, err := filepath.Glob(filepath.Join(dir, "results", "*-compared", "comparison.json"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	data, err := os.ReadFile(found[0])
	require.NoError(t, err)
	var c struct {
		A, B struct{ Runs []json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(data, &c))
	assert.Equal(t, complete, len(c.A.Runs)+len(c.B.Runs))
}
