package group

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
)

// layTogether lays what belongs together under common hash tags where a plan leaves it
// to the store and that is a cluster.
func layTogether(s *spec, c store.Conn) {
	if t, ok := c.(redis.Typed); ok && s.colocate == "auto" && clusterOf(t) != nil {
		s.lay(true)
	}
}

func clusterOf(t redis.Typed) *goredis.ClusterClient {
	c, _ := t.Client().(*goredis.ClusterClient)
	return c
}

// redisRoom has every structure: maps through the shapes of the store, all others
// with the commands of the table in docs/group.md.
type redisRoom struct {
	*mapRoom
	client  goredis.UniversalClient
	cluster bool
	near    *nearCache
	mux     *muxClient // nil: every call on a map has a connection of its own
	// sweepEvery and unsweep are of what removes expired entries of map caches.
	sweepEvery time.Duration
	unsweep    func()
}

func newRedisRoom(_ context.Context, s *spec, t redis.Typed) (engineRoom, error) {
	layTogether(s, t)
	r := &redisRoom{mapRoom: newMapRoom(s, t), client: t.Client(), cluster: clusterOf(t) != nil, sweepEvery: sweepEvery}
	for _, o := range s.order {
		if o.kind == kindSTopic && s.driver == "embedded" {
			return nil, fault.Input(fmt.Errorf("%s: operation %s: the embedded store has no sharded topics", o.where, o.name), "use redis:// of version 7 or later, or a topic or rtopic")
		}
	}
	if s.near {
		if s.driver == "embedded" {
			return nil, fault.Input(errors.New("nearCache: the embedded store has no client-side caching"), "use redis:// of version 6 or later")
		}
		near, err := newNearCache(t)
		if err != nil {
			return nil, err
		}
		r.near = near
	}
	if s.pipelining && s.driver != "embedded" {
		var err error
		if r.mux, err = newMux(t); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

// prepare has expired entries of map caches removed from now on.
func (r *redisRoom) prepare(context.Context, *place.Claim) error {
	r.sweep()
	return nil
}

// nearFacts tells what client-side caching did.
func (r *redisRoom) nearFacts() *NearFacts {
	if r.near == nil {
		return nil
	}
	return &NearFacts{Hits: r.near.hits.Load(), Misses: r.near.misses.Load(), Invalidations: r.near.invalidation.Load()}
}

func (r *redisRoom) close() error {
	if r.unsweep != nil {
		r.unsweep()
	}
	if r.mux != nil {
		r.mux.client.Close()
	}
	if r.near != nil {
		return r.near.close()
	}
	return nil
}

// entryKey is the key of one entry of a bucket or hash: the name of the structure
// and, as hash tag so that entries spread over a cluster, the entry's own.
func entryKey(s store.Space, key []byte) string { return keyOf(s) + ":{" + string(key) + "}" }

func (r *redisRoom) hand(o *opSpec) (hand, error) {
	if o.act == actQuery {
		return nil, fault.Hint(errors.New("query: Redis is asked by key only"), "query runs on mysql://, postgres:// and sqlite:")
	}
	switch {
	case r.near != nil && r.near.keeps(o):
		return r.near.hand(o), nil
	case r.mux != nil && r.mux.carries(o):
		return r.mux.hand(o), nil
	}
	if o.kind == kindMap && o.act != actRemove {
		return r.mapRoom.hand(o)
	}
	h := &redisHand{c: r.client, o: o, key: keyOf(o.space), cluster: r.cluster, ttl: strconv.FormatInt(o.ttl.Milliseconds(), 10)}
	h.wait, h.trim = r.s.takeWait, r.s.trim
	if o.kind == kindCache {
		h.cache = newCacheKeys(o.space)
	}
	return h, nil
}

// size counts the elements of a structure.
func (r *redisRoom) size(ctx context.Context, o *opSpec) (int64, error) {
	key := keyOf(o.space)
	switch {
	case o.space.Grouped && o.kind != kindMap:
		return -1, nil
	case o.kind == kindCache:
		return r.client.HLen(ctx, key).Result()
	case o.kind == kindList, o.kind == kindQueue:
		return r.client.LLen(ctx, key).Result()
	case o.kind == kindSet:
		return r.client.SCard(ctx, key).Result()
	case o.kind == kindZSet:
		return r.client.ZCard(ctx, key).Result()
	case o.kind == kindRTopic:
		return r.client.XLen(ctx, key).Result()
	case o.kind.topic():
		return -1, nil
	}
	return r.mapRoom.size(ctx, o)
}

// subscribe listens to a topic until the function returned is called.
func (r *redisRoom) subscribe(ctx context.Context, o *opSpec, to mailbox) (func() error, error) {
	key := keyOf(o.space)
	if o.kind == kindRTopic {
		return r.follow(ctx, key, to)
	}
	var ps *goredis.PubSub
	if o.kind == kindSTopic {
		ps = r.client.SSubscribe(ctx, key)
	} else {
		ps = r.client.Subscribe(ctx, key)
	}
	if _, err := ps.Receive(ctx); err != nil { // the confirmation
		err = explainTopic(o, err)
		return nil, errors.Join(fmt.Errorf("subscribe to %s: %w", key, err), ps.Close())
	}
	done := make(chan struct{})
	var closing atomic.Bool
	go func() { // ends when the subscription is closed
		defer close(done)
		for {
			m, err := ps.ReceiveMessage(context.Background())
			if err != nil {
				if closing.Load() {
					return
				}
				to.fail(fmt.Errorf("receive from %s: %w", key, err))
				time.Sleep(again) // the next call connects and subscribes anew
				continue
			}
			to.put([]byte(m.Payload))
		}
	}()
	return func() error {
		closing.Store(true)
		err := ps.Close()
		<-done
		return err
	}, nil
}

// again is how long a receiver whose connection broke waits before it tries anew.
const again = 50 * time.Millisecond

func explainTopic(o *opSpec, err error) error {
	if err != nil && o.kind == kindSTopic && strings.Contains(err.Error(), "unknown command") {
		return fault.Store(err, "sharded topics need Redis 7 or later; a topic or rtopic works here")
	}
	return err
}

// follow reads a stream from its end on.
func (r *redisRoom) follow(ctx context.Context, key string, to mailbox) (func() error, error) {
	last := "0"
	if end, err := r.client.XRevRangeN(ctx, key, "+", "-", 1).Result(); err != nil {
		return nil, fmt.Errorf("follow %s: %w", key, err)
	} else if len(end) > 0 {
		last = end[0].ID
	}
	reading, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // ends when reading is cancelled
		defer close(done)
		for reading.Err() == nil {
			streams, err := r.client.XRead(reading, &goredis.XReadArgs{Streams: []string{key, last}, Count: 1000, Block: 100e6}).Result()
			if err != nil && !errors.Is(err, goredis.Nil) {
				if reading.Err() == nil {
					to.fail(fmt.Errorf("follow %s: %w", key, err))
					time.Sleep(again)
				}
				continue
			}
			for _, s := range streams {
				for _, m := range s.Messages {
					last = m.ID
					text, _ := m.Values["m"].(string)
					to.put([]byte(text))
				}
			}
		}
	}()
	return func() error {
		cancel()
		<-done
		return nil
	}, nil
}
