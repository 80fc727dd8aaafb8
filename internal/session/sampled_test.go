package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
)

// sampled carries out a good second against a server, with a short warm-up.
func sampled(t *testing.T, target string) (*session.Concluded, *rundir.Folder) {
	t.Helper()
	r := asked(t, "threads", "1", "count", "100000000", "duration", "1200ms", "warmup", "300ms", "rate", "2000")
	r.Target = target
	o := carryOut(t, prepare(t, serverEnv(t, nil), r))
	require.NoError(t, o.Err)
	f, err := rundir.Load(o.Dir)
	require.NoError(t, err)
	return o, f
}

// Server and processes are sampled by the seconds of the run, its warm-up included. A
// server that refuses leaves the processes, and a word.
func TestServerIsSampledEverySecond(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	o, f := sampled(t, srv.URL())
	assert.Empty(t, o.Run.Notices)
	assert.Equal(t, workload.Passed, o.Run.Verification.State)
	// On a slow machine the run is there for a while before its first row and after its last.
	first, last := int(o.Run.Started.Sub(o.Run.Measured).Seconds())-1, int(o.Run.Ended.Sub(o.Run.Measured).Seconds())+1
	seen := map[string]int{}
	var calls, cpu float64
	for _, s := range f.Samples {
		seen[s.Source]++
		assert.GreaterOrEqual(t, s.T, first)
		assert.LessOrEqual(t, s.T, last)
		if s.Source == rundir.OfStore {
			switch s.Name {
			case "commands_per_s":
				calls = max(calls, s.Value)
			case "cpu_cores":
				cpu = max(cpu, s.Value)
			}
		}
	}
	for _, source := range []string{rundir.OfClient, rundir.OfMachine, rundir.OfProcess, rundir.OfStore} {
		assert.Positive(t, seen[source], source)
	}
	assert.Greater(t, calls, 50.0, "the server has counted what the run did")
	assert.Positive(t, cpu)

	url, err := redis.ParseURL(srv.URL())
	require.NoError(t, err)
	admin := redis.NewClient(url)
	t.Cleanup(func() { _ = admin.Close() })
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "app", "on", ">correct-horse", "~*", "&*", "+@all", "-slowlog").Err())
	app := strings.Replace(srv.URL(), "redis://", "redis://app:correct-horse@", 1)
	o, f = sampled(t, app)
	notices := strings.Join(o.Run.Notices, "\n")
	assert.Equal(t, 1, strings.Count(notices, "redis does not report everything about itself during the run: read its log of slow commands: NOPERM"), notices)
	assert.True(t, slices.ContainsFunc(f.Samples, func(s rundir.Sample) bool { return s.Name == "commands_per_s" }), "the rest is reported")

	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "app", "-info").Err())
	o, f = sampled(t, app)
	notices = strings.Join(o.Run.Notices, "\n")
	assert.Equal(t, 1, strings.Count(notices, "redis reports nothing about itself during the run"), notices)
	assert.NotContains(t, notices, "correct-horse")
	for _, s := range f.Samples {
		assert.NotEqual(t, rundir.OfStore, s.Source)
	}
	assert.NotEmpty(t, f.Samples, "the processes are there all the same")
}
