package group

import (
	"context"
	"os"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// redisOf returns the server that the tests of the package share, emptied.
func redisOf(t *testing.T) *labtest.Server {
	t.Helper()
	srv := labtest.Shared(t, "redis")
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer c.Close()
	require.NoError(t, c.FlushAll(t.Context()).Err())
	return srv
}

// clusterOfTests returns the cluster that they share, emptied.
func clusterOfTests(t *testing.T) *labtest.Server {
	t.Helper()
	srv := labtest.Shared(t, "redis-cluster")
	c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: srv.Addrs("node")})
	defer c.Close()
	require.NoError(t, c.ForEachMaster(t.Context(), func(ctx context.Context, m *goredis.Client) error { return m.FlushAll(ctx).Err() }))
	return srv
}
