package group

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/redis"
)

// nearCache reads through Redis client-side caching. The client is rueidis, which
// has it for single servers, masters behind sentinels and clusters alike. It is safe
// for use by several goroutines.
type nearCache struct {
	client                     rueidis.Client
	hits, misses, invalidation atomic.Int64
}

// nearFor is how long an entry may be kept without being invalidated.
const nearFor = time.Hour

func newNearCache(t redis.Typed) (*nearCache, error) {
	n := &nearCache{}
	o := rueidisOptions(t)
	if o.AlwaysRESP2 {
		return nil, fault.Input(fmt.Errorf("nearCache: protocol=2 has no client-side caching"), "leave protocol= out of the target")
	}
	o.OnInvalidations = func(m []rueidis.RedisMessage) {
		if m != nil {
			n.invalidation.Add(int64(len(m)))
		}
	}
	var err error
	if n.client, err = rueidis.NewClient(o); err != nil {
		return nil, fault.Store(fmt.Errorf("nearCache: %w", replyOf(err)), "client-side caching needs Redis 6 or later and RESP3")
	}
	return n, nil
}

func (n *nearCache) close() error {
	n.client.Close()
	return nil
}

// keeps says whether the reads of an operation are kept.
func (n *nearCache) keeps(o *opSpec) bool {
	return (o.act == actGet || o.act == actGetAll) && !o.direct && (o.kind == kindBucket || o.kind == kindMap && !o.space.Grouped)
}

func (n *nearCache) hand(o *opSpec) hand { return &nearHand{n, o, keyOf(o.space), nil} }

// nearHand reads for one worker.
type nearHand struct {
	n      *nearCache
	o      *opSpec
	key    string
	fields []string
}

// do is HGET, HMGET, GET or a GET for each of several buckets, answered from memory
// where the server has not said that the key has changed. One HASH is one key: any
// write to a map makes all that is kept of it stale.
func (h *nearHand) do(ctx context.Context, c *call) (result, error) {
	r, err := h.route(ctx, c)
	if err = replyOf(err); err != nil {
		return result{}, fmt.Errorf("%s %s: %w", c.act, h.key, err)
	}
	return r, nil
}

func (h *nearHand) route(ctx context.Context, c *call) (result, error) {
	b := h.n.client.B()
	switch {
	case h.o.kind == kindBucket:
		return h.buckets(ctx, c)
	case c.act == actGet:
		resp := h.n.client.DoCache(ctx, b.Hget().Key(h.key).Field(string(c.entries[0].Key)).Cache(), nearFor)
		h.count(resp)
		return found(1, !rueidis.IsRedisNil(resp.Error())), resp.Error()
	}
	h.fields = h.fields[:0]
	for _, e := range c.entries {
		h.fields = append(h.fields, string(e.Key))
	}
	resp := h.n.client.DoCache(ctx, b.Hmget().Key(h.key).Field(h.fields...).Cache(), nearFor)
	h.count(resp)
	vals, err := resp.ToArray()
	return counted(vals), err
}

// buckets reads each entry by its own key, those that are not kept in one pipeline.
func (h *nearHand) buckets(ctx context.Context, c *call) (result, error) {
	cmds := make([]rueidis.CacheableTTL, len(c.entries))
	for i, e := range c.entries {
		cmds[i] = rueidis.CT(h.n.client.B().Get().Key(entryKey(h.o.space, e.Key)).Cache(), nearFor)
	}
	var r result
	for _, resp := range h.n.client.DoMultiCache(ctx, cmds...) {
		err := resp.Error()
		if replyOf(err) != nil {
			return result{}, err
		}
		h.count(resp)
		one := found(1, !rueidis.IsRedisNil(err))
		r.entries, r.misses = r.entries+one.entries, r.misses+one.misses
	}
	return r, nil
}

// count notes whether an answer came from memory. One that failed is neither.
func (h *nearHand) count(resp rueidis.RedisResult) {
	switch {
	case replyOf(resp.Error()) != nil:
	case resp.IsCacheHit():
		h.n.hits.Add(1)
	default:
		h.n.misses.Add(1)
	}
}
