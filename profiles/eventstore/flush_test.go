package eventstore_test

import (
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// flush empties a Redis behind a run's back.
func flush(t *testing.T, addr string) {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: addr})
	require.NoError(t, c.FlushAll(t.Context()).Err())
	require.NoError(t, c.Close())
}
