package profiletest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// processEnv tells a process of a test binary that it is to be killed, and what to run.
const processEnv = "PERFBENCH_TEST_PROCESS"

// asked is what a process is to run.
type asked struct {
	Target, Preset, Out string
	Set                 []string
	// Join is where the process joins a run as a worker and does nothing else; empty: it does not.
	Join string
	// DiesAfter is how many units the process does before it kills itself; 0: it does
	// not.
	DiesAfter int64
	// Workers is how many workers do the work instead of the process; 0: the process
	// does it. Moment is when it dies.
	Workers int
	Moment  Moment
}

// Child must be called by a test named TestChild in packages that use [Spawn]. In the
// spawned process it carries out the run, and reports how much it has done. Elsewhere
// it skips the test.
func Child(t *testing.T, p workload.Profile) {
	t.Helper()
	text := os.Getenv(processEnv)
	if text == "" {
		t.Skip("other tests start this, and kill it")
	}
	var a asked
	require.NoError(t, json.Unmarshal([]byte(text), &a))
	if a.Join != "" {
		require.NoError(t, join(t, p, a.Join))
		return
	}
	c := Case{Profile: p, Target: a.Target, Preset: a.Preset, Out: a.Out, Set: a.Set}
	if a.Moment != "" {
		c.Profile = a.Moment.fatal(t, p)
	}
	l := c.begin(t, a.Workers, func(url string) { fmt.Println("join", url) }) //nolint:forbidigo // to the process that waits for it
	for {
		select {
		case <-l.Done(): // nobody has killed it
			if a.Moment == AtWork { // which ended before this process had its turn
				die(t)
			}
			o := l.Conclude(t.Context())
			require.NoError(t, o.Err)
			require.Fail(t, "it came to its end", o.Run.Verification.Summary)
		case <-time.After(time.Millisecond):
			done := l.Snapshot().Done
			fmt.Println("done", done) //nolint:forbidigo // to the process that waits for it
			if a.DiesAfter > 0 && done > a.DiesAfter {
				die(t)
			}
		}
	}
}

// die ends this process as a crash would.
func die(t *testing.T) {
	self, err := os.FindProcess(os.Getpid())
	assert.NoError(t, err)
	assert.NoError(t, self.Kill())
	select {}
}

// Process is a run in a separate process. It belongs to the test's goroutine.
type Process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	said  strings.Builder // its other output
	done  int64
}

// Spawn begins a run in a separate process, which takes the target, the folder and the
// settings from the case, and ends with the test.
func Spawn(t *testing.T, c Case) *Process {
	t.Helper()
	return spawn(t, c, asked{})
}

// Crash carries out a run in a separate process, which kills itself once it has done
// more than n units, since nobody else could be sure to do that in time. It returns how
// many units it has certainly done.
func Crash(t *testing.T, c Case, n int64) int64 {
	t.Helper()
	p := spawn(t, c, asked{DiesAfter: n})
	done := p.Until(n)
	p.gone()
	return done
}

func spawn(t *testing.T, c Case, a asked) *Process {
	t.Helper()
	a.Target, a.Preset, a.Out, a.Set = c.Target, c.Preset, c.Out, c.Set
	text, err := json.Marshal(a)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), processEnv+"="+string(text), "TMPDIR="+t.TempDir()) // a killed process cannot clean up
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	return &Process{t: t, cmd: cmd, lines: bufio.NewScanner(out)}
}

// Until waits until the run has done more than n units, and returns how many it has
// certainly done.
func (p *Process) Until(n int64) int64 {
	p.t.Helper()
	for p.done <= n && p.lines.Scan() {
		if text, ok := strings.CutPrefix(p.lines.Text(), "done "); ok {
			var err error
			p.done, err = strconv.ParseInt(text, 10, 64)
			require.NoError(p.t, err)
		} else {
			p.said.WriteString(p.lines.Text() + "\n")
		}
	}
	if p.done <= n {
		require.Failf(p.t, "the run does not come so far", "it did %d of more than %d, and ended with %v:\n%s", p.done, n, p.cmd.Wait(), p.said.String())
	}
	return p.done
}

// Kill ends the process as a crash would, and returns when it is gone.
func (p *Process) Kill() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Kill())
	p.gone()
}

// gone waits for a process that was killed.
func (p *Process) gone() {
	p.t.Helper()
	var exit *exec.ExitError
	require.ErrorAs(p.t, p.cmd.Wait(), &exit)
	require.False(p.t, exit.Exited(), "it was killed and did not end:\n%s", p.said.String())
}
