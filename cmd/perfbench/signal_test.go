package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// process is the program under way in a folder of its own.
type process struct {
	*exec.Cmd
	out            string
	stdout, stderr bytes.Buffer
}

// long is a run that lasts until something ends it, and leaves the processors to others.
var long = []string{"--duration", "10m", "--rate", "5000"}

func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{Cmd: exec.Command(path, append([]string{"run", "--profile", "ingestion"}, args...)...), out: filepath.Join(dir, "results")}
	p.Dir = dir
	p.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() }) // long gone, unless the test has failed
	return p
}

// end waits for the process and returns its exit code, -1 when a signal ended it.
func (p *process) end(t *testing.T) int {
	t.Helper()
	timer := time.AfterFunc(5*time.Minute, func() { _ = p.Process.Kill() })
	defer timer.Stop()
	err := p.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

func (p *process) folder(t *testing.T) *rundir.Folder {
	t.Helper()
	dir, err := rundir.Find(p.out, "latest")
	require.NoError(t, err)
	f, err := rundir.Load(dir)
	require.NoError(t, err)
	return f
}

func TestSignals(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	path := binary(t)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			if sig != os.Interrupt {
				tier.Full(t, "the case interrupt")
			}
			p := start(t, path, long...)
			require.NoError(t, measured(p.out, 2))
			require.NoError(t, p.Process.Signal(sig))
			assert.Equal(t, 130, p.end(t), p.stderr.String())
			f := p.folder(t)
			assert.Equal(t, "interrupt", f.Run.EndedBy)
			assert.Equal(t, "passed", f.Run.Verification.State)
			assert.Contains(t, p.stderr.String(), "interrupted: calls under way may finish")
			assert.Contains(t, p.stdout.String(), "measured, interrupted")
			assert.Positive(t, f.Run.Operations[0].Count)
		})
	}
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		// The store stands still mid-run and nothing may wait for it.
		srv := labtest.Redis(t)
		p := startLogged(t, path, "ingestion", append(slices.Clone(long), "--target", srv.URL()+"?read_timeout=10m&write_timeout=10m")...)
		require.NoError(t, measured(p.out, 2))
		srv.Pause()
		defer srv.Resume()
		require.NoError(t, p.Process.Signal(os.Interrupt))
		p.says(t, "interrupted: calls under way may finish")
		time.Sleep(2 * echo)
		require.NoError(t, p.Process.Signal(os.Interrupt))
		assert.Equal(t, 130, p.end(t), p.text(t))
		assert.NotContains(t, p.text(t), "goroutine ")
		assert.Equal(t, "interrupt", p.folder(t).Run.EndedBy, "the report is there all the same")
	})
	t.Run("echo", func(t *testing.T) {
		t.Parallel()
		p := start(t, path, long...)
		require.NoError(t, measured(p.out, 2))
		require.NoError(t, p.Process.Signal(os.Interrupt))
		require.NoError(t, p.Process.Signal(os.Interrupt))
		assert.Equal(t, 130, p.end(t), p.stderr.String())
		assert.Equal(t, "passed", p.folder(t).Run.Verification.State)
	})
	t.Run("frozen", func(t *testing.T) {
		t.Parallel()
		// Nobody waits as long as the store's timeouts: neither for the calls under
		// way nor for what verification would ask.
		srv := labtest.Redis(t)
		p := start(t, path, append(slices.Clone(long), "--target", srv.URL()+"?read_timeout=10m&write_timeout=10m")...)
		require.NoError(t, measured(p.out, 2))
		srv.Pause()
		defer srv.Resume()
		require.NoError(t, p.Process.Signal(os.Interrupt))
		assert.Equal(t, 130, p.end(t), p.stderr.String())
		assert.Contains(t, p.stderr.String(), "interrupted: calls under way may finish within 3 s; interrupt again to stop at once")
		f := p.folder(t)
		assert.Equal(t, "interrupt", f.Run.EndedBy)
		assert.Equal(t, "incomplete", f.Run.Verification.State)
		assert.Contains(t, f.Run.Verification.Summary, "the store did not answer after the interrupt")
	})
	t.Run("connecting", func(t *testing.T) {
		t.Parallel()
		silent, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = silent.Close() }()
		p := start(t, path, "--target", "redis://"+silent.Addr().String()+"?dial_timeout=10m&read_timeout=10m&write_timeout=10m")
		conn, err := silent.Accept()
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		require.NoError(t, p.Process.Signal(os.Interrupt))
		assert.Equal(t, 130, p.end(t), p.stderr.String())
		assert.Contains(t, p.stderr.String(), "perfbench: before the run began: interrupted")
	})
	t.Run("folder deleted", func(t *testing.T) {
		t.Parallel()
		p := start(t, path, long...)
		require.NoError(t, measured(p.out, 4)) // rows of the next second: all of the first is written
		require.NoError(t, os.Rename(p.out, p.out+"-away"))
		assert.Equal(t, 1, p.end(t), p.stderr.String()) // the journal cannot be written, which ends the run
		assert.Contains(t, p.stderr.String(), "was deleted during the run")
		assert.Contains(t, p.stdout.String(), "eligibility.putall", "the summary is there all the same")
		assert.NotContains(t, p.stdout.String(), "report in")
		assert.NotContains(t, p.stderr.String(), "is not a run folder")
	})
	t.Run("kill", func(t *testing.T) {
		t.Parallel()
		p := start(t, path, long...)
		require.NoError(t, measured(p.out, 4))
		require.NoError(t, p.Process.Kill())
		assert.Equal(t, -1, p.end(t))
		f := p.folder(t)
		assert.Equal(t, rundir.CutShort, f.Run.EndedBy)
		assert.Positive(t, f.Run.Operations[0].Count)
		report := exec.Command(path, "report", "latest", "--format", "json,csv,hlog,text,padogrid", "--out", "copy")
		report.Dir = p.Dir
		out, err := report.CombinedOutput()
		require.NoError(t, err, string(out))
		text, err := os.ReadFile(filepath.Join(p.Dir, "copy", "report.txt"))
		require.NoError(t, err)
		assert.Contains(t, string(text), "cut short")
	})
}
