package redis_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
)

// lacks returns what a server lacks, with its reasons.
func lacks(t *testing.T, c *redis.Conn) map[store.Ability]string {
	t.Helper()
	facts, err := storetest.As[store.Factual](t, c).Facts(t.Context())
	require.NoError(t, err)
	out := map[store.Ability]string{}
	for _, f := range facts.All {
		if f.Lacks != nil {
			out[f.Ability] = f.Lacks.Error()
		}
	}
	return out
}

// hidden are the arguments of a server that does not know some commands.
func hidden(commands ...string) []string {
	var out []string
	for _, c := range commands {
		out = append(out, "--rename-command", c, "")
	}
	return out
}

// Everything that a store can do works on a server that runs no scripts, as Garnet does by
// default, and on one whose user may not call them.
func TestConformanceWithoutScripts(t *testing.T) {
	t.Parallel()
	bare := labtest.Redis(t, hidden("EVAL", "EVALSHA", "SCRIPT", "FCALL")...)
	guarded := labtest.Redis(t)
	do(t, open(t, guarded.URL()), "acl", "setuser", "app", "on", ">correct-horse", "~*", "&*", "+@all", "-@scripting")
	for name, target := range map[string]string{"renamed": bare.URL(), "by ACL": as(guarded.URL(), "app", "correct-horse")} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) store.Conn { return open(t, target) })
			c := open(t, target)
			assert.Equal(t, int64(0), do(t, c, "dbsize"), "the tests leave nothing behind")
			assert.Contains(t, lacks(t, c), store.Scripts)
			assert.Contains(t, lacks(t, c), store.FreeKeys)
			assert.Contains(t, lacks(t, c), store.Functions)
			assert.NotContains(t, lacks(t, c), store.Transactions)
			require.NoError(t, c.Prober.Probe(t.Context(), space("a")))
		})
	}
}

// A put without scripts is one transaction: nobody comes between its read and its write.
func TestPutWithoutScriptsIsATransaction(t *testing.T) {
	t.Parallel()
	c := open(t, labtest.Redis(t, hidden("EVAL")...).URL())
	do(t, c, "config", "resetstat")
	require.NoError(t, c.Maps.Put(t.Context(), space("a"), []byte("k"), []byte("v")))
	require.NoError(t, c.Maps.PutGroup(t.Context(), grouped("g"), []byte("x"), []byte("k"), []byte("v")))
	stats, err := c.Client().InfoMap(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	for _, name := range []string{"multi", "hget", "hset", "exec"} {
		assert.Contains(t, stats["Commandstats"]["cmdstat_"+name], "calls=2,", name)
	}
}

// The register tells each holder of another who came, as it does with scripts.
func TestNeighboursWithoutScripts(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t, hidden("EVAL")...)
	one, other := open(t, srv.URL()), open(t, srv.URL())
	_, how, err := one.Leases.Hold(t.Context(), "one", store.Lease{Run: "first", Token: "1"}, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, store.Taken, how)
	second := store.Lease{Run: "second", Token: "2"}
	_, how, err = other.Leases.Hold(t.Context(), "other", second, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, store.Taken, how)
	require.NoError(t, other.Leases.Free(t.Context(), "other", second))
	came, err := one.Leases.Neighbours(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []store.Lease{second}, came, "it came and went")
}

// What a server withholds is told by its name, with what it answered.
func TestWhatAServerLacks(t *testing.T) {
	t.Parallel()
	whole := open(t, labtest.Redis(t).URL())
	assert.Empty(t, lacks(t, whole))

	few := labtest.Redis(t, hidden("CONFIG", "XLEN", "MULTI", "SLOWLOG", "LATENCY", "FUNCTION")...)
	got := lacks(t, open(t, few.URL()))
	for _, a := range []store.Ability{"config", store.Streams, store.Transactions, "slowlog", "latency", store.Functions} {
		assert.Contains(t, got[a], "unknown command", a)
	}
	assert.NotContains(t, got, store.Scripts)

	do(t, open(t, few.URL()), "acl", "setuser", "app", "on", ">correct-horse", "~*", "+@all", "-info")
	silent := open(t, as(few.URL(), "app", "correct-horse"))
	assert.Contains(t, lacks(t, silent)["info"], "NOPERM")
	info, err := silent.Info(t.Context())
	require.NoError(t, err, "a server that does not tell about itself can be used")
	assert.Equal(t, "redis", info.Name)
}

// A server that withholds CLUSTER is not taken for a broken cluster.
func TestAClusterThatWithholdsItsNodes(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t, hidden("CLUSTER")...)
	_, err := try(t, "redis+cluster://"+srv.Addr())
	refused(t, err, "the server withholds CLUSTER", "redis://")
}

// A plan that needs what a server lacks is refused in one sentence, with what works.
func TestANeedThatIsNotMet(t *testing.T) {
	t.Parallel()
	c := open(t, labtest.Redis(t, hidden("EVAL")...).URL())
	needs := []store.Need{{Ability: store.Transactions, For: "atomic=watch"}, {Ability: store.Scripts, For: "mode=saga", Instead: "use mode=pbm"}}
	refused(t, store.Require(t.Context(), c, needs), "mode=saga needs Lua scripts, which this server lacks: ERR unknown command", "use mode=pbm")
	require.NoError(t, store.Require(t.Context(), c, needs[:1]))
}
