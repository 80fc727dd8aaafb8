//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Whatever fails for want of files, a connection, the embedded server, a database in
// a file or the run's own folder, names the limit and what raises it.
func TestTooFewFilesAreNamedAsTheLimitTheyAre(t *testing.T) {
	t.Parallel()
	path := binary(t)
	for name, tt := range map[string]struct {
		srv   func(t *testing.T) *labtest.Server
		url   string // without a server
		files []int
		args  []string
	}{
		"redis":     {srv: func(t *testing.T) *labtest.Server { return labtest.Redis(t) }, files: []int{10, 16}},
		"mariadb":   {srv: func(t *testing.T) *labtest.Server { return labtest.MariaDB(t) }, files: []int{10, 16}},
		"postgres":  {srv: func(t *testing.T) *labtest.Server { return labtest.Postgres(t) }, files: []int{10, 16}},
		"cassandra": {srv: func(t *testing.T) *labtest.Server { return labtest.Cassandra(t) }, files: []int{9, 10}},
		"coherence": {srv: func(t *testing.T) *labtest.Server { return labtest.Coherence(t) }, files: []int{9}},
		"embedded":  {url: "embedded:", files: []int{10, 16}},
		"sqlite":    {url: "sqlite:x.db", files: []int{9, 10}},
		"amqp":      {srv: func(t *testing.T) *labtest.Server { return labtest.RabbitMQ(t) }, url: "sqlite:x.db", files: []int{12, 16}, args: []string{"--profile", "event-store"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "redis" && tt.srv != nil {
				tier.Full(t, "the cases redis, embedded and sqlite")
			}
			switch {
			case name == "redis":
				tt.url = with(tt.srv(t).URL(), "pipelining=off")
			case name == "amqp":
				tt.args = append(tt.args, "--set", "via="+tt.srv(t).URL())
			case tt.srv != nil:
				tt.url = tt.srv(t).URL()
			}
			for _, files := range tt.files {
				// What the tests were started with may have left files open.
				c := exec.Command("sh", "-c", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- && ulimit -n "+strconv.Itoa(files)+` && exec "$@"`, "sh",
					path, "run", "--profile", "ingestion", "--target", tt.url, "--threads", "40", "--count", "4000", "--quiet")
				c.Args = append(c.Args, tt.args...)
				c.Dir = t.TempDir()
				out, err := c.CombinedOutput()
				text := string(out)
				assert.Error(t, err, "%s, %d files: %s", name, files, text)
				assert.Contains(t, text, "this process may have "+strconv.Itoa(files)+" files and connections open at once (ulimit -n)", text)
				for _, wrong := range []string{"is the server running", "does its folder exist", "firewall", "goroutine "} {
					assert.False(t, strings.Contains(text, wrong), "%s, %d files: %s", name, files, text)
				}
			}
		})
	}
}

// A reader that goes away ends no run.
func TestReaderThatGoesAway(t *testing.T) {
	t.Parallel()
	path := binary(t)
	for name, pipe := range map[string]string{"both": "2>&1 | head -1", "stderr": "2>&1 >out | head -1", "stdout": "2>err | true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command("sh", "-c", `("$@"; echo $? >code) `+pipe, "sh", path, "run", "--profile", "ingestion", "--count", "4000", "--threads", "4", "--at", "10ms:rate=2000")
			c.Dir = t.TempDir()
			require.NoError(t, c.Run())
			require.Eventually(t, func() bool { // the pipe's end may come before the run's
				code, err := os.ReadFile(filepath.Join(c.Dir, "code"))
				return err == nil && string(code) == "0\n"
			}, 5*time.Minute, 20*time.Millisecond)
			dir, err := rundir.Find(filepath.Join(c.Dir, "results"), "latest")
			require.NoError(t, err)
			f, err := rundir.Load(dir)
			require.NoError(t, err)
			assert.Equal(t, "count", f.Run.EndedBy)
			assert.Equal(t, "passed", f.Run.Verification.State)
		})
	}
}

// What the README says of SIGQUIT.
func TestQuitDumpsAndLeavesTheFolder(t *testing.T) {
	t.Parallel()
	p := start(t, binary(t), long...)
	require.NoError(t, measured(p.out, 4))
	require.NoError(t, p.Process.Signal(syscall.SIGQUIT))
	assert.Equal(t, 2, p.end(t))
	assert.Contains(t, p.stderr.String(), "SIGQUIT: quit")
	assert.Contains(t, p.stderr.String(), "goroutine ")
	f := p.folder(t)
	assert.Equal(t, rundir.CutShort, f.Run.EndedBy)
	assert.Positive(t, f.Run.Operations[0].Count)
}
