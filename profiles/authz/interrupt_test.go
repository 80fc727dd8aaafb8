package authz_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/report"
	"github.com/perfbench/perfbench/profiles/profiletest"
)

// childEnv tells a process that it is the one to be killed, and what to run.
const childEnv = "AUTHZ_TEST_CHILD"

// TestChild is no test of its own: it is what the test below starts and kills. It
// says how much it has done.
func TestChild(t *testing.T) {
	what := os.Getenv(childEnv)
	if what == "" {
		t.Skip("this is what TestKilledLoadGoesOn starts")
	}
	words := strings.Split(what, " ")
	l := start(t, words[0], words[1:]...)
	for {
		select {
		case <-l.Done():
			return
		case <-time.After(time.Millisecond):
			fmt.Println("done", l.Snapshot().Done) //nolint:forbidigo // to the process that waits for it
		}
	}
}

// killed runs a child, kills it the hard way once it has done more than n units,
// and returns how many it had surely done by then.
func killed(t *testing.T, n int64, target string, set ...string) (done int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(append([]string{target}, set...), " "))
	cmd.Dir = t.TempDir()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && done <= n {
		if text, ok := strings.CutPrefix(lines.Text(), "done "); ok {
			done, err = strconv.ParseInt(text, 10, 64)
			require.NoError(t, err)
		}
	}
	require.NoError(t, cmd.Process.Kill())
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.False(t, exit.Exited(), "it was killed and did not end")
	require.Greater(t, done, n)
	return done
}

// sum adds up operations over all tracks.
func sum(r *rundir.Run, ops ...string) (n int64) {
	for _, op := range ops {
		count, _ := total(r, op)
		n += count
	}
	return n
}

// A load that was killed in the middle goes on under the same tenants: what was
// marked is not stored again, at most a batch for each worker is, and nothing is
// missing.
func TestKilledLoadGoesOn(t *testing.T) {
	t.Parallel()
	const workers, batch = 3, 20
	cassandra := labtest.Cassandra(t).URL()
	for name, c := range map[string]struct {
		target string
		set    []string
		ops    []string
		all    int64
		kill   int64
	}{
		"checks": {
			target: cassandra, ops: []string{"user", "group", "membership"}, kill: 300,
			set: []string{"namespace=killedchecks", "users=100", "groups=25", "variant=v1", "tests=valid", "seed=5"},
		},
		"profiles": {
			target: cassandra, ops: []string{"user", "section"}, all: 3 * 200, kill: 350,
			set: []string{"namespace=killedprofiles", "mode=user-profile", "users=200", "seed=5"},
		},
		"only users": {
			target: labtest.Redis(t).URL(), ops: []string{"user", "section"}, all: 3 * 4000, kill: 1000,
			set: []string{"mode=user-profile", "users=4000", "seed=5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := append([]string{fmt.Sprintf("threads=%d", workers), fmt.Sprintf("loadBatch=%d", batch)}, c.set...)
			before := killed(t, c.kill, c.target, set...)
			o := finish(t, start(t, c.target, set...))
			require.NoError(t, o.Err)
			assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
			again := sum(&o.Run, c.ops...)
			if c.all == 0 {
				f := profiletest.Facts[report.Facts](t, o)
				c.all = int64(f.Dataset.Users + f.Dataset.Groups + f.Dataset.Memberships)
			}
			assert.Positive(t, again)
			assert.LessOrEqual(t, again, c.all-before+workers*batch, "at most one batch a worker is written again")
		})
	}
}
