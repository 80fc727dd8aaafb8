package group

import (
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// calls returns how often a server has carried out a command.
func calls(t *testing.T, c *goredis.Client, command string) int {
	t.Helper()
	stats, err := c.Info(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	_, rest, ok := strings.Cut(stats, "cmdstat_"+command+":calls=")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(rest[:strings.IndexByte(rest, ',')])
	require.NoError(t, err)
	return n
}

func TestNearCacheOfBuckets(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	// Read-only, then mixed: each put concerns one bucket of fifty.
	path := write(t, "g.yaml", "groupNames: 'read,mixed'\nread: {operations: 'one,many', threadCount: 2, totalInvocationCount: 400}\nmixed: {operations: 'one,many,put', threadCount: 2, totalInvocationCount: 100}\n"+
		"one: {bucket: b, testCase: get, totalEntryCount: 50}\nmany: {ref: one, testCase: getall, batchSize: 10, order: sequential}\nput: {ref: one, testCase: set}\n")
	_, err := try(t, srv.URL(), []string{path}, "count", "100")
	require.NoError(t, err)
	reads := map[string]int{}
	for _, near := range []string{"off", "on"} {
		require.NoError(t, c.ConfigResetStat(t.Context()).Err())
		o, f := runs(t, srv.URL(), []string{path}, "nearCache", near)
		errorless(t, o)
		reads[near] = calls(t, c, "get") + calls(t, c, "mget")
		if near == "off" {
			assert.Nil(t, f.Near)
			continue
		}
		require.NotNil(t, f.Near)
		assert.Equal(t, int64(500+500*10), f.Near.Hits+f.Near.Misses, "each bucket that is asked for is a hit or a miss")
		assert.Greater(t, f.Near.Hits, 5*f.Near.Misses, "a put makes one bucket stale, and not all")
		assert.Positive(t, f.Near.Invalidations)
		for _, g := range f.Groups {
			for _, op := range g.Ops {
				assert.Zero(t, op.Misses, op.Op)
			}
		}
	}
	assert.Less(t, reads["on"], reads["off"], "the server is asked less")
}

func TestNearCacheBehindSentinels(t *testing.T) {
	srv := labtest.Sentinel(t)
	path := write(t, "g.yaml", "groupNames: g1\ng1: {operations: 'p,g', threadCount: 2, totalInvocationCount: 100}\np: {map: m, testCase: put}\ng: {map: n, testCase: get, totalEntryCount: 20}\n")
	o, f := runs(t, srv.URL(), []string{path}, "nearCache", "on")
	errorless(t, o)
	require.NotNil(t, f.Near)
	assert.Equal(t, int64(100), f.Near.Hits+f.Near.Misses)
	assert.Greater(t, f.Near.Hits, int64(50))
}

func TestExpiredEntriesOfCachesAreSwept(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	path := write(t, "g.yaml", "groupNames: g1\ng1: {operations: c1, threadCount: 1, totalInvocationCount: 250}\nc1: {mcache: c, testCase: put, ttl: 1, payloadSize: 10}\n")
	o, _ := runs(t, srv.URL(), []string{path})
	assert.Empty(t, o.Run.Errors)
	n, err := c.HLen(t.Context(), "perfbench:c").Result()
	require.NoError(t, err)
	require.Equal(t, int64(250), n, "nobody has swept so soon")
	told := c.Subscribe(t.Context(), "redisson_map_cache_expired:{perfbench:c}")
	t.Cleanup(func() { _ = told.Close() })
	_, err = told.Receive(t.Context())
	require.NoError(t, err)
	p, err := designed(t, "redis", readAll(t, path))
	require.NoError(t, err)
	b := &binding{s: specOf(t, p), conn: open(t, srv.URL())}
	room, err := newRoom(t.Context(), b)
	require.NoError(t, err)
	r := room.(*redisRoom)
	r.sweepEvery = 5 * time.Millisecond
	r.sweep()
	assert.Eventually(t, func() bool {
		left, err := c.Exists(t.Context(), "perfbench:c", b.s.order[0].cacheTimes()).Result()
		return err == nil && left == 0
	}, 20*time.Second, 10*time.Millisecond)
	require.NoError(t, r.close())
	_, err = told.ReceiveTimeout(t.Context(), 10*time.Second)
	assert.NoError(t, err, "listeners are told")
}

// cacheTimes is the key of the times at which entries of a cache expire.
func (o *opSpec) cacheTimes() string { return newCacheKeys(o.space).keys[1] }
