package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Whatever file a command waits for, here one that somebody holds open and never writes, an
// interrupt ends it.
func TestAnInterruptEndsTheWaitForAnyFile(t *testing.T) {
	t.Parallel()
	path, dir := binary(t), t.TempDir()
	doing(t, nil, "run", "event-store", "--set", "events=10", "--set", "queries=1", "--quiet", "--target", "memory:", "--out", filepath.Join(dir, "results"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(strings.Repeat("0123", 8)), 0o600))
	const coordinator = "run ingestion --target memory: --count 10 --workers 1 "
	for _, line := range []string{
		"run ingestion --target memory: --count 10 -f PIPE",
		"run ingestion --target memory: --count 10 --password-file PIPE",
		"run event-store --target memory: --count 10 --facts PIPE",
		"run PIPE.yaml", "run PIPE.yaml --dry-run",
		coordinator + "--listen 127.0.0.1:0 --token-file PIPE",
		coordinator + "--listen 127.0.0.1:0 --token-file token --watch-token-file PIPE",
		coordinator + "--listen 127.0.0.1:0 --token-file token --tls-cert PIPE --tls-key PIPE",
		coordinator + "--nats nats://127.0.0.1:1 --coordinator-key PIPE",
		"find ingestion --under p99<1s --target memory: -f PIPE", "sweep ingestion --over threads=1,2 --target memory: -f PIPE",
		"join nats://127.0.0.1:1 --token-file PIPE", "join tls://127.0.0.1:1 --tls-ca PIPE", "join nats://127.0.0.1:1 --password-file PIPE",
		"workers nats://127.0.0.1:1 --token-file PIPE",
		"data list --target redis://127.0.0.1:1 --password-file PIPE", "data list --target redis://127.0.0.1:1 --file PIPE",
		"doctor redis://127.0.0.1:1 --password-file PIPE", "resume latest --password-file PIPE",
		"report latest --format th2 --facts PIPE",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe")
			if strings.Contains(line, "PIPE.yaml") {
				pipe += ".yaml"
			}
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			held, err := os.OpenFile(pipe, os.O_RDWR, 0)
			require.NoError(t, err)
			defer func() { _ = held.Close() }()
			c := exec.Command(path, strings.Fields(strings.NewReplacer("PIPE.yaml", pipe, "PIPE", pipe).Replace(line))...)
			var said strings.Builder
			c.Dir, c.Env, c.Stdout, c.Stderr = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, &said, &said
			require.NoError(t, c.Start())
			ended := make(chan error, 1) // one value: the sender never waits
			go func() { ended <- c.Wait() }()
			t.Cleanup(func() { _ = c.Process.Kill() }) // long gone, unless the test has failed
			require.True(t, eventually(screenLimit, func() bool { return reads(c.Process.Pid, pipe) }), "it does not read the file")
			require.NoError(t, c.Process.Signal(syscall.SIGTERM))
			<-ended
			assert.Equal(t, 130, c.ProcessState.ExitCode(), said.String())
			assert.Contains(t, said.String(), "interrupted")
		})
	}
}

// reads reports whether a process has opened a file.
func reads(pid int, path string) bool {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is ours, and right
	return slices.ContainsFunc(all, func(fd string) bool {
		to, err := os.Readlink(fd)
		return err == nil && to == path
	})
}

// Commands that only look at runs end at an interrupt, whatever they are doing: here they
// write to somebody who does not read on.
func TestAnInterruptEndsWhatOnlyReads(t *testing.T) {
	tier.Slow(t, tier.Computes)
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results")
	for range 2 {
		doing(t, nil, "run", "ingestion", "--count", "100", "--quiet", "--target", "memory:", "--out", out)
	}
	for _, line := range []string{
		"report latest --format html --out - --runs", "history --runs", "history --json --runs", "history prune --keep 1 --dry-run --runs", "compare -2 -1 --runs", "list presets",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(line)
			if args[len(args)-1] == "--runs" {
				args = append(args, out)
			}
			r, w := io.Pipe()
			defer func() { _ = r.Close() }()
			signals := make(chan os.Signal, 1)
			code := make(chan int, 1)
			go func() {
				code <- run(t.Context(), cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: w, Stderr: io.Discard, Signals: signals})
			}()
			_, err := r.Read(make([]byte, 1))
			require.NoError(t, err)
			signals <- os.Interrupt
			assert.Equal(t, 130, <-code)
		})
	}
}

// A pipe in the place of a document does not make who writes it wait.
func TestAPipeInPlaceOfADocumentIsReplaced(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results")
	doing(t, nil, "run", "ingestion", "--count", "100", "--quiet", "--target", "memory:", "--out", out)
	dirs, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	require.Len(t, dirs, 1)
	for _, name := range []string{"NOTICE.txt", "report.txt"} {
		_ = os.Remove(filepath.Join(dirs[0], name))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dirs[0], name), 0o600))
	}
	doing(t, nil, "report", dirs[0], "--format", "text")
	info, err := os.Lstat(filepath.Join(dirs[0], "report.txt"))
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
}

// Who is asked for a password need not type one to get away, and has a terminal that echoes.
func TestAnInterruptEndsTheQuestionForAPassword(t *testing.T) {
	t.Parallel()
	path, dir := binary(t), t.TempDir()
	for _, line := range []string{"run ingestion --count 10 --target redis://me@127.0.0.1:1", "data list --target redis://me@127.0.0.1:1"} {
		c := exec.Command(path, strings.Fields(line)...)
		c.Dir, c.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm"}
		on := inBareTerminal(t, c, 80, 24)
		on.hears("password for ")
		echoes := func() bool {
			state, err := unix.IoctlGetTermios(int(on.master.Fd()), unix.TCGETS)
			return err == nil && state.Lflag&unix.ECHO != 0
		}
		require.True(t, eventually(screenLimit, func() bool { return !echoes() }))
		on.types("\x03")
		require.True(t, eventually(screenLimit, echoes), "it echoes again")
		on.hears("interrupted")
		_ = c.Wait()
		assert.Equal(t, 130, c.ProcessState.ExitCode(), line)
	}
}
