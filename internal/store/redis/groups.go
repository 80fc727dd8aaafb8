package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// PutGroup stores one entry in the hash of its group, as Put does.
func (m *Maps) PutGroup(ctx context.Context, s store.Space, name, key, val []byte) error {
	l := m.acquire(s)
	defer m.release(l)
	l.Text = append(append(append(append(l.Text[:0], l.key...), ":{"...), name...), '}')
	return failed("put", l, m.put(ctx, l, key, val))
}

// PutGroups stores the entries of several groups with one HSET for each, all sent
// before the first reply is read; on a cluster each goes to the group's own node.
func (m *Maps) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	l := m.acquire(s)
	defer m.release(l)
	n := 0
	l.Reset()
	for _, g := range gs {
		if len(g.Entries) == 0 {
			continue
		}
		q := &l.Request
		switch {
		case m.servers.mode == cluster:
			if n == len(l.more) {
				l.more = append(l.more, &link.Caller{})
			}
			q = &l.more[n].Request
			q.Command("HSET")
		default:
			q.Next("HSET")
		}
		n++
		group(q, l.key, g.Name)
		for _, e := range g.Entries {
			q.Bytes(e.Key)
			q.Bytes(e.Val)
		}
	}
	switch {
	case n == 0:
		return ctx.Err()
	case m.servers.mode == cluster:
		return failed("hset", l, m.lines.DoAll(ctx, l.more[:n]))
	}
	_, err := m.lines.Do(ctx, &l.Caller)
	return failed("hset", l, err)
}

// GetGroup reads the values of keys in one group with one HMGET. The values must not be
// modified.
func (m *Maps) GetGroup(ctx context.Context, s store.Space, name []byte, keys [][]byte) ([][]byte, error) {
	l := m.acquire(s)
	defer m.release(l)
	l.Command("HMGET")
	group(&l.Request, l.key, name)
	return m.hmget(ctx, l, keys)
}

// Count returns how many entries a space holds: HLEN, over all groups if grouped.
func (m *Maps) Count(ctx context.Context, s store.Space) (int64, error) {
	l := m.acquire(s)
	defer m.release(l)
	if !s.Grouped {
		n, err := m.servers.client.HLen(ctx, l.key).Result()
		return n, failed("hlen", l, err)
	}
	var total int64
	err := m.servers.own(ctx, s, nil, func(node link.Client, _ forms, keys []string) error {
		pipe := node.Pipeline()
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
