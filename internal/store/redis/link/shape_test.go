package link_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// everywhere runs a test over shared connections and over those of a pool, on one
// server and on a cluster.
func everywhere(t *testing.T, test func(t *testing.T, c goredis.UniversalClient, l *link.Lines, cluster bool)) {
	one := goredis.NewClient(&goredis.Options{Addr: labtest.Shared(t, "redis").Addr()})
	many := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: labtest.Shared(t, "redis-cluster").Addrs("node")})
	for name, c := range map[string]goredis.UniversalClient{"one": one, "cluster": many} {
		for _, shared := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/shared=%t", name, shared), func(t *testing.T) {
				l := link.NewLines(c, shared, 4, link.BusyPoll)
				defer l.Close()
				test(t, c, l, name == "cluster")
			})
		}
		require.NoError(t, c.Close())
	}
}

func some(keys ...string) []store.Entry {
	var es []store.Entry
	for _, k := range keys {
		es = append(es, store.Entry{Key: []byte(k), Val: []byte("v" + k)})
	}
	return es
}

// answer brings together what a call returned.
func answer(v any, err error) string { return fmt.Sprint(v, " ", err) }

func TestShapes(t *testing.T) {
	everywhere(t, func(t *testing.T, c goredis.UniversalClient, l *link.Lines, cluster bool) {
		ctx := t.Context()
		name := func(kind string) string { return t.Name() + kind }
		list := link.NewList(l, name("list"))
		require.NoError(t, list.Push(ctx, some("a", "b", "c")))
		assert.Equal(t, "true <nil>", answer(list.Index(ctx, 2)))
		assert.Equal(t, "false <nil>", answer(list.Index(ctx, 3)))
		assert.Equal(t, "true <nil>", answer(list.Remove(ctx, []byte("vb"))))
		assert.Equal(t, "false <nil>", answer(list.Remove(ctx, []byte("vb"))))
		assert.Equal(t, []string{"va", "vc"}, c.LRange(ctx, name("list"), 0, -1).Val())
		for _, want := range []string{"true <nil>", "true <nil>", "false <nil>"} {
			assert.Equal(t, want, answer(list.Pop(ctx)))
		}

		set, sorted := link.NewSet(l, name("set")), link.NewSorted(l, name("sorted"))
		require.NoError(t, set.Add(ctx, some("a", "b")))
		require.NoError(t, sorted.Add(ctx, some("a", "b"), []int64{7, -8}))
		assert.Equal(t, -8.0, c.ZScore(ctx, name("sorted"), "b").Val())
		for kind, s := range map[string]interface {
			Has(ctx context.Context, member []byte) (bool, error)
			Count(ctx context.Context, es []store.Entry) (int64, error)
			Remove(ctx context.Context, es []store.Entry) (bool, error)
		}{"set": set, "sorted": sorted} {
			assert.Equal(t, "true <nil>", answer(s.Has(ctx, []byte("a"))), kind)
			assert.Equal(t, "false <nil>", answer(s.Has(ctx, []byte("c"))), kind)
			assert.Equal(t, "2 <nil>", answer(s.Count(ctx, some("b", "c", "a"))), kind)
			assert.Equal(t, "true <nil>", answer(s.Remove(ctx, some("a"))), kind)
			assert.Equal(t, "false <nil>", answer(s.Remove(ctx, some("a"))), kind)
			_, err := s.Has(ctx, nil)
			require.NoError(t, err)
		}
		_, err := link.NewSet(l, name("sorted")).Has(ctx, []byte("a"))
		require.ErrorContains(t, err, "WRONGTYPE")
	})
}

func TestEntries(t *testing.T) {
	everywhere(t, func(t *testing.T, c goredis.UniversalClient, l *link.Lines, cluster bool) {
		ctx := t.Context()
		for _, ttl := range []time.Duration{0, time.Hour} {
			at := fmt.Sprint(t.Name(), ttl)
			buckets, hashes := link.NewBuckets(l, at+"b", cluster, ttl), link.NewHashes(l, at+"h", ttl)
			require.NoError(t, buckets.Put(ctx, some("a")[0]))
			require.NoError(t, buckets.Put(ctx, some("a")[0]), "over an old value")
			require.NoError(t, buckets.Set(ctx, some("b")[0]))
			require.NoError(t, buckets.SetAll(ctx, some("c", "d", "e")))
			require.NoError(t, hashes.Set(ctx, some("a")))
			require.NoError(t, hashes.Set(ctx, some("b", "c", "d", "e")))
			for kind, s := range map[string]interface {
				Get(ctx context.Context, key, buf []byte) ([]byte, bool, error)
				Count(ctx context.Context, es []store.Entry) (int64, error)
				Remove(ctx context.Context, key []byte) (bool, error)
			}{"b": buckets, "h": hashes} {
				left := c.PTTL(ctx, at+kind+":{c}").Val()
				assert.Equal(t, ttl > 0, left > 0, "%s %s", kind, left)
				v, there, err := s.Get(ctx, []byte("c"), nil)
				require.NoError(t, err)
				assert.True(t, there)
				assert.Equal(t, "vc", string(v))
				_, there, err = s.Get(ctx, []byte("none"), v)
				require.NoError(t, err)
				assert.False(t, there)
				assert.Equal(t, "4 <nil>", answer(s.Count(ctx, some("a", "b", "none", "d", "e"))), kind)
				assert.Equal(t, "true <nil>", answer(s.Remove(ctx, []byte("a"))), kind)
				assert.Equal(t, "false <nil>", answer(s.Remove(ctx, []byte("a"))), kind)
			}
		}
	})
}

func TestTopics(t *testing.T) {
	everywhere(t, func(t *testing.T, c goredis.UniversalClient, l *link.Lines, _ bool) {
		ctx := t.Context()
		for _, sharded := range []bool{false, true} {
			topic := fmt.Sprint(t.Name(), sharded)
			subscribe := c.Subscribe
			if sharded {
				subscribe = c.SSubscribe
			}
			heard := subscribe(ctx, topic)
			defer heard.Close()
			_, err := heard.Receive(ctx)
			require.NoError(t, err)
			p := link.NewTopic(l, topic, sharded)
			require.NoError(t, p.Publish(ctx, some("a")))
			require.NoError(t, p.Publish(ctx, some("b", "c")))
			for _, want := range []string{"va", "vb", "vc"} {
				m, err := heard.ReceiveMessage(ctx)
				require.NoError(t, err)
				assert.Equal(t, want, m.Payload)
			}
		}
		stream := labtest.Fresh(t.Name())
		r := link.NewReliable(l, stream, 0)
		require.NoError(t, r.Publish(ctx, some("a")))
		require.NoError(t, r.Publish(ctx, some("b", "c")))
		assert.EqualValues(t, 3, c.XLen(ctx, stream).Val())
		switch c := c.(type) {
		case *goredis.ClusterClient:
			require.NoError(t, c.ForEachMaster(ctx, func(ctx context.Context, m *goredis.Client) error { return m.ScriptFlush(ctx).Err() }))
		case *goredis.Client:
			require.NoError(t, c.ScriptFlush(ctx).Err())
		}
		require.Error(t, r.Publish(ctx, some("d", "e")), "servers that have forgotten the script")
		require.NoError(t, r.Publish(ctx, some("d", "e")))
		assert.EqualValues(t, 5, c.XLen(ctx, stream).Val())
	})
}
