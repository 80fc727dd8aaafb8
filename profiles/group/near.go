package group

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/redis"
)

// nearCache reads through Redis client-side caching. The client is rueidis, which
// has it for single servers and clusters alike. It is safe for use by several
// goroutines.
type nearCache struct {
	client                     rueidis.Client
	hits, misses, invalidation atomic.Int64
}

// nearFor is how long an entry may be kept without being invalidated.
const nearFor = time.Hour

func newNearCache(ctx context.Context, t redis.Typed) (*nearCache, error) {
	n := &nearCache{}
	o := rueidis.ClientOption{
		ClientSetInfo: rueidis.DisableClientSetInfo, DisableRetry: true,
		OnInvalidations: func(m []rueidis.RedisMessage) {
			if m != nil {
				n.invalidation.Add(int64(len(m)))
			}
		},
	}
	switch c := t.Client().(type) {
	case *goredis.ClusterClient:
		p := c.Options()
		o.InitAddress, o.Username, o.Password, o.TLSConfig = p.Addrs, p.Username, p.Password, p.TLSConfig
		o.Dialer = net.Dialer{Timeout: p.DialTimeout}
	case *goredis.Client:
		p := c.Options()
		o.InitAddress, o.Username, o.Password, o.TLSConfig, o.SelectDB = []string{p.Addr}, p.Username, p.Password, p.TLSConfig, p.DB
		o.Dialer, o.ForceSingleClient = net.Dialer{Timeout: p.DialTimeout}, true
		if p.Network == "unix" {
			o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return d.DialContext(ctx, "unix", addr)
			}
		}
		if p.Addr == "FailoverClient" {
			return nil, fault.Input(fmt.Errorf("nearCache: not behind sentinels"), "aim at the master itself, or at a cluster")
		}
	}
	var err error
	if n.client, err = rueidis.NewClient(o); err != nil {
		return nil, fault.Store(fmt.Errorf("nearCache: %w", err), "client-side caching needs Redis 6 or later and RESP3")
	}
	return n, ctx.Err()
}

func (n *nearCache) close() error {
	n.client.Close()
	return nil
}

func (n *nearCache) hand(o *opSpec) hand { return &nearHand{n, o, keyOf(o.space), nil} }

// nearHand reads for one worker.
type nearHand struct {
	n      *nearCache
	o      *opSpec
	key    string
	fields []string
}

// do is HGET, HMGET or GET, answered from memory where the server has not said
// that the key has changed. One HASH is one key: any write to a map makes all that
// is kept of it stale.
func (h *nearHand) do(ctx context.Context, c *call) (result, error) {
	var cmd rueidis.Cacheable
	b := h.n.client.B()
	switch {
	case h.o.kind == kindBucket:
		cmd = b.Get().Key(entryKey(h.o.space, c.entries[0].Key)).Cache()
	case c.act == actGet:
		cmd = b.Hget().Key(h.key).Field(string(c.entries[0].Key)).Cache()
	default:
		h.fields = h.fields[:0]
		for _, e := range c.entries {
			h.fields = append(h.fields, string(e.Key))
		}
		cmd = b.Hmget().Key(h.key).Field(h.fields...).Cache()
	}
	resp := h.n.client.DoCache(ctx, cmd, nearFor)
	err := resp.Error()
	if err != nil && !rueidis.IsRedisNil(err) {
		if re, ok := rueidis.IsRedisErr(err); ok {
			err = replyError(re.Error())
		}
		return result{}, fmt.Errorf("%s %s: %w", c.act, h.key, err)
	}
	if resp.IsCacheHit() {
		h.n.hits.Add(1)
	} else {
		h.n.misses.Add(1)
	}
	if rueidis.IsRedisNil(err) {
		return result{misses: 1}, nil
	}
	if c.act == actGet {
		return result{entries: 1}, nil
	}
	vals, err := resp.ToArray()
	var r result
	for i := range vals {
		if vals[i].IsNil() {
			r.misses++
		} else {
			r.entries++
		}
	}
	return r, err
}

// replyError is an error reply of the server, as the store's classes know it.
type replyError string

// Error returns the reply.
func (e replyError) Error() string { return string(e) }

// RedisError marks it as a reply.
func (replyError) RedisError() {}
