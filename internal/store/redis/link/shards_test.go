package link

import (
	"fmt"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// A target that allows one connection gets one.
func TestSharedConnectionsKeepToTheTarget(t *testing.T) {
	c := goredis.NewClient(&goredis.Options{PoolSize: 1})
	defer c.Close()
	assert.Equal(t, 1, NewShards(c, 1, func(int) string { return "k" }).Each)
}

// A call that came to the wrong server of a cluster is done by the right one, and
// the next goes there at once.
func TestSharedConnectionsFollowTheCluster(t *testing.T) {
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: labtest.Cluster(t).Addrs("")})
	defer c.Close()
	key := func(shard int) string { return fmt.Sprintf("{%d}k", shard) }
	s := NewShards(c, 8, key)
	all := map[*Shared]bool{}
	var lists [][]*Shared
	for shard := range 8 {
		list, err := s.to(t.Context(), shard)
		require.NoError(t, err)
		if !all[list[0]] {
			lists = append(lists, list)
		}
		all[list[0]] = true
	}
	require.Greater(t, len(lists), 1, "shards are on several masters")
	right, err := s.to(t.Context(), 0)
	require.NoError(t, err)
	wrong := lists[0]
	if wrong[0] == right[0] {
		wrong = lists[1]
	}
	s.of[0].Store(&wrong)
	at, run, of := Caller{}, Scripts{Client: c, How: BySHA, Shards: s}, NewScript("add", "return redis.call('INCR', KEYS[1])")
	for want := range int64(2) {
		run.Begin(&at.Request, of, 1)
		at.Add(key(0))
		n, err := run.Finish(t.Context(), &at, of)
		require.NoError(t, err)
		assert.Equal(t, want+1, n, "each was done once, where it belongs")
		again, err := s.to(t.Context(), 0)
		require.NoError(t, err)
		assert.Same(t, right[0], again[0])
	}
}
