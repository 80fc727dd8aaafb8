package onredis

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// cacheKeys are the keys of a map cache in Redisson's layout. The name of the hash is
// the hash tag of all the others.
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
// length, entries with a time to live are also in the sorted set, and each write is
// published to listeners.
var (
	// cachePut takes pairs of field and value after the time to live and the current
	// time, both in ms, and whether to return the old value.
	cachePut = link.NewScript("", `
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
	cacheGet = link.NewScript("", `
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
	// cacheSweep removes expired entries, several at a time, and notifies listeners of
	// each.
	cacheSweep = link.NewScript("", `
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

// sweepEvery is how often expired entries of map caches are removed, as by a client
// that has opened one.
const sweepEvery = 5 * time.Second

// sweep starts removing expired entries of the caches that have a time to live. It ends
// with the layer.
func (r *Adapter) sweep() {
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
	fault.Go(func() { // ends when ctx is cancelled
		defer close(done)
		var at link.Caller
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(r.sweepEvery):
			}
			for _, k := range caches {
				// A failure is ignored, as it will be tried again: no call of the run
				// depends on it.
				for n := int64(100); n == 100 && ctx.Err() == nil; {
					begin(&at, cacheSweep, k)
					at.Num(time.Now().UnixMilli())
					n, _ = bySHA(r.lines).Finish(ctx, &at, cacheSweep)
				}
			}
		}
	})
}

func bySHA(l *link.Lines) link.Scripts { return link.Scripts{Lines: l, How: link.BySHA} }

// begin begins the call of a script on the keys of a cache.
func begin(c *link.Caller, s link.Script, k *cacheKeys) {
	link.Scripts{How: link.BySHA}.Begin(&c.Request, s, int64(len(k.keys)))
	for _, key := range k.keys {
		c.Add(key)
	}
	c.Reply.Keep = false
}

// doCache does the calls on a map cache.
func (h *caller) doCache(ctx context.Context, c *model.Call) (model.Result, error) {
	now := time.Now().UnixMilli()
	switch c.Action {
	case model.ActPut, model.ActSet, model.ActPutAll:
		begin(&h.at, cachePut, h.cache)
		h.at.Add(h.ttl)
		h.at.Num(now)
		h.at.Add(map[bool]string{true: "1", false: "0"}[c.Action == model.ActPut])
		for _, e := range c.Entries {
			h.at.Bytes(e.Key)
			h.at.Bytes(e.Val)
		}
		_, err := bySHA(h.lines).Finish(ctx, &h.at, cachePut)
		return model.Result{Entries: int64(len(c.Entries))}, err
	case model.ActGet, model.ActGetAll:
		begin(&h.at, cacheGet, h.cache)
		h.at.Num(now)
		for _, e := range c.Entries {
			h.at.Bytes(e.Key)
		}
		h.at.Reply.Keep = true
		_, err := bySHA(h.lines).Finish(ctx, &h.at, cacheGet)
		return h.read(c, err)
	case model.ActRemove:
		h.at.Command("HDEL")
		h.at.Add(h.key)
		h.at.Bytes(c.Entries[0].Key)
		gone, err := h.lines.Do(ctx, &h.at)
		if err == nil && h.o.TTL > 0 {
			h.at.Command("ZREM")
			h.at.Add(h.cache.keys[1])
			h.at.Bytes(c.Entries[0].Key)
			_, err = h.lines.Do(ctx, &h.at)
		}
		return model.Found(1, gone > 0), err
	}
	return model.Result{}, store.ErrUnsupported
}

// read counts what came back for the entries of a call, and hands over a single one.
func (h *caller) read(c *model.Call, err error) (model.Result, error) {
	n := int64(0)
	for i := 0; err == nil && i < h.at.Reply.Len(); i++ {
		v, yes := h.at.Reply.At(i)
		if yes {
			n++
		}
		c.Got = v
	}
	return there(c, n, err)
}
