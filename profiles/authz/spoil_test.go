package authz_test

import (
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// spoil takes the groups away that principals are in.
func spoil(t *testing.T, url string) {
	t.Helper()
	o, err := goredis.ParseURL(url)
	require.NoError(t, err)
	c := goredis.NewClient(o)
	defer c.Close()
	keys, err := c.Keys(t.Context(), "perfbench:authz:{*}:rg:g:*").Result()
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	require.NoError(t, c.Del(t.Context(), keys[0]).Err())
}

// overwrite puts a text where the members of groups are kept.
func overwrite(t *testing.T, url string) {
	t.Helper()
	o, err := goredis.ParseURL(url)
	require.NoError(t, err)
	c := goredis.NewClient(o)
	defer c.Close()
	keys, err := c.Keys(t.Context(), "perfbench:authz:{*}:m[gu]:g:*").Result()
	require.NoError(t, err)
	for _, k := range keys {
		require.NoError(t, c.Set(t.Context(), k, "somebody else's", 0).Err())
	}
}

// replaceMarks puts a text where a load keeps which batches are stored.
func replaceMarks(t *testing.T, url string) {
	t.Helper()
	o, err := goredis.ParseURL(url)
	require.NoError(t, err)
	c := goredis.NewClient(o)
	defer c.Close()
	keys, err := c.Keys(t.Context(), "perfbench:authz:{*}:ld").Result()
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.NoError(t, c.Set(t.Context(), keys[0], "somebody else's", 0).Err())
}
