package link

import (
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// cached reads a key through n, and reports whether the reply was in memory.
func cached(t *testing.T, n *Near, key string) (string, bool) {
	t.Helper()
	reads := []Read{{Key: key, Command: []string{"GET", key}}}
	n.Do(t.Context(), reads)
	require.NoError(t, reads[0].Err)
	require.Equal(t, 1, reads[0].Reply.Len())
	text, _ := reads[0].Reply.At(0)
	return string(text), reads[0].Hit
}

// eventually waits until key has a value in the eyes of n.
func eventually(t *testing.T, n *Near, key, value string) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, _ := cached(t, n, key)
		return got == value
	}, time.Minute, time.Millisecond, "%s does not become %q", key, value)
}

func TestNearKeepsUntilItIsInvalidated(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	n := NewNear(c, time.Hour)
	t.Cleanup(n.Close)
	require.NoError(t, n.Warm(t.Context()))
	ctx := t.Context()

	got, hit := cached(t, n, "a")
	assert.Empty(t, got, "there is nothing yet")
	assert.False(t, hit)
	_, hit = cached(t, n, "a")
	assert.True(t, hit, "that there is nothing is kept, too")
	require.NoError(t, c.Set(ctx, "a", "1", 0).Err())
	eventually(t, n, "a", "1")
	assert.Equal(t, int64(1), n.Invalidated())
	_, hit = cached(t, n, "a")
	assert.True(t, hit)

	require.NoError(t, c.Set(ctx, "b", "1", 0).Err())
	_, _ = cached(t, n, "b")
	require.NoError(t, c.Set(ctx, "a", "2", 0).Err())
	eventually(t, n, "a", "2")
	_, hit = cached(t, n, "b")
	assert.True(t, hit, "what nobody has written stays")

	require.NoError(t, c.FlushAll(ctx).Err())
	eventually(t, n, "a", "")
	eventually(t, n, "b", "")

	require.NoError(t, c.Set(ctx, "short", "1", 20*time.Millisecond).Err())
	eventually(t, n, "short", "")

	// A connection that breaks takes with it what it watched over.
	require.NoError(t, c.Set(ctx, "a", "3", 0).Err())
	eventually(t, n, "a", "3")
	_, err := c.Do(ctx, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Result()
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "a", "4", 0).Err())
	require.Eventually(t, func() bool {
		reads := []Read{{Key: "a", Command: []string{"GET", "a"}}}
		n.Do(ctx, reads)
		if reads[0].Err != nil {
			return false // it was about to be used
		}
		text, _ := reads[0].Reply.At(0)
		return string(text) == "4"
	}, time.Minute, time.Millisecond)

	reads := []Read{{Key: "a", Command: []string{"HGET", "a", "x"}}}
	for range 2 {
		n.Do(ctx, reads)
		require.ErrorContains(t, reads[0].Err, "WRONGTYPE")
		assert.False(t, reads[0].Hit, "an error is not kept")
	}
}

func TestNearFollowsACluster(t *testing.T) {
	t.Parallel()
	srv := labtest.Cluster(t)
	o, err := goredis.ParseClusterURL("redis://" + srv.Addr())
	require.NoError(t, err)
	c := goredis.NewClusterClient(o)
	t.Cleanup(func() { _ = c.Close() })
	n := NewNear(c, time.Hour)
	t.Cleanup(n.Close)
	var reads []Read
	for i := range 50 {
		key := "near" + strconv.Itoa(i)
		require.NoError(t, c.Set(t.Context(), key, key, 0).Err())
		reads = append(reads, Read{Key: key, Command: []string{"GET", key}})
	}
	for _, hit := range []bool{false, true} {
		n.Do(t.Context(), reads)
		for _, r := range reads {
			require.NoError(t, r.Err)
			text, _ := r.Reply.At(0)
			assert.Equal(t, r.Key, string(text))
			assert.Equal(t, hit, r.Hit, r.Key)
		}
	}
	for _, r := range reads {
		require.NoError(t, c.Set(t.Context(), r.Key, "new", 0).Err())
	}
	for _, r := range reads {
		eventually(t, n, r.Key, "new")
	}
	// The wrong server says where a key is.
	wrong, err := c.MasterForKey(t.Context(), "near0")
	require.NoError(t, err)
	var other string
	for i := 1; other == ""; i++ {
		key := "near" + strconv.Itoa(i)
		m, err := c.MasterForKey(t.Context(), key)
		require.NoError(t, err)
		if m.Options().Addr != wrong.Options().Addr {
			other = key
		}
	}
	fresh := NewNear(c, time.Hour)
	t.Cleanup(fresh.Close)
	fresh.of[slotOf([]byte(other))] = fresh.tracker(ServerOf(wrong))
	got, hit := cached(t, fresh, other)
	assert.Equal(t, "new", got)
	assert.False(t, hit)
}
