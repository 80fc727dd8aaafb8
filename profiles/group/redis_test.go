package group

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/profiletest/steps"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
)

// small are the presets that a test can afford.
func small(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, n := range presetNames(t) {
		if n != "put-full" && n != "get-full" {
			out = append(out, n)
		}
	}
	assert.GreaterOrEqual(t, len(out), 12)
	return out
}

func TestPresetsOnRedis(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	eachPreset(t, small(t), func(t *testing.T, name string) {
		if name != "topic" {
			tier.Full(t, "topic, and structures below, which has every other kind")
		}
		o, f := runs(t, srv.URL(), nil, "preset", name, "namespace", name, "cleanup", "on")
		errorless(t, o)
		for _, topic := range f.Topics {
			assert.Zero(t, topic.Lost)
			assert.Equal(t, 2*topic.Published, topic.Delivered, "two receivers")
		}
		for _, g := range f.Groups {
			for _, op := range g.Ops {
				assert.Zero(t, op.Misses, "%s.%s", g.Group, op.Op)
			}
		}
	})
	driven(t, srv.URL(), nil, "preset", "structures", "namespace", "driven")
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	left, err := c.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.Equal(t, []string{"driven:invoices"}, left, "--cleanup leaves nothing behind, but for data of others")
}

// A structure that consists of many keys is those whose names the run's operations make:
// others with the same beginning and type belong to somebody else.
func TestKeysOfOthersAmongThoseOfAStructureStay(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	file := write(t, "groups.properties", `groupNames=g1
g1.operations=a,b
g1.threadCount=1
g1.totalInvocationCount=5
a.bucket=baskets
a.testCase=set
a.key.prefix=b-
a.payloadSize=4
b.hash=items
b.testCase=set
b.payloadSize=4
`)
	runs(t, srv.URL(), []string{file}, "namespace", "many")
	require.NoError(t, c.Set(t.Context(), "many:baskets:{theirs}", "x", 0).Err())
	require.NoError(t, c.HSet(t.Context(), "many:items:{theirs}", "f", "x").Err())
	target, err := store.ParseTarget(srv.URL())
	require.NoError(t, err)
	conn, err := redis.Driver.Open(t.Context(), target, store.OpenOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	claim, err := ownership.Hold(t.Context(), conn, "many", "a test")
	require.NoError(t, err)
	keep, err := store.As[store.Keeper](conn)
	require.NoError(t, err)
	made, err := keep.Made(t.Context(), "many")
	require.NoError(t, err)
	for _, m := range made {
		_, err := claim.Delete(t.Context(), m.Space, nil)
		require.NoError(t, err)
	}
	require.NoError(t, claim.Release(t.Context()))
	left, err := c.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"many:baskets:{theirs}", "many:items:{theirs}"}, left)
}

func TestPresetsOnACluster(t *testing.T) {
	t.Parallel()
	srv := clusterOfTests(t)
	// The others do to a cluster what they do to one Redis; structures has every kind of key.
	eachPreset(t, []string{"structures", "mcache", "rtopic"}, func(t *testing.T, name string) {
		if name != "structures" {
			tier.Full(t, "the preset structures, and TestPresetsOnRedis")
		}
		o, _ := runs(t, srv.URL(), nil, "preset", name, "namespace", name)
		errorless(t, o)
	})
}

// eachPreset runs a test for each of some presets, several at a time, and returns when
// all have ended.
func eachPreset(t *testing.T, names []string, test func(t *testing.T, name string)) {
	t.Helper()
	t.Run("presets", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, name)
			})
		}
	})
}

func TestFamiliesLieTogetherOnACluster(t *testing.T) {
	srv := clusterOfTests(t)
	o, f := runs(t, srv.URL(), nil, "preset", "factory-er", "totalInvocationCount", "40")
	errorless(t, o)
	require.Len(t, f.Groups[0].Ops, 3)
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: srv.Addrs("node")})
	t.Cleanup(func() { _ = c.Close() })
	orders, err := c.HGetAll(t.Context(), "perfbench:nw/orders:{c-000000001}").Result()
	require.NoError(t, err)
	assert.NotEmpty(t, orders)
	for _, body := range orders {
		assert.Contains(t, body, `"customerId":"c-000000001"`)
	}
	lines, err := c.HGetAll(t.Context(), "perfbench:nw/order_details:{c-000000001}").Result()
	require.NoError(t, err)
	assert.NotEmpty(t, lines, "grandchildren lie with their grandparent")
	// A group that reads them back finds them by their numbers alone.
	get := `groupNames: g1
g1: {operations: o, threadCount: 2, totalInvocationCount: 50}
customer1: {map: nw/customers, testCase: put, key.prefix: c-, factory.class: customer, factory.key.isRandom: false, factory.key.length: 11, factory.key.isLeadingZeros: true, factory.er.operation: order1, factory.er.maxKeys: 5}
order1: {map: nw/orders, testCase: put, key.prefix: o-, factory.class: order, factory.key.isRandom: false, factory.key.length: 11, factory.key.isLeadingZeros: true}
o: {map: nw/customers, ref: customer1, testCase: get, totalEntryCount: 40}
`
	o, f = runs(t, srv.URL(), []string{write(t, "get.yaml", get)}, "colocate", "on")
	assert.Empty(t, o.Run.Errors)
	_ = f
}

func TestMapCommandsAreTheOriginals(t *testing.T) {
	srv := redisOf(t)
	file := `groupNames=g1
g1.operations=a,b,c,d,e,q,r,l,x
g1.threadCount=1
g1.totalInvocationCount=2
a.map=m
a.testCase=put
a.payloadSize=4
b.map=m
b.testCase=set
b.payloadSize=4
c.map=m
c.testCase=putall
c.batchSize=2
c.payloadSize=4
c.totalEntryCount=4
d.map=m
d.testCase=get
d.totalEntryCount=2
e.map=m
e.testCase=getall
e.batchSize=2
e.totalEntryCount=2
q.queue=q
q.testCase=offer
q.payloadSize=4
r.queue=q
r.testCase=take
l.list=l
l.testCase=add
l.payloadSize=4
x.rtopic=x
x.testCase=publish
x.payloadSize=4
`
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	require.NoError(t, client.ConfigResetStat(t.Context()).Err())
	o, _ := runs(t, srv.URL(), []string{write(t, "group.properties", file)}, "namespace", "", "subscribers", "0")
	errorless(t, o)
	ctx := t.Context()
	for key, kind := range map[string]string{"m": "hash", "l": "list", "x": "stream"} {
		got, err := client.Type(ctx, key).Result()
		require.NoError(t, err)
		assert.Equal(t, kind, got, key)
	}
	n, err := client.HLen(ctx, "m").Result()
	require.NoError(t, err)
	assert.Equal(t, int64(4), n, "k1 to k4")
	n, err = client.Exists(ctx, "q").Result()
	require.NoError(t, err)
	assert.Zero(t, n, "what was offered was taken")
	stream, err := client.XRange(ctx, "x", "-", "+").Result()
	require.NoError(t, err)
	require.Len(t, stream, 2)
	assert.Equal(t, "\x00\x00\x00\x00", stream[0].Values["m"])
	stats, err := client.Info(ctx, "commandstats").Result()
	require.NoError(t, err)
	for _, command := range []string{"hmset", "hmget", "hget", "hset", "rpush", "blpop", "xadd", "zcard", "evalsha"} {
		assert.Contains(t, stats, "cmdstat_"+command+":")
	}
}

func TestMissesAreCounted(t *testing.T) {
	srv := redisOf(t)
	file := "groupNames: g1\ng1: {operations: 'take1,poll1,get1,getall1', threadCount: 1, totalInvocationCount: 3}\n" +
		"take1: {queue: q, testCase: take}\npoll1: {queue: q, testCase: poll}\nget1: {map: m, testCase: get}\ngetall1: {map: m, testCase: getall, batchSize: 10}\n"
	o, f := runs(t, srv.URL(), []string{write(t, "g.yaml", file)}, "takeTimeout", "10ms", "load", "never")
	assert.Empty(t, o.Run.Errors)
	for i, want := range []int64{3, 3, 3, 30} {
		assert.Equal(t, want, f.Groups[0].Ops[i].Misses, f.Groups[0].Ops[i].Op)
	}
	assert.EqualValues(t, 39, o.Run.Verification.Missed)
}

// A Redis that is too small for what is stored, and makes room: the run says why what was
// acknowledged is missing, and why gets of a run that only reads find nothing while others
// write.
func TestEvictionsAreNamed(t *testing.T) {
	srv := labtest.Redis(t, "--maxmemory", "6mb", "--maxmemory-policy", "allkeys-lru")
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer c.Close()
	says := func(what, operation string) {
		t.Helper()
		file := "groupNames: g1\ng1: {operations: o1, threadCount: 4, totalInvocationCount: 2000}\no1: {bucket: b, payloadSize: 8192, totalEntryCount: 2000, " + operation + "}\n"
		o, err := try(t, srv.URL(), []string{write(t, "g.yaml", file)}, "rate", "1000", "load", "never")
		require.NoError(t, err)
		require.NotNil(t, o.Run.Why)
		var all []string
		for _, c := range o.Run.Why.Coincidences {
			all = append(all, c.Text)
		}
		assert.Contains(t, strings.Join(all, "\n"), what, "%+v", o.Run.Verification)
	}
	says("entries went missing, and the store evicted ", "testCase: set")
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	others.Go(func() {
		value := make([]byte, 8192)
		for i := 0; ctx.Err() == nil; i++ {
			_ = c.Set(ctx, "others:"+strconv.Itoa(i%2000), value, 0).Err() // until the run is over
		}
	})
	says(" entries that were asked for were not there, and the store evicted ", "testCase: get, order: sequential")
	stop()
	others.Wait()
}

func TestTimeToLive(t *testing.T) {
	srv := redisOf(t)
	file := "groupNames: g1,g2\ng1: {operations: 'c1,b1,h1', threadCount: 1, totalInvocationCount: 5}\ng2: {operations: 'wait,c2,b2,h2', threadCount: 1, totalInvocationCount: 5}\n" +
		"c1: {mcache: c, testCase: put, ttl: 40}\nb1: {bucket: b, testCase: set, ttl: 40}\nh1: {hash: h, testCase: put, ttl: 40}\n" +
		"c2: {ref: c1, testCase: get, order: sequential, totalEntryCount: 5}\nb2: {ref: b1, testCase: get, order: sequential, totalEntryCount: 5}\nh2: {ref: h1, testCase: get, order: sequential, totalEntryCount: 5}\n" +
		"wait.sleep: 100\n"
	o, f := runs(t, srv.URL(), []string{write(t, "g.yaml", file)})
	assert.Empty(t, o.Run.Errors)
	for _, op := range f.Groups[1].Ops[1:] {
		assert.Equal(t, int64(5), op.Misses, op.Op)
	}
}

func TestNearCache(t *testing.T) {
	file := "groupNames: g1,g2\ng1: {operations: get1, threadCount: 2, totalInvocationCount: 2000}\ng2: {operations: 'get1,put1', threadCount: 2, totalInvocationCount: 200}\n" +
		"get1: {map: m, testCase: get, totalEntryCount: 50}\nput1: {map: m, testCase: put, totalEntryCount: 50}\n"
	for name, srv := range map[string]*labtest.Server{"single": redisOf(t), "cluster": clusterOfTests(t)} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "g.yaml", file)
			_, err := try(t, srv.URL(), []string{path}, "count", "10")
			require.NoError(t, err)
			o, f := runs(t, srv.URL(), []string{path}, "nearCache", "on")
			assert.Empty(t, o.Run.Errors)
			require.NotNil(t, f.Near)
			assert.Equal(t, int64(2200), f.Near.Hits+f.Near.Misses)
			assert.Greater(t, f.Near.Hits, int64(1000), "reads of the first group come from memory")
			assert.Positive(t, f.Near.Invalidations, "every put makes what is kept of the map stale")
		})
	}
	_, err := try(t, "embedded:", nil, "nearCache", "on")
	require.ErrorContains(t, err, "no client-side caching")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestStructuresOfTheWrongTypeAreRefused(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.RPush(t.Context(), "perfbench:map1", "x").Err())
	path := write(t, "g.properties", "groupNames=g1\ng1.operations=put1\nput1.map=map1\nput1.testCase=put\n")
	_, err := try(t, srv.URL(), []string{path})
	require.ErrorContains(t, err, path+":4: operation put1: perfbench:map1 already exists and is a list, not a hash")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	require.NoError(t, c.Del(t.Context(), "perfbench:map1").Err())
	require.NoError(t, c.HSet(t.Context(), "perfbench:map1", "x", "y").Err())
	_, err = try(t, srv.URL(), []string{path})
	require.ErrorContains(t, err, "perfbench:map1 already exists with 1 entry and was not made by perfbench")
	o, err := try(t, srv.URL(), []string{path}, "allow-existing", "on", "count", "20")
	require.NoError(t, err)
	require.NoError(t, o.Err)
}

func TestANameOfTwoTypesIsRefusedBeforeAnythingStarts(t *testing.T) {
	path := write(t, "g.properties", "groupNames=g1\ng1.operations=put1,add1\ng1.threadCount=1\ng1.totalInvocationCount=5\nput1.map=x\nput1.testCase=put\nadd1.list=x\nadd1.testCase=add\n")
	for _, target := range []string{"redis://127.0.0.1:1", "memory:"} { // nothing is asked of the store
		_, err := try(t, target, []string{path})
		require.ErrorContains(t, err, path+":8: operation add1: x is a list here and a map for operation put1 ("+path+":6)")
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

func TestWrongTypeInMidRunIsAnErrorOfItsClass(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	for _, pipelining := range []string{"on", "off"} {
		p := boundPlan(t, srv.URL(), "groupNames: g1\ng1: {operations: put1, threadCount: 1, totalInvocationCount: 5}\nput1: {map: x"+pipelining+", testCase: put}\n")
		require.NoError(t, c.RPush(t.Context(), "perfbench:x"+pipelining, "somebody else's").Err())
		err := steps.Of(t, p.Tracks()[0], 0).Do(t.Context())
		require.ErrorContains(t, err, "WRONGTYPE")
		assert.Equal(t, store.WrongType, open(t, srv.URL()).Classify(err), pipelining)
	}
}

func TestLosslessWhenThreadsChange(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	b := boundPlan(t, srv.URL(), "groupNames: g1\ng1: {operations: put1, threadCount: 8, totalInvocationCount: 8000}\nput1: {map: m, testCase: put, payloadSize: 10}\n")
	b.Tracks()[0].Start.Threads = 3
	profiletest.Work(t, b)
	n, err := c.HLen(t.Context(), "perfbench:m").Result()
	require.NoError(t, err)
	assert.Equal(t, int64(8000), n, "three workers do the shares of all eight")
}

// boundPlan designs a plan of YAML and connects and sets it up.
func boundPlan(t *testing.T, target, yaml string) *workload.Plan {
	t.Helper()
	p, err := designed(t, "redis", yaml)
	require.NoError(t, err)
	c := open(t, target)
	p = profiletest.Bind(t, Name, p, c, workload.Inputs{Namespace: specOf(t, p).Namespace}, "")
	require.NoError(t, p.Setup(t.Context(), nil))
	t.Cleanup(func() { p.Verify(context.Background()) })
	return p
}

// designed is the plan of YAML for a driver.
func designed(t testing.TB, driver, yaml string, flags ...string) (*workload.Plan, error) {
	t.Helper()
	vs := given(flags...)
	from, _, err := design.Read([]workload.File{{Path: "g.yaml", Data: []byte(yaml)}})
	require.NoError(t, err)
	for _, v := range from {
		vs.Set(v)
	}
	return plan(workload.Inputs{Values: vs, Seed: 1, Namespace: "perfbench", Driver: driver})
}
