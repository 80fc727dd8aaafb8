package onredis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// caller does one worker's calls of one operation on Redis. Its fields include the
// structure that the operation works on.
type caller struct {
	c       link.Client
	o       *model.Op
	key     string
	ttl     string
	wait    time.Duration
	cache   *cacheKeys
	list    *link.List
	set     *link.Set
	sorted  *link.Sorted
	buckets *link.Buckets
	hashes  *link.Hashes
	topic   publisher
	buf     []byte
	// lines and at are for commands that are not on one of the structures of package
	// shape.
	lines *link.Lines
	at    link.Caller
}

// publisher is a topic of any of the three kinds.
type publisher interface {
	Publish(ctx context.Context, es []store.Entry) error
}

// Do carries out a call.
func (h *caller) Do(ctx context.Context, c *model.Call) (model.Result, error) {
	r, err := h.route(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.Action, h.key, err)
	}
	return r, nil
}

func (h *caller) route(ctx context.Context, c *model.Call) (model.Result, error) {
	switch h.o.Kind {
	case model.KindCache:
		return h.doCache(ctx, c)
	case model.KindList, model.KindQueue:
		return h.doList(ctx, c)
	case model.KindTopic, model.KindRTopic, model.KindSTopic:
		return h.doTopic(ctx, c)
	case model.KindSet:
		return h.doSet(ctx, c)
	case model.KindZSet:
		return h.doZSet(ctx, c)
	case model.KindBucket:
		return h.doBucket(ctx, c)
	case model.KindHash:
		return h.doHash(ctx, c)
	case model.KindMap: // what the store's shapes do not cover
		h.at.Command("HDEL")
		h.at.Add(h.mapKey(c))
		h.at.Bytes(c.Entries[0].Key)
		n, err := h.lines.Do(ctx, &h.at)
		return model.Found(1, n > 0), err
	}
	return model.Result{}, store.ErrUnsupported
}

func (h *caller) mapKey(c *model.Call) string {
	if len(c.Tags) > 0 {
		return h.key + ":{" + string(c.Tags[0]) + "}"
	}
	return h.key
}

// found returns the result of a call on one entry.
func found(there bool, err error) (model.Result, error) { return model.Found(1, there), err }

// there returns the result of a request for the entries of a call, of which n exist.
func there(c *model.Call, n int64, err error) (model.Result, error) {
	if err != nil {
		return model.Result{}, err
	}
	return model.Result{Entries: n, Misses: int64(len(c.Entries)) - n}, nil
}

// doList uses RPUSH, LREM, LINDEX, LPOP and BLPOP; the latter waits on a connection of
// go-redis.
func (h *caller) doList(ctx context.Context, c *model.Call) (model.Result, error) {
	switch c.Action {
	case model.ActAdd, model.ActOffer, model.ActAddAll:
		return model.Result{Entries: int64(len(c.Entries))}, h.list.Push(ctx, c.Entries)
	case model.ActRemove:
		return found(h.list.Remove(ctx, c.Entries[0].Val))
	case model.ActGet:
		return found(h.list.Index(ctx, c.Numbers[0]-h.o.Start))
	case model.ActPeek:
		return found(h.list.Index(ctx, 0))
	case model.ActPoll:
		return found(h.list.Pop(ctx))
	case model.ActTake:
		err := h.c.BLPop(ctx, h.wait, h.key).Err()
		if errors.Is(err, goredis.Nil) {
			return model.Result{Misses: 1}, nil
		}
		return model.Result{Entries: 1}, err
	}
	return model.Result{}, store.ErrUnsupported
}

// doTopic uses PUBLISH, SPUBLISH, or XADD and ZCARD in a script; batches are sent
// together.
func (h *caller) doTopic(ctx context.Context, c *model.Call) (model.Result, error) {
	return model.Result{Entries: int64(len(c.Entries))}, explainTopic(h.o, h.topic.Publish(ctx, c.Entries))
}

// doSet uses SADD, SREM, SISMEMBER and SMISMEMBER; the members are the keys.
func (h *caller) doSet(ctx context.Context, c *model.Call) (model.Result, error) {
	switch c.Action {
	case model.ActAdd, model.ActAddAll:
		return model.Result{Entries: int64(len(c.Entries))}, h.set.Add(ctx, c.Entries)
	case model.ActRemove:
		return found(h.set.Remove(ctx, c.Entries))
	case model.ActGet:
		return found(h.set.Has(ctx, c.Entries[0].Key))
	case model.ActGetAll:
		n, err := h.set.Count(ctx, c.Entries)
		return there(c, n, err)
	}
	return model.Result{}, store.ErrUnsupported
}

// doZSet uses ZADD, ZREM, ZSCORE and ZMSCORE; the members are the keys, the scores
// their numbers.
func (h *caller) doZSet(ctx context.Context, c *model.Call) (model.Result, error) {
	switch c.Action {
	case model.ActAdd, model.ActAddAll:
		return model.Result{Entries: int64(len(c.Entries))}, h.sorted.Add(ctx, c.Entries, c.Numbers)
	case model.ActRemove:
		return found(h.sorted.Remove(ctx, c.Entries))
	case model.ActGet:
		return found(h.sorted.Has(ctx, c.Entries[0].Key))
	case model.ActGetAll:
		n, err := h.sorted.Count(ctx, c.Entries)
		return there(c, n, err)
	}
	return model.Result{}, store.ErrUnsupported
}

// doBucket uses SET with GET, SET, MSET, GET, MGET and UNLINK, with PX if there is a
// time to live. On a cluster a batch consists of single commands sent together.
func (h *caller) doBucket(ctx context.Context, c *model.Call) (r model.Result, err error) {
	n := model.Result{Entries: int64(len(c.Entries))}
	switch c.Action {
	case model.ActPut:
		return n, h.buckets.Put(ctx, c.Entries[0])
	case model.ActSet:
		return n, h.buckets.Set(ctx, c.Entries[0])
	case model.ActPutAll:
		return n, h.buckets.SetAll(ctx, c.Entries)
	case model.ActGet:
		var yes bool
		h.buf, yes, err = h.buckets.Get(ctx, c.Entries[0].Key, h.buf)
		c.Got = h.buf
		return found(yes, err)
	case model.ActGetAll:
		some, err := h.buckets.Count(ctx, c.Entries)
		return there(c, some, err)
	case model.ActRemove:
		return found(h.buckets.Remove(ctx, c.Entries[0].Key))
	}
	return model.Result{}, store.ErrUnsupported
}

// doHash uses HSET, HGETALL and UNLINK on one HASH per entry, together with PEXPIRE if
// there is a time to live.
func (h *caller) doHash(ctx context.Context, c *model.Call) (r model.Result, err error) {
	switch c.Action {
	case model.ActPut, model.ActSet, model.ActPutAll:
		return model.Result{Entries: int64(len(c.Entries))}, h.hashes.Set(ctx, c.Entries)
	case model.ActGet:
		var yes bool
		h.buf, yes, err = h.hashes.Get(ctx, c.Entries[0].Key, h.buf)
		c.Got = h.buf
		return found(yes, err)
	case model.ActGetAll:
		some, err := h.hashes.Count(ctx, c.Entries)
		return there(c, some, err)
	case model.ActRemove:
		return found(h.hashes.Remove(ctx, c.Entries[0].Key))
	}
	return model.Result{}, store.ErrUnsupported
}
