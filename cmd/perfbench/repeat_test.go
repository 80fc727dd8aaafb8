package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// interrupted runs the program in a folder, interrupts it once it has said a line that
// begins so, and returns what it wrote. The exit code must be that of an interrupt.
func interrupted(t *testing.T, dir, line string, args ...string) (stdout, stderr string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	p := exec.Command(binary(t), args...)
	p.Dir, p.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	var out, said strings.Builder
	p.Stdout = &out
	pipe, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() }) // long gone, unless the test has failed
	lines := bufio.NewScanner(pipe)
	for sent := false; lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if !sent && strings.HasPrefix(lines.Text(), line) {
			sent = true
			require.NoError(t, p.Process.Signal(os.Interrupt))
		}
	}
	require.NoError(t, lines.Err())
	_ = p.Wait() // it fails: the code says how
	require.Equal(t, 130, p.ProcessState.ExitCode(), said.String())
	return out.String(), said.String()
}

// An interrupted search leaves a run like any other, and what it knew by then.
func TestAnInterruptedSearchTellsWhatItKnows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, said := interrupted(t, dir, "search  rate 100: holds", "find", "--profile", "ingestion", "--target", "memory:?service=1ms&servers=4", "--under", "p50<10s", "--from", "100")
	assert.Regexp(t, `At least \d+ entries/s under p50<10s, held in [^·]* · ended early: it was interrupted; more may hold`, out)
	assert.Contains(t, said, "interrupted: calls under way may finish")
	folder, err := rundir.Find(filepath.Join(dir, "results"), "latest")
	require.NoError(t, err)
	f, err := rundir.Load(folder)
	require.NoError(t, err)
	assert.Equal(t, "interrupt", f.Run.EndedBy)
	r, err := find.Load(folder)
	require.NoError(t, err)
	require.NotNil(t, r)
	assert.GreaterOrEqual(t, r.Found, 100.0)
	assert.False(t, r.Complete)
	assert.NotEmpty(t, r.Why)
}

// An interrupted sweep leaves its complete runs, and the same command does the others.
func TestAnInterruptedSweepIsGoneOnWith(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"sweep", "--profile", "ingestion", "--target", "memory:", "--over", "batch=1,2", "--repeat", "4", "--warmup", "0s", "--duration", "500ms", "--rate", "2000"}
	out, said := interrupted(t, dir, "run 2 of 8 ", args...)
	assert.Contains(t, out, " of 8 runs are done; the same command does the rest.")
	assert.Contains(t, said, "perfbench: ")
	of := func() *sweep.Result {
		folders, err := filepath.Glob(filepath.Join(dir, "results", "*"+sweep.FolderEnd))
		require.NoError(t, err)
		require.Len(t, folders, 1)
		r, err := sweep.Load(folders[0])
		require.NoError(t, err)
		return r
	}
	before := of().Runs
	require.NotEmpty(t, before)
	require.Less(t, len(before), 8)
	again := exec.Command(binary(t), args...)
	again.Dir, again.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	text, err := again.CombinedOutput()
	require.NoError(t, err, string(text))
	assert.Contains(t, string(text), fmt.Sprintf("goes on: %d of 8 runs are done", len(before)))
	after := of()
	assert.True(t, after.Complete())
	assert.Equal(t, before, after.Runs[:len(before)], "what was done stays")
}

// Whoever interrupts a series keeps the runs that are complete, and what they come to.
func TestAnInterruptedSeriesComparesWhatThereIs(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestAnInterruptedSweepIsGoneOnWith")
	dir := t.TempDir()
	out, _ := interrupted(t, dir, "run 5 of 200 ", "run", "--profile", "ingestion", "--target", "memory:", "--duration", "300ms", "--rate", "2000", "--repeat", "100", "--against-set", "threads=4")
	assert.Contains(t, out, "perfbench compare: ingestion on memory")

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
		A, B struct{ Runs []struct{ Turn rundir.Turn } }
	}
	require.NoError(t, json.Unmarshal(data, &c))
	assert.Equal(t, complete, len(c.A.Runs)+len(c.B.Runs))
	assert.NotEmpty(t, c.A.Runs[0].Turn.Series)
	assert.Equal(t, c.A.Runs[0].Turn, c.B.Runs[0].Turn, "those of a round go together")
}
