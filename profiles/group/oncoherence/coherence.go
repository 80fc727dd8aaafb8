// Package oncoherence provides those structures of a group run that Oracle's Go client
// for Coherence supports.
package oncoherence

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Adapter provides what Oracle's Go client supports: maps, caches with expiry, queues,
// and reads through near caches if requested.
type Adapter struct {
	*model.Maps
	c    *coherence.Conn
	near *coherence.Near
}

// New returns the layer for a plan on Coherence.
func New(ctx context.Context, s *model.Spec, c *coherence.Conn) (model.Adapter, error) {
	r := &Adapter{Maps: model.NewMaps(s, c), c: c}
	if !s.Near {
		return r, nil
	}
	var spaces []store.Space
	seen := map[store.Space]bool{}
	for _, o := range s.Order {
		if keepsNear(o) && !seen[o.Space] {
			seen[o.Space] = true
			spaces = append(spaces, o.Space)
		}
	}
	if len(spaces) == 0 {
		return nil, fault.Input(errors.New("nearCache: no operation reads a map or an mcache"), "use get or getall on one of them")
	}
	var err error
	if r.near, err = c.OpenNear(ctx, spaces); err != nil {
		return nil, err
	}
	return r, nil
}

// keepsNear reports whether the reads of an operation go through a near cache.
func keepsNear(o *model.Op) bool {
	return (o.Action == model.ActGet || o.Action == model.ActGetAll) && !o.Direct && !o.Space.Grouped && (o.Kind == model.KindMap || o.Kind == model.KindCache)
}

// Close releases what the layer has opened.
func (r *Adapter) Close() error {
	if r.near != nil {
		return r.near.Close()
	}
	return nil
}

// Caller returns what carries out the calls of an operation.
func (r *Adapter) Caller(o *model.Op) (model.Caller, error) {
	switch {
	case o.Kind.Topic():
		return nil, fault.Hint(errors.New("there are no topics in Oracle's Go client for Coherence (v2.3.1)"), "a queue hands each message to one reader; redis:// has topics")
	case o.Action == model.ActQuery:
		return nil, fault.Hint(errors.New("query: perfbench reads Coherence by key only"), "query runs on mysql://, postgres:// and sqlite:")
	case r.near != nil && keepsNear(o):
		return &nearCaller{near: r.near, o: o}, nil
	case o.Kind == model.KindQueue:
		return queueCaller{r.c.Queues, o, r.Spec.TakeWait}, nil
	case o.Kind == model.KindCache, o.Kind == model.KindMap && o.Action == model.ActRemove:
		return &cacheCaller{maps: r.c.Maps, o: o}, nil
	case o.Kind == model.KindMap:
		return r.Maps.Caller(o)
	}
	return nil, fault.Hint(fmt.Errorf("there is no %s on Coherence", o.Kind), "it has maps, mcaches and queues; redis:// has every structure")
}

// Size returns how many elements a structure has.
func (r *Adapter) Size(ctx context.Context, o *model.Op) (int64, error) {
	if o.Kind == model.KindQueue {
		return r.c.Queues.Size(ctx, o.Space)
	}
	return r.c.Maps.Count(ctx, o.Space)
}

// cacheCaller does one worker's calls on a cache whose entries expire.
type cacheCaller struct {
	maps *coherence.Maps
	o    *model.Op
	keys [][]byte
}

// Do carries out a call.
func (h *cacheCaller) Do(ctx context.Context, c *model.Call) (model.Result, error) {
	n := model.Result{Entries: int64(len(c.Entries))}
	switch c.Action {
	case model.ActPut:
		return n, h.maps.PutExpiring(ctx, h.o.Space, c.Entries[0].Key, c.Entries[0].Val, h.o.TTL)
	case model.ActSet, model.ActPutAll:
		return n, h.maps.PutAllExpiring(ctx, h.o.Space, c.Entries, h.o.TTL)
	case model.ActGet, model.ActGetAll:
		h.keys = model.KeysInto(h.keys, c)
		vals, err := h.maps.GetAll(ctx, h.o.Space, h.keys)
		if len(vals) == 1 {
			c.Got = vals[0]
		}
		return model.Hits(vals), err
	case model.ActRemove:
		there, err := h.maps.Remove(ctx, h.o.Space, c.Entries[0].Key)
		return model.Found(1, there), err
	}
	return model.Result{}, store.ErrUnsupported
}

// queueCaller does the calls on a queue.
type queueCaller struct {
	queues *coherence.Queues
	o      *model.Op
	wait   time.Duration
}

// The pauses between a take's attempts on an empty queue: the client has no call that
// waits.
const (
	firstLook = time.Millisecond
	lastLook  = 20 * time.Millisecond
)

// Do carries out a call.
func (h queueCaller) Do(ctx context.Context, c *model.Call) (model.Result, error) {
	at := h.o.Space
	switch c.Action {
	case model.ActOffer:
		for _, e := range c.Entries {
			if err := h.queues.Offer(ctx, at, e.Val); err != nil {
				return model.Result{}, err
			}
		}
		return model.Result{Entries: int64(len(c.Entries))}, nil
	case model.ActPoll:
		_, ok, err := h.queues.Poll(ctx, at)
		return model.Found(1, ok), err
	case model.ActPeek:
		_, ok, err := h.queues.Peek(ctx, at)
		return model.Found(1, ok), err
	case model.ActTake:
		until := time.Now().Add(h.wait)
		for pause := firstLook; ; pause = min(2*pause, lastLook) {
			_, ok, err := h.queues.Poll(ctx, at)
			if ok || err != nil || time.Now().Add(pause).After(until) {
				return model.Found(1, ok), err
			}
			select {
			case <-ctx.Done():
				return model.Result{}, ctx.Err()
			case <-time.After(pause):
			}
		}
	}
	return model.Result{}, store.ErrUnsupported
}

// nearCaller reads through a near cache for one worker.
type nearCaller struct {
	near *coherence.Near
	o    *model.Op
	keys [][]byte
}

// Do carries out a call.
func (h *nearCaller) Do(ctx context.Context, c *model.Call) (model.Result, error) {
	if c.Action == model.ActGet {
		ok, err := h.near.Get(ctx, h.o.Space, c.Entries[0].Key)
		return model.Found(1, ok), err
	}
	h.keys = model.KeysInto(h.keys, c)
	n, err := h.near.GetAll(ctx, h.o.Space, h.keys)
	return model.Result{Entries: int64(n), Misses: int64(len(h.keys) - n)}, err
}

// Expires marks that expiry times are stored with the entries.
func (r *Adapter) Expires() bool { return true }

// NearFacts returns what the near caches did.
func (r *Adapter) NearFacts() *model.NearFacts {
	if r.near == nil {
		return nil
	}
	s := r.near.Stats()
	f := &model.NearFacts{Hits: s.Hits, Misses: s.Reads - s.Hits, HitNS: int64(s.Hit), MissNS: int64(s.Miss)}
	if s.Reads > 0 {
		f.HitRate = float64(s.Hits) / float64(s.Reads)
	}
	if s.Hit > 0 && s.Miss > 0 {
		mean := f.HitRate*float64(s.Hit) + (1-f.HitRate)*float64(s.Miss)
		f.Improvement = float64(s.Miss) / mean
	}
	return f
}

// Says describes what the near caches did.
func (r *Adapter) Says() string {
	if f := r.NearFacts(); f != nil {
		return f.Says()
	}
	return ""
}
