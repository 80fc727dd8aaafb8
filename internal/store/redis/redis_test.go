package redis_test

import (
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

var options = store.OpenOptions{Threads: 8, Log: slog.New(slog.DiscardHandler)}

// try opens a target.
func try(t *testing.T, target string) (*redis.Conn, error) {
	t.Helper()
	parsed, err := store.ParseTarget(target)
	if err != nil {
		return nil, err
	}
	require.NoError(t, store.CheckParams(parsed, redis.Driver.Params))
	c, err := redis.Open(t.Context(), parsed, options)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func open(t *testing.T, target string) *redis.Conn {
	t.Helper()
	c, err := try(t, target)
	require.NoError(t, err)
	return c
}

// with adds parameters to a target.
func with(target string, params ...string) string {
	sep := "?"
	if strings.Contains(target, "?") {
		sep = "&"
	}
	return target + sep + strings.Join(params, "&")
}

// as puts a user and a password into a target.
func as(target, user, password string) string {
	return strings.Replace(target, "://", "://"+user+":"+url.QueryEscape(password)+"@", 1)
}

func do(t *testing.T, c *redis.Conn, args ...any) any {
	t.Helper()
	v, err := c.Client().Do(t.Context(), args...).Result()
	require.NoError(t, err, "%v", args)
	return v
}

func space(name string) store.Space {
	return store.Space{Namespace: "perfbench", Name: name, Shape: store.Map}
}

func grouped(name string) store.Space {
	s := space(name)
	s.Grouped = true
	return s
}

func TestConformance(t *testing.T) {
	srv := labtest.Redis(t)
	for _, protocol := range []string{"2", "3"} {
		t.Run("protocol "+protocol, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) store.Conn {
				return open(t, with(srv.URL(), "protocol="+protocol))
			})
		})
	}
	t.Run("connection a caller", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) store.Conn { return open(t, with(srv.URL(), "pipelining=off")) })
	})
	t.Run("fence", func(t *testing.T) {
		storetest.Fence(t, redis.Driver, srv.URL())
		storetest.Proxy(t, redis.Driver, srv.URL())
		storetest.Fence(t, redis.Driver, with(srv.URL(), "pipelining=off"))
		storetest.Proxy(t, redis.Driver, with(srv.URL(), "pipelining=off"))
	})
	c := open(t, srv.URL())
	assert.Equal(t, int64(0), do(t, c, "dbsize"), "the tests leave nothing behind")
}

func TestConformanceOfCluster(t *testing.T) {
	t.Parallel()
	tier.Full(t, "a run of each profile on a cluster, and TestConformance")
	srv := labtest.Cluster(t)
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, srv.URL()) })
	t.Run("fence", func(t *testing.T) { storetest.Fence(t, redis.Driver, srv.URL()) })
	t.Run("proxy", func(t *testing.T) { storetest.Proxy(t, redis.Driver, srv.URL()) })
	info, err := open(t, srv.URL()).Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "cluster of 3 masters", info.Topology)
	u := open(t, srv.URL()).Meter.Usage(t.Context())
	assert.InDelta(t, 3, u.Cores, 0)
	assert.Positive(t, u.CPU)
	assert.False(t, u.Here, "only of a single server that is known")
	nodes := map[string]bool{}
	for _, r := range storetest.Readings(t, open(t, srv.URL()).Meter, func() {}, "commands_per_s") {
		nodes[r.Node] = true
	}
	assert.Len(t, nodes, 3)
	assert.NotContains(t, nodes, "", "each is named")
}

func TestConformanceOfSentinel(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestConformance, and cmd/perfbench's TestNothingOfOthersIsLost behind sentinels")
	srv := labtest.Sentinel(t)
	storetest.Run(t, func(t *testing.T) store.Conn { return open(t, srv.URL()) })
	info, err := open(t, srv.URL()).Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "sentinel", info.Topology)

	_, err = try(t, strings.Replace(srv.URL(), "/perfbench", "/perfbank", 1))
	refused(t, err, `the sentinels know no master named "perfbank"`, "they know: perfbench")
	_, err = try(t, "redis://"+srv.Addrs("sentinel")[0])
	refused(t, err, "is a sentinel, which keeps no data", "redis+sentinel://")
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	srv := labtest.Redis(t, "--unixsocket", path)
	c := open(t, "unix://"+path)
	require.NoError(t, c.Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v")))
	assert.Equal(t, "v", do(t, open(t, srv.URL()), "hget", "perfbench:a", "k"))
	_, err := try(t, "unix://"+path+"2")
	refused(t, err, "there is no such socket", "unixsocket")
}

func TestKeysAreNamedAsDocumented(t *testing.T) {
	srv := labtest.Redis(t)
	c := open(t, srv.URL())
	ctx := t.Context()
	bare := store.Space{Name: "eligibility", Shape: store.Map}
	require.NoError(t, c.Maps.Put(ctx, space("eligibility"), []byte("f"), []byte("v")))
	require.NoError(t, c.Maps.Put(ctx, bare, []byte("f"), []byte("v")))
	require.NoError(t, c.Maps.PutGroup(ctx, grouped("eligibility"), []byte("x17"), []byte("f"), []byte("v")))
	require.NoError(t, c.Records.Record(ctx, store.Made{Space: space("eligibility")}))
	require.NoError(t, c.Records.Record(ctx, store.Made{Space: bare}))
	assert.ElementsMatch(t, []any{
		"perfbench:eligibility", "eligibility", "perfbench:eligibility:{x17}",
		"perfbench:_made", "_perfbench_made",
	}, do(t, c, "keys", "*"))
	assert.Equal(t, "hash", do(t, c, "type", "perfbench:eligibility"))
}

func TestDatabaseOfTheTarget(t *testing.T) {
	srv := labtest.Redis(t)
	require.NoError(t, open(t, with(srv.URL(), "db=3")).Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v")))
	n, err := open(t, srv.URL()+"/3").Maps.Count(t.Context(), space("a"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, n)
	n, err = open(t, srv.URL()).Maps.Count(t.Context(), space("a"))
	require.NoError(t, err)
	assert.Zero(t, n)
	_, err = try(t, with(srv.URL(), "db=99"))
	refused(t, err, "there is no database 99", "databases")
}

func TestInfo(t *testing.T) {
	srv := labtest.Redis(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru", "--appendonly", "no")
	c := open(t, srv.URL())
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	assert.Contains(t, []string{"redis", "valkey"}, info.Name)
	assert.NotEmpty(t, info.Version)
	assert.Equal(t, "standalone", info.Topology)
	assert.Empty(t, info.NoFigure)
	assert.Greater(t, info.FreeBytes, int64(50<<20))
	assert.Less(t, info.FreeBytes, int64(100<<20))
	assert.Equal(t, "allkeys-lru", info.Details["maxmemory_policy"])
	assert.Equal(t, "no", info.Details["appendonly"])
	assert.Equal(t, "master", info.Details["role"])
	require.Len(t, info.Warnings, 1)
	assert.Contains(t, info.Warnings[0], "evicts keys when 100 MiB are full")

	before := c.Meter.Usage(t.Context())
	assert.Equal(t, "scripts", before.Kind)
	assert.True(t, before.Here)
	assert.Positive(t, before.Memory)
	require.NoError(t, c.Client().Eval(t.Context(), "return 1", nil).Err())
	after := c.Meter.Usage(t.Context())
	assert.EqualValues(t, 1, after.Calls-before.Calls)
	assert.Greater(t, after.Received, before.Received)
	assert.GreaterOrEqual(t, after.CPU, before.CPU)

	storetest.Readings(t, c.Meter, func() { require.ErrorIs(t, c.Client().Get(t.Context(), "nothing").Err(), goredis.Nil) }, "cpu_cores", "commands_per_s", "net_in_bytes_per_s", "misses_per_s")

	pool := c.Pool()
	assert.GreaterOrEqual(t, pool.Size, 8)
	assert.Positive(t, pool.Open)
	assert.Equal(t, 3, open(t, with(srv.URL(), "connections=3")).Pool().Size)
}

// A server that tells nothing about itself is no failure.
func TestInfoOfTightLipped(t *testing.T) {
	srv := labtest.Redis(t)
	admin := open(t, srv.URL())
	do(t, admin, "acl", "setuser", "app", "on", ">correct-horse", "~*", "+@read", "+@write", "+ping", "-info")
	info, err := open(t, as(srv.URL(), "app", "correct-horse")).Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "redis", info.Name)
	assert.Zero(t, info.FreeBytes)
	assert.Empty(t, info.Warnings)
}

func TestSingleNodeClusterIsReachedBothWays(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t, "--cluster-enabled", "yes")
	_, err := try(t, srv.URL())
	refused(t, err, "is a node of a cluster", "redis+cluster://")
	raw := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer raw.Close()
	_, err = try(t, strings.Replace(srv.URL(), "redis://", "redis+cluster://", 1))
	require.Error(t, err)
	require.NoError(t, raw.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	require.Eventually(t, func() bool {
		return strings.Contains(raw.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	}, 30e9, 50e6)
	for _, target := range []string{srv.URL(), strings.Replace(srv.URL(), "redis://", "redis+cluster://", 1)} {
		require.NoError(t, open(t, target).Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v")))
	}
}

// What is measured as one call is one command to the server and nothing beside.
func TestOneCallIsOneCommand(t *testing.T) {
	t.Parallel()
	for name, srv := range map[string]*labtest.Server{"standalone": labtest.Redis(t), "cluster": labtest.Cluster(t)} {
		t.Run(name, func(t *testing.T) {
			nodes := srv.Addrs("")
			each := func(f func(node *goredis.Client)) {
				for _, addr := range nodes {
					node := goredis.NewClient(&goredis.Options{Addr: addr, DisableIdentity: true})
					f(node)
					require.NoError(t, node.Close())
				}
			}
			each(func(node *goredis.Client) {
				rules := []any{"acl", "setuser", "app", "on", ">correct-horse", "~*", "+@read", "+@write", "+@scripting", "+ping", "+cluster|slots", "-command"}
				require.NoError(t, node.Do(t.Context(), rules...).Err())
			})
			c := open(t, as(srv.URL(), "app", "correct-horse"))
			s, g := space("a"), grouped("a")
			k, v := []byte("k"), []byte("v")
			entry := []store.Entry{{Key: k, Val: v}}
			require.NoError(t, c.Maps.Put(t.Context(), s, k, v)) // loads the script
			each(func(node *goredis.Client) { require.NoError(t, node.ConfigResetStat(t.Context()).Err()) })
			for range 10 {
				require.NoError(t, c.Maps.Put(t.Context(), s, k, v))
				require.NoError(t, c.Maps.Set(t.Context(), s, k, v))
				require.NoError(t, c.Maps.PutAll(t.Context(), s, entry))
				_, _, err := c.Maps.Get(t.Context(), s, k, nil)
				require.NoError(t, err)
				_, err = c.Maps.GetAll(t.Context(), s, [][]byte{k})
				require.NoError(t, err)
				require.NoError(t, c.Maps.PutGroups(t.Context(), g, []store.Group{{Name: k, Entries: entry}}))
			}
			calls := map[string]int{}
			each(func(node *goredis.Client) {
				for line := range strings.Lines(node.Info(t.Context(), "commandstats").Val()) {
					command, stats, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
					if !ok {
						continue
					}
					text, _, _ := strings.Cut(stats, ",")
					n, err := strconv.Atoi(text)
					require.NoError(t, err)
					calls[command] += n
				}
			})
			// Connections are greeted, a cluster is asked for its slots, and the
			// script calls hget and hset.
			for _, beside := range []string{"hello", "info", "config|resetstat", "cluster|slots", "auth", "select"} {
				delete(calls, beside)
			}
			assert.Equal(t, map[string]int{"evalsha": 10, "hset": 30, "hmset": 10, "hget": 20, "hmget": 10}, calls)
		})
	}
}

func TestWarmOpensConnections(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		srv   *labtest.Server
		nodes int
	}{"standalone": {labtest.Redis(t), 1}, "cluster": {labtest.Cluster(t), 3}} {
		t.Run(name, func(t *testing.T) {
			asks := open(t, tt.srv.URL()).Pool().Open // what it takes to look at the servers
			shared := open(t, with(tt.srv.URL(), "connections=40"))
			require.NoError(t, shared.Warm(t.Context(), 35))
			assert.Equal(t, asks+2*tt.nodes, shared.Pool().Open)
			one := open(t, with(tt.srv.URL(), "connections=1"))
			require.NoError(t, one.Warm(t.Context(), 35))
			assert.Equal(t, asks+tt.nodes, one.Pool().Open)
			c := open(t, with(tt.srv.URL(), "connections=40", "pipelining=off"))
			require.NoError(t, c.Warm(t.Context(), 35))
			p := c.Pool()
			assert.Equal(t, asks+35*tt.nodes, p.Open)
			assert.Equal(t, p.Open, p.Idle)
			require.NoError(t, c.Warm(t.Context(), 100))
			assert.Equal(t, asks+40*tt.nodes, c.Pool().Open, "no more than the pool may hold")
			assert.Zero(t, c.Pool().Waits)
		})
	}
	srv := labtest.Redis(t)
	c := open(t, srv.URL())
	srv.Kill()
	refused(t, c.Warm(t.Context(), 4), "", "")
}

// Processes under different namespaces of one server see each other's leases, and not their
// own; keys of others that are named like one are no leases.
func TestNeighboursAreSeenByTheirLeases(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), labtest.Redis(t).URL()
	a, b := open(t, url), open(t, url)
	do(t, a, "rpush", "their_lease", "x")
	do(t, a, "set", "another_lease", "{}")
	list, err := a.Leases.Neighbours(ctx)
	require.NoError(t, err)
	assert.Empty(t, list)
	mine, theirs := store.Lease{Run: "mine", Token: "1"}, store.Lease{Run: "theirs", Token: "2"}
	_, how, err := a.Leases.Hold(ctx, "one", mine, time.Minute)
	require.NoError(t, err)
	require.Equal(t, store.Taken, how)
	_, _, err = b.Leases.Hold(ctx, "", theirs, time.Minute)
	require.NoError(t, err)
	list, err = a.Leases.Neighbours(ctx)
	require.NoError(t, err)
	assert.Equal(t, []store.Lease{theirs}, list)
	list, err = b.Leases.Neighbours(ctx)
	require.NoError(t, err)
	assert.Equal(t, []store.Lease{mine}, list)
	require.NoError(t, b.Leases.Free(ctx, "", theirs))
	list, err = a.Leases.Neighbours(ctx)
	require.NoError(t, err)
	assert.Equal(t, []store.Lease{theirs}, list, "it came and went since")
	_, how, err = a.Leases.Hold(ctx, "one", mine, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, store.Renewed, how)
	list, err = a.Leases.Neighbours(ctx)
	require.NoError(t, err)
	assert.Equal(t, []store.Lease{theirs}, list, "and that is not forgotten")
	require.NoError(t, a.Leases.Free(ctx, "one", mine))
	_, _, err = a.Leases.Hold(ctx, "one", mine, time.Minute)
	require.NoError(t, err)
	list, err = a.Leases.Neighbours(ctx)
	require.NoError(t, err)
	assert.Empty(t, list)
	require.NoError(t, a.Leases.Free(ctx, "one", mine))
	assert.ElementsMatch(t, []any{"their_lease", "another_lease"}, do(t, a, "keys", "*"), "nothing is left of them")
}

// A user who may not write into the register holds the lease of a namespace all the same, and
// what the server refused is no call of ours.
func TestARegisterThatMayNotBeWrittenIsLeftOut(t *testing.T) {
	t.Parallel()
	ctx, srv := t.Context(), labtest.Redis(t)
	do(t, open(t, srv.URL()), "acl", "setuser", "app", "reset", "on", ">correct-horse", "~one:*", "+@all")
	c := open(t, as(srv.URL(), "app", "correct-horse"))
	l := store.Lease{Run: "mine", Token: "1"}
	_, how, err := c.Leases.Hold(ctx, "one", l, time.Minute)
	require.NoError(t, err)
	assert.Equal(t, store.Taken, how)
	before := c.Meter.Usage(ctx).Calls
	for range 20 {
		_, how, err = c.Leases.Hold(ctx, "one", l, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, store.Renewed, how)
	}
	assert.Equal(t, before, c.Meter.Usage(ctx).Calls)
}
