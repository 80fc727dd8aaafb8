package redis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
)

// What each write waits for and how many commands were slow is told, and left out where
// the server does not tell it to us.
func TestSyncsAndSlowCommandsAreTold(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always", "--slowlog-log-slower-than", "0", "--latency-monitor-threshold", "1")
	c := open(t, srv.URL())
	values := func(list []store.Reading) map[string]float64 {
		out := map[string]float64{}
		for _, r := range list {
			out[r.Name] = r.Value
		}
		return out
	}
	told := values(storetest.Readings(t, c.Meter, func() { do(t, c, "ping") }, "slow_commands_per_s"))
	assert.InDelta(t, 1, told["aof_syncs_each_write"], 0)
	assert.Contains(t, told, store.Uptime)
	assert.NotContains(t, told, store.Began, "it reads its log of writes, and does not say what of it")

	_, at, err := c.Meter.Noted(t.Context(), nil)
	require.NoError(t, err)
	const busy = "local function ms() local t = redis.call('time') return t[1] * 1000 + t[2] / 1000 end local from = ms() while ms() < from + 5 do end return 1"
	script := func(n store.Noted) bool {
		return n.Command == "EVAL" && n.Key == "perfbench:{x}" && n.For >= 5*time.Millisecond
	}
	spike := func(n store.Noted) bool { return n.Event == "command" && n.For >= 5*time.Millisecond }
	var noted []store.Noted
	var next store.Bookmark
	// A spike in the second of an earlier one, as a busy machine makes them, is not told apart from that.
	require.Eventually(t, func() bool {
		require.NoError(t, c.Client().Eval(t.Context(), busy, []string{"perfbench:{x}"}, "correct-horse").Err())
		noted, next, err = c.Meter.Noted(t.Context(), at)
		require.NoError(t, err)
		return slices.ContainsFunc(noted, script) && slices.ContainsFunc(noted, spike)
	}, time.Minute, time.Second, noted)
	assert.NotContains(t, fmt.Sprint(noted), "correct-horse")
	noted, _, err = c.Meter.Noted(t.Context(), next)
	require.NoError(t, err)
	assert.NotEmpty(t, noted, "it notes every command")
	assert.False(t, slices.ContainsFunc(noted, script), "that was told before")
	noted, _, err = c.Meter.Noted(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, noted, "what was before the run is not the run's")

	require.NoError(t, c.Client().Do(t.Context(), "acl", "setuser", "app", "on", ">correct-horse", "~*", "&*", "+@all", "-config", "-slowlog", "-latency").Err())
	limited := open(t, strings.Replace(srv.URL(), "redis://", "redis://app:correct-horse@", 1))
	list, err := limited.Meter.Readings(t.Context())
	require.ErrorContains(t, err, "read its settings: NOPERM ")
	require.ErrorContains(t, err, "read its log of slow commands: NOPERM ")
	_, at, err = limited.Meter.Noted(t.Context(), nil)
	require.ErrorContains(t, err, "read its latency monitor: NOPERM ")
	assert.NotNil(t, at, "it is told once, and the run goes on")
	told = values(list)
	assert.Contains(t, told, "commands_per_s")
	assert.NotContains(t, told, "aof_syncs_each_write")
	assert.NotContains(t, told, "slow_commands_per_s")
}

func TestOwnScriptsAreNotTheApplications(t *testing.T) {
	t.Parallel()
	url := labtest.Redis(t).URL()
	c := open(t, url)
	storetest.OwnCallsLeftOut(t, c, func() error { return c.Client().Eval(t.Context(), "return 1", nil).Err() })

	// The lease may be asked for over a connection of its own.
	before := c.Meter.Usage(t.Context())
	_, how, err := open(t, url).Leases.Hold(t.Context(), "own_calls", store.Lease{Run: "another"}, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, store.Taken, how)
	assert.Equal(t, before.Calls, c.Meter.Usage(t.Context()).Calls)
}
