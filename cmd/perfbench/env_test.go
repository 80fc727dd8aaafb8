package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// terminal runs the command as a person at a terminal would, who types input and
// whose password is secret.
func terminal(t *testing.T, input, secret string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), cli.Env{
		Args: args, Environ: []string{"HOME=" + t.TempDir()},
		Stdin: strings.NewReader(input), Stdout: &out, Stderr: &err,
		StdinTerminal: true, StderrTerminal: true,
		ReadSecret: func(_ context.Context, prompt string) (string, error) {
			err.WriteString(prompt + "\n")
			if secret == "" {
				return "", errors.New("no more input")
			}
			return secret, nil
		},
	})
	return code, out.String(), err.String()
}

func TestPasswordIsAskedForOnATerminal(t *testing.T) {
	srv := labtest.Redis(t, "--requirepass", "pr0mpted")
	out := filepath.Join(t.TempDir(), "results")
	args := []string{"run", "--profile", "ingestion", "--count", "100", "--quiet", "--out", out, "--target"}

	code, _, stderr := terminal(t, "", "pr0mpted", append(args, srv.URL())...)
	assert.Equal(t, 0, code, stderr)
	assert.Contains(t, stderr, "password for "+srv.URL()+": ", "the server wants one")

	withUser := strings.Replace(srv.URL(), "redis://", "redis://default@", 1)
	code, _, stderr = terminal(t, "", "pr0mpted", append(args, withUser)...)
	assert.Equal(t, 0, code, stderr)
	assert.Contains(t, stderr, "password for "+withUser+": ", "the target names a user")
	assert.NotContains(t, stderr, "pr0mpted")

	code, _, stderr = terminal(t, "", "", append(args, withUser)...)
	assert.Equal(t, fault.CodeInput, code)
	assert.Contains(t, stderr, "no password was typed")

	code, stdout, stderr := terminal(t, "", "pr0mpted", "data", "list", "--target", srv.URL())
	assert.Equal(t, 0, code, stderr)
	assert.Contains(t, stdout, "eligibility")

	missing := filepath.Join(t.TempDir(), "none.db")
	code, _, stderr = terminal(t, "", "", "data", "list", "--target", "sqlite:"+missing)
	assert.Equal(t, fault.CodeInput, code)
	assert.Contains(t, stderr, "there is no file "+missing)
	assert.NoFileExists(t, missing)

	require.NoError(t, filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		assert.NotContains(t, string(data), "pr0mpted", path)
		return err
	}))
}

func TestDeleteAsksOnATerminal(t *testing.T) {
	srv := labtest.Redis(t)
	code, _, stderr := terminal(t, "", "", "run", "--profile", "ingestion", "--count", "100", "--quiet", "--out", t.TempDir(), "--target", srv.URL())
	require.Equal(t, 0, code, stderr)

	code, stdout, stderr := terminal(t, "n\n", "", "data", "delete", "--target", srv.URL())
	assert.Equal(t, 0, code)
	assert.Contains(t, stderr, "Delete these 2 spaces for good? [y/N]")
	assert.Contains(t, stdout, "nothing was deleted")

	code, stdout, _ = terminal(t, "", "", "data", "delete", "--target", srv.URL())
	assert.Equal(t, 0, code, "no answer is no")
	assert.Contains(t, stdout, "nothing was deleted")

	code, stdout, _ = terminal(t, "Yes\n", "", "data", "delete", "--target", srv.URL())
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "eligibility: 50 entries gone")
}

func TestInterruptInProcess(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	var stdout, stderr bytes.Buffer
	out := filepath.Join(t.TempDir(), "results")
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	require.NoError(t, os.WriteFile(plan, []byte("{profile: ingestion, duration: 10m, runs: [{name: first}, {name: second}]}"), 0o600))
	signals := make(chan os.Signal)
	done := make(chan int)
	go func() {
		done <- run(t.Context(), cli.Env{
			Args:    []string{"run", plan, "--at", "0s:threads=12", "--threshold", "p99<1h", "--out", out},
			Environ: []string{"HOME=" + t.TempDir()}, Stdout: &stdout, Stderr: &stderr, Signals: signals,
		})
	}()
	require.NoError(t, measured(out, 2))
	signals <- os.Interrupt
	assert.Equal(t, fault.CodeInterrupted, <-done)
	assert.Contains(t, stdout.String(), "verification passed")
	assert.Contains(t, stderr.String(), "threads 8 → 12 (timetable)")
	assert.Regexp(t, "(?m)^second .* did not start$", stdout.String(), "and of a suite nothing else begins")
}

func TestErrorsOneByOneWithTheirHints(t *testing.T) {
	var b bytes.Buffer
	a := &cli.Call{Env: cli.Env{Stderr: &b}}
	one := fault.Input(errors.New("threads: 0 is too few"), "use one")
	two := fmt.Errorf("at %q: %w", "1s", fault.Input(errors.New("no knob \x1b[31mx"), "did you mean y?"))
	a.Report(fault.Code(errors.Join(one, errors.Join(two, one)), fault.CodeInput))
	assert.Equal(t, `perfbench: threads: 0 is too few
  use one
perfbench: at "1s": no knob ?[31mx
  did you mean y?
`, b.String())
}

func TestBugEndsInOneSentence(t *testing.T) {
	var b bytes.Buffer
	a := &cli.Call{Env: cli.Env{Args: []string{"version"}, Stderr: &b, Stdout: failing{}}, Hard: t.Context()}
	assert.Equal(t, fault.CodeOther, execute(context.Background(), a))
	assert.Equal(t, "perfbench: this is a bug in perfbench: stdout is gone\n  please report it with the command line that you used\n", b.String())
}

func TestStdoutThatCannotBeWrittenIsAnError(t *testing.T) {
	var b bytes.Buffer
	code := run(t.Context(), cli.Env{Args: []string{"list"}, Stderr: &b, Stdout: full{}})
	assert.Equal(t, fault.CodeOther, code)
	assert.Equal(t, "perfbench: write to stdout: no space left\n", b.String())
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// failing panics when written to, as no code of ours should.
type failing struct{}

func (failing) Write([]byte) (int, error) { panic("stdout is gone") }
