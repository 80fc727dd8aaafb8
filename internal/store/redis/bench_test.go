package redis_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// BenchmarkFence is what a call costs by a connection that a fence guards, and by one without.
func BenchmarkFence(b *testing.B) {
	target, err := store.ParseTarget(labtest.Redis(b).URL())
	require.NoError(b, err)
	key, val := []byte("key"), make([]byte, 1024)
	for _, fence := range []*store.Fence{nil, store.NewFence()} {
		o, name := options, "without"
		if fence != nil {
			name, o.Fence = "with", fence
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			go func() {
				_ = fence.Guard(ctx, nil, func(context.Context) (gone, err error) { return nil, nil })
			}()
		}
		c, err := redis.Open(b.Context(), target, o)
		require.NoError(b, err)
		defer c.Close()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Maps.Set(b.Context(), space("bench"), key, val); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkShapes compares the shapes to the calls of go-redis that most would
// write, on the same connection.
func BenchmarkShapes(b *testing.B) {
	target, err := store.ParseTarget(labtest.Redis(b).URL())
	require.NoError(b, err)
	c, err := redis.Open(b.Context(), target, options)
	require.NoError(b, err)
	defer c.Close()
	client, ctx, s := c.Client(), b.Context(), space("bench")
	val := make([]byte, 1024)
	var es []store.Entry
	var keys [][]byte
	var names []string
	for i := range 100 {
		k := fmt.Appendf(nil, "key-%d", i)
		es, keys, names = append(es, store.Entry{Key: k, Val: val}), append(keys, k), append(names, string(k))
	}
	put := goredis.NewScript("local v = redis.call('hget', KEYS[1], ARGV[1]); redis.call('hset', KEYS[1], ARGV[1], ARGV[2]); return v")
	var buf []byte
	for _, bench := range []struct {
		name string
		run  func() error
	}{
		{"put/ours", func() error { return c.Maps.Put(ctx, s, keys[0], val) }},
		{"put/bare", func() error { return put.Run(ctx, client, []string{"bench"}, keys[0], val).Err() }},
		{"set/ours", func() error { return c.Maps.Set(ctx, s, keys[0], val) }},
		{"set/bare", func() error { return client.HSet(ctx, "bench", names[0], val).Err() }},
		{"get/ours", func() (err error) { buf, _, err = c.Maps.Get(ctx, s, keys[0], buf); return err }},
		{"get/bare", func() error { return client.HGet(ctx, "bench", names[0]).Err() }},
		{"putall/ours", func() error { return c.Maps.PutAll(ctx, s, es) }},
		{"putall/bare", func() error {
			args := make([]any, 0, 2*len(es))
			for _, e := range es {
				args = append(args, e.Key, e.Val)
			}
			return client.HMSet(ctx, "bench", args...).Err()
		}},
		{"getall/ours", func() error { _, err := c.Maps.GetAll(ctx, s, keys); return err }},
		{"getall/bare", func() error { return client.HMGet(ctx, "bench", names...).Err() }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := bench.run(); err != nil && !errors.Is(err, goredis.Nil) {
					b.Fatal(err)
				}
			}
		})
	}
}
