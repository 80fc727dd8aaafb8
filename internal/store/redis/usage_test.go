package redis_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/storetest"
)

// What each write waits for and how many commands were slow is told, and left out where
// the server does not tell it to us.
func TestSyncsAndSlowCommandsAreTold(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always", "--slowlog-log-slower-than", "0")
	c := open(t, srv.URL())
	values := func(list []store.Reading) map[string]float64 {
		out := map[string]float64{}
		for _, r := range list {
			out[r.Name] = r.Value
		}
		return out
	}
	told := values(storetest.Readings(t, c, func() { do(t, c, "ping") }, "slow_commands_per_s"))
	assert.InDelta(t, 1, told["aof_syncs_each_write"], 0)

	require.NoError(t, c.Client().Do(t.Context(), "acl", "setuser", "app", "on", ">correct-horse", "~*", "&*", "+@all", "-config", "-slowlog").Err())
	list, err := open(t, strings.Replace(srv.URL(), "redis://", "redis://app:correct-horse@", 1)).Readings(t.Context())
	require.ErrorContains(t, err, "read its settings: NOPERM ")
	require.ErrorContains(t, err, "read its log of slow commands: NOPERM ")
	told = values(list)
	assert.Contains(t, told, "commands_per_s")
	assert.NotContains(t, told, "aof_syncs_each_write")
	assert.NotContains(t, told, "slow_commands_per_s")
}

func TestOwnScriptsAreNotTheApplications(t *testing.T) {
	t.Parallel()
	c := open(t, labtest.Redis(t).URL())
	storetest.OwnCallsLeftOut(t, c, func() error { return c.Client().Eval(t.Context(), "return 1", nil).Err() })
}
