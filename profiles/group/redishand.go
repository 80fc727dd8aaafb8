package group

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// redisHand does the calls of one operation on Redis for one worker.
type redisHand struct {
	c       goredis.UniversalClient
	o       *opSpec
	key     string
	ttl     string
	cluster bool
	wait    time.Duration
	trim    int64
	cache   *cacheKeys
}

func (h *redisHand) do(ctx context.Context, c *call) (result, error) {
	r, err := h.route(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.act, h.key, err)
	}
	return r, nil
}

func (h *redisHand) route(ctx context.Context, c *call) (result, error) {
	switch h.o.kind {
	case kindCache:
		return h.doCache(ctx, c)
	case kindList, kindQueue:
		return h.doList(ctx, c)
	case kindTopic, kindRTopic, kindSTopic:
		return h.doTopic(ctx, c)
	case kindSet:
		return h.doSet(ctx, c)
	case kindZSet:
		return h.doZSet(ctx, c)
	case kindBucket:
		return h.doBucket(ctx, c)
	case kindHash:
		return h.doHash(ctx, c)
	case kindMap: // what the shapes of the store lack
		n, err := h.c.HDel(ctx, h.mapKey(c), string(c.entries[0].Key)).Result()
		return found(1, n > 0), err
	}
	return result{}, store.ErrUnsupported
}

func (h *redisHand) mapKey(c *call) string {
	if len(c.tags) > 0 {
		return h.key + ":{" + string(c.tags[0]) + "}"
	}
	return h.key
}

// doList is RPUSH, LREM, LINDEX, LPOP and BLPOP.
func (h *redisHand) doList(ctx context.Context, c *call) (result, error) {
	switch c.act {
	case actAdd, actOffer, actAddAll:
		args := make([]any, len(c.entries))
		for i, e := range c.entries {
			args[i] = e.Val
		}
		return result{entries: int64(len(args))}, h.c.RPush(ctx, h.key, args...).Err()
	case actRemove:
		n, err := h.c.LRem(ctx, h.key, 1, c.entries[0].Val).Result()
		return found(1, n > 0), err
	case actGet:
		return missing(h.c.LIndex(ctx, h.key, c.numbers[0]-h.o.start).Err())
	case actPeek:
		return missing(h.c.LIndex(ctx, h.key, 0).Err())
	case actPoll:
		return missing(h.c.LPop(ctx, h.key).Err())
	case actTake:
		return missing(h.c.BLPop(ctx, h.wait, h.key).Err())
	}
	return result{}, store.ErrUnsupported
}

// missing takes the reply that says there is nothing for a miss.
func missing(err error) (result, error) {
	if errors.Is(err, goredis.Nil) {
		return result{misses: 1}, nil
	}
	return result{entries: 1}, err
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
func (h *redisHand) doTopic(ctx context.Context, c *call) (result, error) {
	n := result{entries: int64(len(c.entries))}
	one := func(p goredis.Cmdable, msg []byte) error {
		switch h.o.kind {
		case kindRTopic:
			return reliable.EvalSha(ctx, p, []string{h.key, "{" + h.key + "}:subscribers"}, msg, h.trim).Err()
		case kindSTopic:
			return explainTopic(h.o, p.SPublish(ctx, h.key, msg).Err())
		}
		return p.Publish(ctx, h.key, msg).Err()
	}
	if len(c.entries) == 1 {
		err := one(h.c, c.entries[0].Val)
		if goredis.HasErrorPrefix(err, "NOSCRIPT") {
			err = reliable.Eval(ctx, h.c, []string{h.key, "{" + h.key + "}:subscribers"}, c.entries[0].Val, h.trim).Err()
		}
		return n, err
	}
	if h.o.kind == kindRTopic { // a pipeline cannot fall back on EVAL
		if err := reliable.Load(ctx, h.c).Err(); err != nil {
			return result{}, err
		}
	}
	_, err := h.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for _, e := range c.entries {
			_ = one(p, e.Val) // told by the pipeline
		}
		return nil
	})
	return n, err
}

func members(c *call) []any {
	out := make([]any, len(c.entries))
	for i, e := range c.entries {
		out[i] = e.Key
	}
	return out
}

// doSet is SADD, SREM, SISMEMBER and SMISMEMBER; the members are the keys.
func (h *redisHand) doSet(ctx context.Context, c *call) (result, error) {
	n := result{entries: int64(len(c.entries))}
	switch c.act {
	case actAdd, actAddAll:
		return n, h.c.SAdd(ctx, h.key, members(c)...).Err()
	case actRemove:
		gone, err := h.c.SRem(ctx, h.key, members(c)...).Result()
		return found(1, gone > 0), err
	case actGet:
		ok, err := h.c.SIsMember(ctx, h.key, c.entries[0].Key).Result()
		return found(1, ok), err
	case actGetAll:
		there, err := h.c.SMIsMember(ctx, h.key, members(c)...).Result()
		var r result
		for _, ok := range there {
			f := found(1, ok)
			r.entries, r.misses = r.entries+f.entries, r.misses+f.misses
		}
		return r, err
	}
	return result{}, store.ErrUnsupported
}

// doZSet is ZADD, ZREM, ZSCORE and ZMSCORE; the members are the keys, the scores
// their numbers.
func (h *redisHand) doZSet(ctx context.Context, c *call) (result, error) {
	switch c.act {
	case actAdd, actAddAll:
		zs := make([]goredis.Z, len(c.entries))
		for i, e := range c.entries {
			zs[i] = goredis.Z{Score: float64(c.numbers[i]), Member: string(e.Key)}
		}
		return result{entries: int64(len(zs))}, h.c.ZAdd(ctx, h.key, zs...).Err()
	case actRemove:
		gone, err := h.c.ZRem(ctx, h.key, members(c)...).Result()
		return found(1, gone > 0), err
	case actGet:
		return missing(h.c.ZScore(ctx, h.key, string(c.entries[0].Key)).Err())
	case actGetAll:
		names := make([]any, 0, len(c.entries)+2)
		names = append(names, "zmscore", h.key)
		for _, e := range c.entries {
			names = append(names, e.Key)
		}
		vals, err := h.c.Do(ctx, names...).Slice()
		return present(vals), err
	}
	return result{}, store.ErrUnsupported
}

func present(vals []any) result {
	var r result
	for _, v := range vals {
		if v == nil {
			r.misses++
		} else {
			r.entries++
		}
	}
	return r
}

// doBucket is SET with GET, SET, MSET, GET, MGET and UNLINK, with PX when there is
// a time to live. On a cluster a batch is a pipeline of single commands.
func (h *redisHand) doBucket(ctx context.Context, c *call) (result, error) {
	n := result{entries: int64(len(c.entries))}
	k := func(i int) string { return entryKey(h.o.space, c.entries[i].Key) }
	switch c.act {
	case actPut:
		_, err := h.c.SetArgs(ctx, k(0), c.entries[0].Val, goredis.SetArgs{Get: true, TTL: h.o.ttl}).Result()
		if errors.Is(err, goredis.Nil) {
			err = nil
		}
		return n, err
	case actSet:
		return n, h.c.Set(ctx, k(0), c.entries[0].Val, h.o.ttl).Err()
	case actPutAll:
		if !h.cluster && h.o.ttl == 0 {
			args := make([]any, 0, 2*len(c.entries))
			for i, e := range c.entries {
				args = append(args, k(i), e.Val)
			}
			return n, h.c.MSet(ctx, args...).Err()
		}
		return n, h.pipe(ctx, c, func(p goredis.Pipeliner, i int) { p.Set(ctx, k(i), c.entries[i].Val, h.o.ttl) })
	case actGet:
		cmd := h.c.Get(ctx, k(0))
		if c.o.direct {
			c.got = []byte(cmd.Val())
		}
		return missing(cmd.Err())
	case actGetAll:
		if !h.cluster {
			names := make([]string, len(c.entries))
			for i := range names {
				names[i] = k(i)
			}
			vals, err := h.c.MGet(ctx, names...).Result()
			return present(vals), err
		}
		return h.getPiped(ctx, c, func(p goredis.Pipeliner, i int) goredis.Cmder { return p.Get(ctx, k(i)) })
	case actRemove:
		gone, err := h.c.Unlink(ctx, k(0)).Result()
		return found(1, gone > 0), err
	}
	return result{}, store.ErrUnsupported
}

func (h *redisHand) pipe(ctx context.Context, c *call, each func(p goredis.Pipeliner, i int)) error {
	_, err := h.c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i := range c.entries {
			each(p, i)
		}
		return nil
	})
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

func (h *redisHand) getPiped(ctx context.Context, c *call, each func(p goredis.Pipeliner, i int) goredis.Cmder) (result, error) {
	cmds := make([]goredis.Cmder, len(c.entries))
	err := h.pipe(ctx, c, func(p goredis.Pipeliner, i int) { cmds[i] = each(p, i) })
	var r result
	for _, cmd := range cmds {
		if m, ok := cmd.(*goredis.MapStringStringCmd); errors.Is(cmd.Err(), goredis.Nil) || ok && len(m.Val()) == 0 {
			r.misses++
		} else {
			r.entries++
		}
	}
	return r, err
}

// doHash is HSET, HGETALL and UNLINK on one HASH for each entry, with PEXPIRE in
// the same pipeline when there is a time to live.
func (h *redisHand) doHash(ctx context.Context, c *call) (result, error) {
	n := result{entries: int64(len(c.entries))}
	k := func(i int) string { return entryKey(h.o.space, c.entries[i].Key) }
	write := func(p goredis.Cmdable, i int) error { return p.HSet(ctx, k(i), "v", c.entries[i].Val).Err() }
	switch c.act {
	case actPut, actSet, actPutAll:
		if len(c.entries) == 1 && h.o.ttl == 0 {
			return n, write(h.c, 0)
		}
		return n, h.pipe(ctx, c, func(p goredis.Pipeliner, i int) {
			_ = write(p, i) // told by the pipeline
			if h.o.ttl > 0 {
				p.PExpire(ctx, k(i), h.o.ttl)
			}
		})
	case actGet:
		m, err := h.c.HGetAll(ctx, k(0)).Result()
		if c.o.direct {
			c.got = []byte(m["v"])
		}
		return found(1, len(m) > 0), err
	case actGetAll:
		return h.getPiped(ctx, c, func(p goredis.Pipeliner, i int) goredis.Cmder { return p.HGetAll(ctx, k(i)) })
	case actRemove:
		gone, err := h.c.Unlink(ctx, k(0)).Result()
		return found(1, gone > 0), err
	}
	return result{}, store.ErrUnsupported
}
