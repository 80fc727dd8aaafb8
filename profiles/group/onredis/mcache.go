package onredis

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// cacheKeys are the keys of a map cache in Redisson's layout. The name of the hash
// is the hash tag of all others.
type cacheKeys struct{ keys []string }

func newCacheKeys(s store.Space) *cacheKeys {
	n := model.KeyOf(s)
	return &cacheKeys{[]string{
		n,
		model.KeyOf(store.Space{Namespace: s.Namespace, Name: model.Timeouts(s)}),
		"redisson__idle__set:{" + n + "}",
		"redisson_map_cache_created:{" + n + "}",
		"redisson_map_cache_updated:{" + n + "}",
		"{" + n + "}:redisson_options",
		"redisson_map_cache_expired:{" + n + "}",
	}}
}

// The scripts do what a map cache does: values are packed with their idle time and
// length, entries with a time to live stand in the sorted set as well, and each
// write is told to listeners.
var (
	// cachePut takes fields and values in pairs after the time to live and the time,
	// both in ms, and whether the old value is to be returned.
	cachePut = goredis.NewScript(`
local ttl, now, old = tonumber(ARGV[1]), tonumber(ARGV[2]), nil
local limit = redis.call('hget', KEYS[6], 'max-size')
for i = 4, #ARGV, 2 do
	local f, v = ARGV[i], ARGV[i + 1]
	local before = redis.call('hget', KEYS[1], f)
	if ttl > 0 then
		redis.call('zadd', KEYS[2], now + ttl, f)
	elseif ARGV[3] == '1' then
		redis.call('zrem', KEYS[2], f)
	end
	if ARGV[3] == '1' then
		redis.call('zrem', KEYS[3], f)
	end
	redis.call('hset', KEYS[1], f, struct.pack('dLc0', 0, #v, v))
	if before then
		local _, o = struct.unpack('dLc0', before)
		redis.call('publish', KEYS[5], struct.pack('Lc0Lc0Lc0', #f, f, #v, v, #o, o))
		old = o
	else
		redis.call('publish', KEYS[4], struct.pack('Lc0Lc0', #f, f, #v, v))
	end
end
if ARGV[3] == '1' then
	return old
end
return 1`)
	// cacheGet takes the time and the fields.
	cacheGet = goredis.NewScript(`
local now, out = tonumber(ARGV[1]), {}
redis.call('hget', KEYS[6], 'max-size')
local head = redis.call('zrange', KEYS[2], 0, 0, 'withscores')
for i = 2, #ARGV do
	local v = redis.call('hget', KEYS[1], ARGV[i])
	if v and head[2] and tonumber(head[2]) <= now then
		local at = redis.call('zscore', KEYS[2], ARGV[i])
		if at and tonumber(at) <= now then
			v = false
		end
	end
	if v then
		local _, value = struct.unpack('dLc0', v)
		v = value
	end
	out[#out + 1] = v
end
return out`)
	// cacheSweep removes entries whose time has come, some at a time, and tells
	// listeners of each.
	cacheSweep = goredis.NewScript(`
local gone = redis.call('zrangebyscore', KEYS[2], 0, ARGV[1], 'limit', 0, 100)
if #gone > 0 then
	for _, f in ipairs(gone) do
		local v = redis.call('hget', KEYS[1], f)
		if v then
			local _, value = struct.unpack('dLc0', v)
			redis.call('publish', KEYS[7], struct.pack('Lc0Lc0', #f, f, #value, value))
		end
	end
	redis.call('zrem', KEYS[2], unpack(gone))
	redis.call('hdel', KEYS[1], unpack(gone))
end
return #gone`)
)

func run(ctx context.Context, c goredis.UniversalClient, s *goredis.Script, keys []string, args ...any) (any, error) {
	v, err := s.Run(ctx, c, keys, args...).Result()
	if errors.Is(err, goredis.Nil) {
		err = nil
	}
	return v, err
}

// sweepEvery is how often entries of map caches whose time has come are removed, as
// a client that has opened one does.
const sweepEvery = 5 * time.Second

// sweep begins to remove expired entries of the caches that have a time to live. It
// ends with the layer.
func (r *Layer) sweep() {
	var caches []*cacheKeys
	seen := map[store.Space]bool{}
	for _, o := range r.Spec.Order {
		if o.Kind == model.KindCache && o.TTL > 0 && !seen[o.Space] {
			seen[o.Space] = true
			caches = append(caches, newCacheKeys(o.Space))
		}
	}
	if len(caches) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	r.unsweep = func() { cancel(); <-done }
	go func() { // ends when ctx is cancelled
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(r.sweepEvery):
			}
			for _, k := range caches {
				// What fails now is tried again: no call of the run depends on it.
				for n := int64(100); n == 100 && ctx.Err() == nil; {
					v, _ := run(ctx, r.client, cacheSweep, k.keys, time.Now().UnixMilli())
					n, _ = v.(int64)
				}
			}
		}
	}()
}

// doCache does the calls on a map cache.
func (h *caller) doCache(ctx context.Context, c *layer.Call) (layer.Result, error) {
	n := layer.Result{Entries: int64(len(c.Entries))}
	now := time.Now().UnixMilli()
	switch c.Action {
	case model.ActPut, model.ActSet, model.ActPutAll:
		args := make([]any, 0, 3+2*len(c.Entries))
		args = append(args, h.ttl, now, map[bool]string{true: "1", false: "0"}[c.Action == model.ActPut])
		for _, e := range c.Entries {
			args = append(args, e.Key, e.Val)
		}
		_, err := run(ctx, h.c, cachePut, h.cache.keys, args...)
		return n, err
	case model.ActGet, model.ActGetAll:
		args := make([]any, 0, 1+len(c.Entries))
		args = append(args, now)
		for _, e := range c.Entries {
			args = append(args, e.Key)
		}
		v, err := run(ctx, h.c, cacheGet, h.cache.keys, args...)
		vals, _ := v.([]any)
		if c.Op.Direct && len(vals) == 1 {
			text, _ := vals[0].(string)
			c.Got = []byte(text)
		}
		return present(vals), err
	case model.ActRemove:
		gone, err := h.c.HDel(ctx, h.key, string(c.Entries[0].Key)).Result()
		if err == nil && h.o.TTL > 0 {
			err = h.c.ZRem(ctx, h.cache.keys[1], c.Entries[0].Key).Err()
		}
		return layer.Found(1, gone > 0), err
	}
	return layer.Result{}, store.ErrUnsupported
}
