package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// PutGroup stores one entry in the hash of its group, as Put does.
func (c *Conn) PutGroup(ctx context.Context, s store.Space, group, key, val []byte) error {
	l := c.take(s)
	defer c.give(l)
	return failed("put", l, c.put(ctx, l, groupKey(l.key, group), key, val))
}

// PutGroups stores the entries of several groups with one HSET for each, in one
// pipeline; a cluster gets one for each node, side by side.
func (c *Conn) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	entries := 0
	for _, g := range gs {
		entries += len(g.Entries)
	}
	if entries == 0 {
		return ctx.Err()
	}
	l := c.take(s)
	defer c.give(l)
	b := l.room(2 * entries)
	if need := 2*entries + 2*len(gs); cap(l.args) < need {
		l.args = make([]any, 0, need)
	}
	args := l.args[:0]
	pipe := c.client.Pipeline()
	for _, g := range gs {
		if len(g.Entries) == 0 {
			continue
		}
		from := len(args)
		args = append(args, "hset", groupKey(l.key, g.Name))
		for _, e := range g.Entries {
			b[0], b[1] = e.Key, e.Val
			args = append(args, &b[0], &b[1])
			b = b[2:]
		}
		cmd := goredis.NewIntCmd(ctx, args[from:len(args):len(args)]...)
		cmd.SetFirstKeyPos(1)
		_ = pipe.Process(ctx, onceInt{cmd})
	}
	l.args = args
	_, err := pipe.Exec(ctx)
	return failed("hset", l, err)
}

// GetGroup reads the values of keys in one group with one HMGET. The values must
// not be written to.
func (c *Conn) GetGroup(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	l := c.take(s)
	defer c.give(l)
	return c.hmget(ctx, l, groupKey(l.key, group), keys)
}

// Count tells how many entries a space holds: HLEN, over all groups when grouped.
func (c *Conn) Count(ctx context.Context, s store.Space) (int64, error) {
	l := c.take(s)
	defer c.give(l)
	if !s.Grouped {
		n, err := c.client.HLen(ctx, l.key).Result()
		return n, failed("hlen", l, err)
	}
	var total int64
	err := c.own(ctx, s, nil, func(m *goredis.Client, keys []string) error {
		pipe := m.Pipeline()
		lens := make([]*goredis.IntCmd, len(keys))
		for i, k := range keys {
			lens[i] = pipe.HLen(ctx, k)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
		for _, n := range lens {
			total += n.Val()
		}
		return nil
	})
	return total, failed("count", l, err)
}
