package group

import (
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
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
	t.Parallel()
	srv := labtest.Sentinel(t)
	path := write(t, "g.yaml", "groupNames: g1\ng1: {operations: 'p,g', threadCount: 2, totalInvocationCount: 100}\np: {map: m, testCase: put}\ng: {map: n, testCase: get, totalEntryCount: 20}\n")
	o, f := runs(t, srv.URL(), []string{path}, "nearCache", "on")
	errorless(t, o)
	require.NotNil(t, f.Near)
	assert.Equal(t, int64(100), f.Near.Hits+f.Near.Misses)
	assert.Greater(t, f.Near.Hits, int64(50))
}
