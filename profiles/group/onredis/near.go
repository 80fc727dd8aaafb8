package onredis

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// nearCache reads through Redis client-side caching. It uses the client rueidis, which
// supports that for single servers, masters behind sentinels and clusters. It is safe
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

// Close closes the client.
func (n *nearCache) Close() error {
	n.client.Close()
	return nil
}

// keeps reports whether the reads of an operation are cached.
func (n *nearCache) keeps(o *model.Op) bool {
	return (o.Action == model.ActGet || o.Action == model.ActGetAll) && !o.Direct && (o.Kind == model.KindBucket || o.Kind == model.KindMap && !o.Space.Grouped)
}

// Caller returns what carries out the calls of an operation.
func (n *nearCache) Caller(o *model.Op) layer.Caller {
	return &nearCaller{n, o, model.KeyOf(o.Space), nil}
}

// nearCaller reads for one worker.
type nearCaller struct {
	n      *nearCache
	o      *model.Op
	key    string
	fields []string
}

// Do uses HGET, HMGET, GET or a GET for each of several buckets, answered from memory
// unless the server has invalidated the key. One HASH is one key: any write to a map
// invalidates everything cached for it.
func (h *nearCaller) Do(ctx context.Context, c *layer.Call) (layer.Result, error) {
	r, err := h.route(ctx, c)
	if err = replyOf(err); err != nil {
		return layer.Result{}, fmt.Errorf("%s %s: %w", c.Action, h.key, err)
	}
	return r, nil
}

func (h *nearCaller) route(ctx context.Context, c *layer.Call) (layer.Result, error) {
	b := h.n.client.B()
	switch {
	case h.o.Kind == model.KindBucket:
		return h.buckets(ctx, c)
	case c.Action == model.ActGet:
		resp := h.n.client.DoCache(ctx, b.Hget().Key(h.key).Field(string(c.Entries[0].Key)).Cache(), nearFor)
		h.count(resp)
		return layer.Found(1, !rueidis.IsRedisNil(resp.Error())), resp.Error()
	}
	h.fields = h.fields[:0]
	for _, e := range c.Entries {
		h.fields = append(h.fields, string(e.Key))
	}
	resp := h.n.client.DoCache(ctx, b.Hmget().Key(h.key).Field(h.fields...).Cache(), nearFor)
	h.count(resp)
	vals, err := resp.ToArray()
	return counted(vals), err
}

// buckets reads each entry by its own key, with those that are not cached in one
// pipeline.
func (h *nearCaller) buckets(ctx context.Context, c *layer.Call) (layer.Result, error) {
	cmds := make([]rueidis.CacheableTTL, len(c.Entries))
	for i, e := range c.Entries {
		cmds[i] = rueidis.CT(h.n.client.B().Get().Key(entryKey(h.o.Space, e.Key)).Cache(), nearFor)
	}
	var r layer.Result
	for _, resp := range h.n.client.DoMultiCache(ctx, cmds...) {
		err := resp.Error()
		if replyOf(err) != nil {
			return layer.Result{}, err
		}
		h.count(resp)
		one := layer.Found(1, !rueidis.IsRedisNil(err))
		r.Entries, r.Misses = r.Entries+one.Entries, r.Misses+one.Misses
	}
	return r, nil
}

// count notes whether an answer came from memory. A failed one counts as neither.
func (h *nearCaller) count(resp rueidis.RedisResult) {
	switch {
	case replyOf(resp.Error()) != nil:
	case resp.IsCacheHit():
		h.n.hits.Add(1)
	default:
		h.n.misses.Add(1)
	}
}

// counted counts what a reply of several values holds.
func counted(vals []rueidis.RedisMessage) layer.Result {
	var r layer.Result
	for i := range vals {
		if vals[i].IsNil() {
			r.Misses++
		} else {
			r.Entries++
		}
	}
	return r
}
