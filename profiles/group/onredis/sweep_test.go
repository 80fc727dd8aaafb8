package onredis

import (
	"fmt"
	"os"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/profiles/group/model"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

func TestExpiredEntriesOfCachesAreSwept(t *testing.T) {
	srv := labtest.Shared(t, "redis")
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	conn, err := storetest.Dial(t, redis.Driver, redis.Open, srv.URL())
	require.NoError(t, err)
	o := &model.Op{Name: "c1", Kind: model.KindCache, Target: "c", Action: model.ActPut, TTL: time.Millisecond, Space: store.Space{Namespace: "swept", Name: "c"}}
	l, err := New(t.Context(), &model.Spec{Driver: "redis", Order: []*model.Op{o}}, conn)
	require.NoError(t, err)
	caller, err := l.Caller(o)
	require.NoError(t, err)
	for i := range 250 {
		_, err := caller.Do(t.Context(), &model.Call{Op: o, Action: o.Action, Entries: []store.Entry{{Key: fmt.Append(nil, i), Val: []byte("v")}}})
		require.NoError(t, err)
	}
	keys := newCacheKeys(o.Space).keys
	n, err := c.HLen(t.Context(), keys[0]).Result()
	require.NoError(t, err)
	require.Equal(t, int64(250), n, "nobody has swept so soon")
	told := c.Subscribe(t.Context(), "redisson_map_cache_expired:{swept:c}")
	t.Cleanup(func() { _ = told.Close() })
	_, err = told.Receive(t.Context())
	require.NoError(t, err)
	r := l.(*Adapter)
	r.sweepEvery = 5 * time.Millisecond
	require.NoError(t, r.Prepare(t.Context(), nil))
	assert.Eventually(t, func() bool {
		left, err := c.Exists(t.Context(), keys[0], keys[1]).Result()
		return err == nil && left == 0
	}, 5*time.Minute, 10*time.Millisecond)
	require.NoError(t, r.Close())
	_, err = told.ReceiveTimeout(t.Context(), time.Minute)
	assert.NoError(t, err, "listeners are told")
}
