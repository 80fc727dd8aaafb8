package onredis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// caller does the calls of one operation on Redis for one worker.
type caller struct {
	c       goredis.UniversalClient
	o       *model.Op
	key     string
	ttl     string
	cluster bool
	wait    time.Duration
	trim    int64
	cache   *cacheKeys
}

// Do carries out a call.
func (h *caller) Do(ctx context.Context, c *layer.Call) (layer.Result, error) {
	r, err := h.route(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.Action, h.key, err)
	}
	return r, nil
}

func (h *caller) route(ctx context.Context, c *layer.Call) (layer.Result, error) {
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
	case model.KindMap: // what the shapes of the store lack
		n, err := h.c.HDel(ctx, h.mapKey(c), string(c.Entries[0].Key)).Result()
		return layer.Found(1, n > 0), err
	}
	return layer.Result{}, store.ErrUnsupported
}

func (h *caller) mapKey(c *layer.Call) string {
	if len(c.Tags) > 0 {
		return h.key + ":{" + string(c.Tags[0]) + "}"
	}
	return h.key
}

// doList is RPUSH, LREM, LINDEX, LPOP and BLPOP.
func (h *caller) doList(ctx context.Context, c *layer.Call) (layer.Result, error) {
	switch c.Action {
	case model.ActAdd, model.ActOffer, model.ActAddAll:
		args := make([]any, len(c.Entries))
		for i, e := range c.Entries {
			args[i] = e.Val
		}
		return layer.Result{Entries: int64(len(args))}, h.c.RPush(ctx, h.key, args...).Err()
	case model.ActRemove:
		n, err := h.c.LRem(ctx, h.key, 1, c.Entries[0].Val).Result()
		return layer.Found(1, n > 0), err
	case model.ActGet:
		return missing(h.c.LIndex(ctx, h.key, c.Numbers[0]-h.o.Start).Err())
	case model.ActPeek:
		return missing(h.c.LIndex(ctx, h.key, 0).Err())
	case model.ActPoll:
		return missing(h.c.LPop(ctx, h.key).Err())
	case model.ActTake:
		return missing(h.c.BLPop(ctx, h.wait, h.key).Err())
	}
	return layer.Result{}, store.ErrUnsupported
}

// missing takes the reply that says there is nothing for a miss.
func missing(err error) (layer.Result, error) {
	if errors.Is(err, goredis.Nil) {
		return layer.Result{Misses: 1}, nil
	}
	return layer.Result{Entries: 1}, err
}

// reliable appends a message to a stream and tells how many subscribers there are,
// as Redisson's reliable topic does.
var reliable = goredis.NewScript(`
if ARGV[2] ~= '0' then
	redis.call('xadd', KEYS[1], 'maxlen', '~', ARGV[2], '*', 'm', ARGV[1])
else
	redis.call('xadd', KEYS[1], '*', 'm', ARGV[1])
end
return redis.call('zcard', KEYS[2])`)

// doTopic is PUBLISH, SPUBLISH, or XADD and ZCARD in a script; batches go in one
// pipeline.
func (h *caller) doTopic(ctx context.Context, c *layer.Call) (layer.Result, error) {
	n := layer.Result{Entries: int64(len(c.Entries))}
	one := func(p goredis.Cmdable, msg []byte) error {
		switch h.o.Kind {
		case model.KindRTopic:
			return reliable.EvalSha(ctx, p, []string{h.key, "{" + h.key + "}:subscribers"}, msg, h.trim).Err()
		case model.KindSTopic:
			return explainTopic(h.o, p.SPublish(ctx, h.key, msg).Err())
		}
		return p.Publish(ctx, h.key, msg).Err()
	}
	if len(c.Entries) == 1 {
		err := one(h.c, c.Entries[0].Val)
		if goredis.HasErrorPrefix(err, "NOSCRIPT") {
			err = reliable.Eval(ctx, h.c, []string{h.key, "{" + h.key + "}:subscribers"}, c.Entries[0].Val, h.trim).Err()
		}
		return n, err
	}
	if h.o.Kind == model.KindRTopic { // a pipeline cannot fall back on EVAL
		if err := reliable.Load(ctx, h.c).Err(); err != nil {
			return layer.Result{}, err
		}
	}
	_, err := h.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, e := range c.Entries {
			_ = one(p, e.Val) // told by the pipeline
		}
		return nil
	})
	return n, err
}

func members(c *layer.Call) []any {
	out := make([]any, len(c.Entries))
	for i, e := range c.Entries {
		out[i] = e.Key
	}
	return out
}

// doSet is SADD, SREM, SISMEMBER and SMISMEMBER; the members are the keys.
func (h *caller) doSet(ctx context.Context, c *layer.Call) (layer.Result, error) {
	n := layer.Result{Entries: int64(len(c.Entries))}
	switch c.Action {
	case model.ActAdd, model.ActAddAll:
		return n, h.c.SAdd(ctx, h.key, members(c)...).Err()
	case model.ActRemove:
		gone, err := h.c.SRem(ctx, h.key, members(c)...).Result()
		return layer.Found(1, gone > 0), err
	case model.ActGet:
		ok, err := h.c.SIsMember(ctx, h.key, c.Entries[0].Key).Result()
		return layer.Found(1, ok), err
	case model.ActGetAll:
		there, err := h.c.SMIsMember(ctx, h.key, members(c)...).Result()
		var r layer.Result
		for _, ok := range there {
			f := layer.Found(1, ok)
			r.Entries, r.Misses = r.Entries+f.Entries, r.Misses+f.Misses
		}
		return r, err
	}
	return layer.Result{}, store.ErrUnsupported
}

// doZSet is ZADD, ZREM, ZSCORE and ZMSCORE; the members are the keys, the scores
// their numbers.
func (h *caller) doZSet(ctx context.Context, c *layer.Call) (layer.Result, error) {
	switch c.Action {
	case model.ActAdd, model.ActAddAll:
		zs := make([]goredis.Z, len(c.Entries))
		for i, e := range c.Entries {
			zs[i] = goredis.Z{Score: float64(c.Numbers[i]), Member: string(e.Key)}
		}
		return layer.Result{Entries: int64(len(zs))}, h.c.ZAdd(ctx, h.key, zs...).Err()
	case model.ActRemove:
		gone, err := h.c.ZRem(ctx, h.key, members(c)...).Result()
		return layer.Found(1, gone > 0), err
	case model.ActGet:
		return missing(h.c.ZScore(ctx, h.key, string(c.Entries[0].Key)).Err())
	case model.ActGetAll:
		names := make([]any, 0, len(c.Entries)+2)
		names = append(names, "zmscore", h.key)
		for _, e := range c.Entries {
			names = append(names, e.Key)
		}
		vals, err := h.c.Do(ctx, names...).Slice()
		return present(vals), err
	}
	return layer.Result{}, store.ErrUnsupported
}

func present(vals []any) layer.Result {
	var r layer.Result
	for _, v := range vals {
		if v == nil {
			r.Misses++
		} else {
			r.Entries++
		}
	}
	return r
}

// doBucket is SET with GET, SET, MSET, GET, MGET and UNLINK, with PX when there is
// a time to live. On a cluster a batch is a pipeline of single commands.
func (h *caller) doBucket(ctx context.Context, c *layer.Call) (layer.Result, error) {
	n := layer.Result{Entries: int64(len(c.Entries))}
	k := func(i int) string { return entryKey(h.o.Space, c.Entries[i].Key) }
	switch c.Action {
	case model.ActPut:
		_, err := h.c.SetArgs(ctx, k(0), c.Entries[0].Val, goredis.SetArgs{Get: true, TTL: h.o.TTL}).Result()
		if errors.Is(err, goredis.Nil) {
			err = nil
		}
		return n, err
	case model.ActSet:
		return n, h.c.Set(ctx, k(0), c.Entries[0].Val, h.o.TTL).Err()
	case model.ActPutAll:
		if !h.cluster && h.o.TTL == 0 {
			args := make([]any, 0, 2*len(c.Entries))
			for i, e := range c.Entries {
				args = append(args, k(i), e.Val)
			}
			return n, h.c.MSet(ctx, args...).Err()
		}
		return n, h.pipe(ctx, c, func(p goredis.Pipeliner, i int) { p.Set(ctx, k(i), c.Entries[i].Val, h.o.TTL) })
	case model.ActGet:
		cmd := h.c.Get(ctx, k(0))
		if c.Op.Direct {
			c.Got = []byte(cmd.Val())
		}
		return missing(cmd.Err())
	case model.ActGetAll:
		if !h.cluster {
			names := make([]string, len(c.Entries))
			for i := range names {
				names[i] = k(i)
			}
			vals, err := h.c.MGet(ctx, names...).Result()
			return present(vals), err
		}
		return h.getPiped(ctx, c, func(p goredis.Pipeliner, i int) goredis.Cmder { return p.Get(ctx, k(i)) })
	case model.ActRemove:
		gone, err := h.c.Unlink(ctx, k(0)).Result()
		return layer.Found(1, gone > 0), err
	}
	return layer.Result{}, store.ErrUnsupported
}

func (h *caller) pipe(ctx context.Context, c *layer.Call, each func(p goredis.Pipeliner, i int)) error {
	_, err := h.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i := range c.Entries {
			each(p, i)
		}
		return nil
	})
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

func (h *caller) getPiped(ctx context.Context, c *layer.Call, each func(p goredis.Pipeliner, i int) goredis.Cmder) (layer.Result, error) {
	cmds := make([]goredis.Cmder, len(c.Entries))
	err := h.pipe(ctx, c, func(p goredis.Pipeliner, i int) { cmds[i] = each(p, i) })
	var r layer.Result
	for _, cmd := range cmds {
		if m, ok := cmd.(*goredis.MapStringStringCmd); errors.Is(cmd.Err(), goredis.Nil) || ok && len(m.Val()) == 0 {
			r.Misses++
		} else {
			r.Entries++
		}
	}
	return r, err
}

// doHash is HSET, HGETALL and UNLINK on one HASH for each entry, with PEXPIRE in
// the same pipeline when there is a time to live.
func (h *caller) doHash(ctx context.Context, c *layer.Call) (layer.Result, error) {
	n := layer.Result{Entries: int64(len(c.Entries))}
	k := func(i int) string { return entryKey(h.o.Space, c.Entries[i].Key) }
	write := func(p goredis.Cmdable, i int) error { return p.HSet(ctx, k(i), "v", c.Entries[i].Val).Err() }
	switch c.Action {
	case model.ActPut, model.ActSet, model.ActPutAll:
		if len(c.Entries) == 1 && h.o.TTL == 0 {
			return n, write(h.c, 0)
		}
		return n, h.pipe(ctx, c, func(p goredis.Pipeliner, i int) {
			_ = write(p, i) // told by the pipeline
			if h.o.TTL > 0 {
				p.PExpire(ctx, k(i), h.o.TTL)
			}
		})
	case model.ActGet:
		m, err := h.c.HGetAll(ctx, k(0)).Result()
		if c.Op.Direct {
			c.Got = []byte(m["v"])
		}
		return layer.Found(1, len(m) > 0), err
	case model.ActGetAll:
		return h.getPiped(ctx, c, func(p goredis.Pipeliner, i int) goredis.Cmder { return p.HGetAll(ctx, k(i)) })
	case model.ActRemove:
		gone, err := h.c.Unlink(ctx, k(0)).Result()
		return layer.Found(1, gone > 0), err
	}
	return layer.Result{}, store.ErrUnsupported
}
