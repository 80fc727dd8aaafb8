// Package onredis provides every structure of a group run with the commands of the
// table in docs/group.md.
package onredis

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
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// LayTogether stores what belongs together under common hash tags, if the plan leaves
// that to the store and the store is a cluster.
func LayTogether(s *model.Spec, c store.Conn) {
	if t, ok := c.(redis.Typed); ok && s.Colocate == "auto" && link.IsCluster(t.Client()) {
		s.AssignSpaces(true)
	}
}

// Adapter provides every structure: maps through the shapes of the store, all others with
// the commands of the table in docs/group.md.
type Adapter struct {
	*model.Maps
	client  link.Client
	cluster bool
	near    *nearCache
	// lines are the connections that calls take.
	lines *link.Lines
	// sweepEvery and unsweep belong to the removal of expired entries of map caches.
	sweepEvery time.Duration
	unsweep    func()
}

// New returns the layer for a plan on Redis, or on the embedded store.
func New(ctx context.Context, s *model.Spec, t redis.Typed) (model.Adapter, error) {
	LayTogether(s, t)
	maps := store.Conn(t)
	if !s.Pipelining {
		maps = t.Alone()
	}
	r := &Adapter{Maps: model.NewMaps(s, maps), client: t.Client(), lines: t.Lines(s.Pipelining), cluster: link.IsCluster(t.Client()), sweepEvery: sweepEvery}
	for _, o := range s.Order {
		if o.Kind == model.KindSTopic && s.Driver == "embedded" {
			return nil, fault.Input(fmt.Errorf("%s: operation %s: the embedded store has no sharded topics", o.Where, o.Name), "use redis:// of version 7 or later, or a topic or rtopic")
		}
	}
	if s.Near {
		if s.Driver == "embedded" {
			return nil, fault.Input(errors.New("nearCache: the embedded store has no client-side caching"), "use redis:// of version 6 or later")
		}
		near, err := newNearCache(ctx, t)
		if err != nil {
			return nil, err
		}
		r.near = near
	}
	return r, nil
}

// Prepare starts the removal of expired entries of map caches.
func (r *Adapter) Prepare(context.Context, *ownership.Claim) error {
	r.sweep()
	return nil
}

// NearFacts returns what client-side caching did.
func (r *Adapter) NearFacts() *model.NearFacts {
	if r.near == nil {
		return nil
	}
	return &model.NearFacts{Hits: r.near.hits.Load(), Misses: r.near.misses.Load(), Invalidations: r.near.near.Invalidated()}
}

// Close releases what the layer has opened.
func (r *Adapter) Close() error {
	if r.unsweep != nil {
		r.unsweep()
	}
	if r.near != nil {
		return r.near.Close()
	}
	return nil
}

// entryKey returns the key of one entry of a bucket or hash: the name of the structure
// followed by the entry's own key, as a hash tag so that entries spread over a cluster.
func entryKey(s store.Space, key []byte) string { return model.KeyOf(s) + ":{" + string(key) + "}" }

// Caller returns what carries out the calls of an operation.
func (r *Adapter) Caller(o *model.Op) (model.Caller, error) {
	if o.Action == model.ActQuery {
		return nil, fault.Hint(errors.New("query: perfbench reads Redis by key only"), "query runs on mysql://, postgres:// and sqlite:")
	}
	if r.near != nil && r.near.keeps(o) {
		return r.near.Caller(o), nil
	}
	if o.Kind == model.KindMap && o.Action != model.ActRemove {
		return r.Maps.Caller(o)
	}
	h := &caller{c: r.client, lines: r.lines, o: o, key: model.KeyOf(o.Space), ttl: strconv.FormatInt(o.TTL.Milliseconds(), 10), wait: r.Spec.TakeWait}
	switch o.Kind {
	case model.KindCache:
		h.cache = newCacheKeys(o.Space)
	case model.KindList, model.KindQueue:
		h.list = link.NewList(r.lines, h.key)
	case model.KindSet:
		h.set = link.NewSet(r.lines, h.key)
	case model.KindZSet:
		h.sorted = link.NewSorted(r.lines, h.key)
	case model.KindBucket:
		h.buckets = link.NewBuckets(r.lines, h.key, r.cluster, o.TTL)
	case model.KindHash:
		h.hashes = link.NewHashes(r.lines, h.key, o.TTL)
	case model.KindTopic, model.KindSTopic:
		h.topic = link.NewTopic(r.lines, h.key, o.Kind == model.KindSTopic)
	case model.KindRTopic:
		h.topic = link.NewReliable(r.lines, h.key, r.Spec.Trim)
	}
	return h, nil
}

// Size returns the number of elements of a structure.
func (r *Adapter) Size(ctx context.Context, o *model.Op) (int64, error) {
	key := model.KeyOf(o.Space)
	switch {
	case o.Space.Grouped && o.Kind != model.KindMap:
		return -1, nil
	case o.Kind == model.KindCache:
		return r.client.HLen(ctx, key).Result()
	case o.Kind == model.KindList, o.Kind == model.KindQueue:
		return r.client.LLen(ctx, key).Result()
	case o.Kind == model.KindSet:
		return r.client.SCard(ctx, key).Result()
	case o.Kind == model.KindZSet:
		return r.client.ZCard(ctx, key).Result()
	case o.Kind == model.KindRTopic:
		return r.client.XLen(ctx, key).Result()
	case o.Kind.Topic():
		return -1, nil
	}
	return r.Maps.Size(ctx, o)
}

// Subscribe listens to a topic until the function returned is called.
func (r *Adapter) Subscribe(ctx context.Context, o *model.Op, to model.Inbox) (func() error, error) {
	key := model.KeyOf(o.Space)
	if o.Kind == model.KindRTopic {
		return r.follow(ctx, key, to)
	}
	ps, err := link.Subscribe(ctx, r.client, o.Kind == model.KindSTopic, key)
	if err != nil {
		return nil, err
	}
	if _, err := ps.Receive(ctx); err != nil { // the confirmation
		err = explainTopic(o, err)
		return nil, errors.Join(fmt.Errorf("subscribe to %s: %w", key, err), ps.Close())
	}
	done := make(chan struct{})
	var closing atomic.Bool
	fault.Go(func() { // ends when the subscription is closed
		defer close(done)
		for {
			m, err := ps.ReceiveMessage(context.Background())
			if err != nil {
				if closing.Load() {
					return
				}
				to.Fail(fmt.Errorf("receive from %s: %w", key, err))
				time.Sleep(again) // the next call reconnects and subscribes again
				continue
			}
			to.Put([]byte(m.Payload))
		}
	})
	return func() error {
		closing.Store(true)
		err := ps.Close()
		<-done
		return err
	}, nil
}

// again is how long a receiver waits before it reconnects.
const again = 50 * time.Millisecond

func explainTopic(o *model.Op, err error) error {
	if err != nil && o.Kind == model.KindSTopic && strings.Contains(err.Error(), "unknown command") {
		return fault.Store(err, "sharded topics need Redis 7 or later; a topic or rtopic works here")
	}
	return err
}

// follow reads a stream from its current end.
func (r *Adapter) follow(ctx context.Context, key string, to model.Inbox) (func() error, error) {
	last := "0"
	if end, err := r.client.XRevRangeN(ctx, key, "+", "-", 1).Result(); err != nil {
		return nil, fmt.Errorf("follow %s: %w", key, err)
	} else if len(end) > 0 {
		last = end[0].ID
	}
	reading, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	fault.Go(func() { // ends when reading is cancelled
		defer close(done)
		for reading.Err() == nil {
			streams, err := r.client.XRead(reading, &goredis.XReadArgs{Streams: []string{key, last}, Count: 1000, Block: 100e6}).Result()
			if err != nil && !errors.Is(err, goredis.Nil) {
				if reading.Err() == nil {
					to.Fail(fmt.Errorf("follow %s: %w", key, err))
					time.Sleep(again)
				}
				continue
			}
			for _, s := range streams {
				for _, m := range s.Messages {
					last = m.ID
					text, _ := m.Values["m"].(string)
					to.Put([]byte(text))
				}
			}
		}
	})
	return func() error {
		cancel()
		<-done
		return nil
	}, nil
}
