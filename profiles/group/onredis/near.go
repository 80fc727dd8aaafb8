package onredis

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// nearCache reads through Redis client-side caching, on single servers, masters behind
// sentinels and clusters. It is safe for use by several goroutines.
type nearCache struct {
	near         *link.Near
	hits, misses atomic.Int64
}

// nearFor is how long an entry may be kept without being invalidated.
const nearFor = time.Hour

func newNearCache(ctx context.Context, t redis.Typed) (*nearCache, error) {
	if link.IsOlder(t.Client()) {
		return nil, fault.Input(errors.New("nearCache: protocol=2 has no client-side caching"), "leave protocol= out of the target")
	}
	n := &nearCache{near: link.NewNear(t.Client(), nearFor)}
	if err := n.near.Warm(ctx); err != nil {
		n.near.Close()
		return nil, fault.Store(fmt.Errorf("nearCache: %w", err), "client-side caching needs Redis 6 or later and RESP3")
	}
	return n, nil
}

// Close closes the connections.
func (n *nearCache) Close() error {
	n.near.Close()
	return nil
}

// keeps reports whether the reads of an operation are cached.
func (n *nearCache) keeps(o *model.Op) bool {
	return (o.Action == model.ActGet || o.Action == model.ActGetAll) && !o.Direct && (o.Kind == model.KindBucket || o.Kind == model.KindMap && !o.Space.Grouped)
}

// Caller returns what carries out the calls of an operation.
func (n *nearCache) Caller(o *model.Op) model.Caller {
	return &nearCaller{n: n, o: o, key: model.KeyOf(o.Space)}
}

// nearCaller reads for one worker.
type nearCaller struct {
	n     *nearCache
	o     *model.Op
	key   string
	reads []link.Read
}

// Do uses HGET, HMGET, GET or a GET for each of several buckets, answered from memory
// unless the server has invalidated the key. One HASH is one key: any write to a map
// invalidates everything cached for it.
func (h *nearCaller) Do(ctx context.Context, c *model.Call) (model.Result, error) {
	h.reads = h.reads[:0]
	switch {
	case h.o.Kind == model.KindBucket:
		for _, e := range c.Entries {
			key := entryKey(h.o.Space, e.Key)
			h.reads = append(h.reads, link.Read{Key: key, Command: []string{"GET", key}})
		}
	case c.Action == model.ActGet:
		h.reads = append(h.reads, link.Read{Key: h.key, Command: []string{"HGET", h.key, string(c.Entries[0].Key)}})
	default:
		command := []string{"HMGET", h.key}
		for _, e := range c.Entries {
			command = append(command, string(e.Key))
		}
		h.reads = append(h.reads, link.Read{Key: h.key, Command: command})
	}
	h.n.near.Do(ctx, h.reads)
	var r model.Result
	var err error
	for i := range h.reads {
		read := &h.reads[i]
		switch { // a failed one counts as neither
		case read.Err != nil:
			if err == nil {
				err = fmt.Errorf("%s %s: %w", c.Action, h.key, read.Err)
			}
			continue
		case read.Hit:
			h.n.hits.Add(1)
		default:
			h.n.misses.Add(1)
		}
		for j := range read.Reply.Len() {
			if _, there := read.Reply.At(j); there {
				r.Entries++
			} else {
				r.Misses++
			}
		}
	}
	if err != nil {
		return model.Result{}, err
	}
	return r, nil
}
