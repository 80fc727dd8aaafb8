package group

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/units"
)

// coherenceRoom has what Oracle's Go client has: maps, caches with expiry and
// queues; reads through near caches if asked.
type coherenceRoom struct {
	*mapRoom
	c    *coherence.Conn
	near *coherence.Near
}

func newCoherenceRoom(ctx context.Context, s *spec, c *coherence.Conn) (engineRoom, error) {
	r := &coherenceRoom{mapRoom: newMapRoom(s, c), c: c}
	if !s.near {
		return r, nil
	}
	var spaces []store.Space
	seen := map[store.Space]bool{}
	for _, o := range s.order {
		if keepsNear(o) && !seen[o.space] {
			seen[o.space] = true
			spaces = append(spaces, o.space)
		}
	}
	if len(spaces) == 0 {
		return nil, fault.Input(errors.New("nearCache: no operation reads a map or an mcache"), "it takes get or getall of these")
	}
	var err error
	if r.near, err = c.OpenNear(ctx, spaces); err != nil {
		return nil, err
	}
	return r, nil
}

// keepsNear says whether the reads of an operation go through a near cache.
func keepsNear(o *opSpec) bool {
	return (o.act == actGet || o.act == actGetAll) && !o.direct && !o.space.Grouped && (o.kind == kindMap || o.kind == kindCache)
}

func (r *coherenceRoom) close() error {
	if r.near != nil {
		return r.near.Close()
	}
	return nil
}

func (r *coherenceRoom) hand(o *opSpec) (hand, error) {
	switch {
	case o.kind.topic():
		return nil, fault.Hint(errors.New("there are no topics in Oracle's Go client for Coherence (v2.3.1)"), "a queue hands each message to one reader; redis:// has topics")
	case o.act == actQuery:
		return nil, fault.Hint(errors.New("query: Coherence is asked by key only here"), "query runs on mysql://, postgres:// and sqlite:")
	case r.near != nil && keepsNear(o):
		return &nearHandOf{near: r.near, o: o}, nil
	case o.kind == kindQueue:
		return queueHand{r.c, o, r.s.takeWait}, nil
	case o.kind == kindCache, o.kind == kindMap && o.act == actRemove:
		return &cacheHand{c: r.c, o: o}, nil
	case o.kind == kindMap:
		return r.mapRoom.hand(o)
	}
	return nil, fault.Hint(fmt.Errorf("there is no %s on Coherence", o.kind), "it has maps, mcaches and queues; redis:// has every structure")
}

func (r *coherenceRoom) size(ctx context.Context, o *opSpec) (int64, error) {
	if o.kind == kindQueue {
		return r.c.QueueSize(ctx, o.space)
	}
	return r.c.Count(ctx, o.space)
}

// cacheHand does the calls on a cache whose entries expire for one worker.
type cacheHand struct {
	c    *coherence.Conn
	o    *opSpec
	keys [][]byte
}

func (h *cacheHand) do(ctx context.Context, c *call) (result, error) {
	n := result{entries: int64(len(c.entries))}
	switch c.act {
	case actPut:
		return n, h.c.PutExpiring(ctx, h.o.space, c.entries[0].Key, c.entries[0].Val, h.o.ttl)
	case actSet, actPutAll:
		return n, h.c.PutAllExpiring(ctx, h.o.space, c.entries, h.o.ttl)
	case actGet, actGetAll:
		h.keys = keysInto(h.keys, c)
		vals, err := h.c.GetAll(ctx, h.o.space, h.keys)
		if len(vals) == 1 {
			c.got = vals[0]
		}
		return hits(vals), err
	case actRemove:
		there, err := h.c.Remove(ctx, h.o.space, c.entries[0].Key)
		return found(1, there), err
	}
	return result{}, store.ErrUnsupported
}

// queueHand does the calls on a queue.
type queueHand struct {
	c    *coherence.Conn
	o    *opSpec
	wait time.Duration
}

// The pauses between two looks of a take at an empty queue: the client has no call
// that waits.
const (
	firstLook = time.Millisecond
	lastLook  = 20 * time.Millisecond
)

func (h queueHand) do(ctx context.Context, c *call) (result, error) {
	at := h.o.space
	switch c.act {
	case actOffer:
		for _, e := range c.entries {
			if err := h.c.Offer(ctx, at, e.Val); err != nil {
				return result{}, err
			}
		}
		return result{entries: int64(len(c.entries))}, nil
	case actPoll:
		_, ok, err := h.c.Poll(ctx, at)
		return found(1, ok), err
	case actPeek:
		_, ok, err := h.c.Peek(ctx, at)
		return found(1, ok), err
	case actTake:
		until := time.Now().Add(h.wait)
		for pause := firstLook; ; pause = min(2*pause, lastLook) {
			_, ok, err := h.c.Poll(ctx, at)
			if ok || err != nil || time.Now().Add(pause).After(until) {
				return found(1, ok), err
			}
			select {
			case <-ctx.Done():
				return result{}, ctx.Err()
			case <-time.After(pause):
			}
		}
	}
	return result{}, store.ErrUnsupported
}

// nearHandOf reads through a near cache for one worker.
type nearHandOf struct {
	near *coherence.Near
	o    *opSpec
	keys [][]byte
}

func (h *nearHandOf) do(ctx context.Context, c *call) (result, error) {
	if c.act == actGet {
		ok, err := h.near.Get(ctx, h.o.space, c.entries[0].Key)
		return found(1, ok), err
	}
	h.keys = keysInto(h.keys, c)
	n, err := h.near.GetAll(ctx, h.o.space, h.keys)
	return result{entries: int64(n), misses: int64(len(h.keys) - n)}, err
}

// expires says that the times at which entries expire are kept with them.
func (r *coherenceRoom) expires() {}

// nearFacts tells what the near caches did.
func (r *coherenceRoom) nearFacts() *NearFacts {
	if r.near == nil {
		return nil
	}
	s := r.near.Stats()
	f := &NearFacts{Hits: s.Hits, Misses: s.Reads - s.Hits, HitNS: int64(s.Hit), MissNS: int64(s.Miss)}
	if s.Reads > 0 {
		f.HitRate = float64(s.Hits) / float64(s.Reads)
	}
	if s.Hit > 0 && s.Miss > 0 {
		mean := f.HitRate*float64(s.Hit) + (1-f.HitRate)*float64(s.Miss)
		f.Improvement = float64(s.Miss) / mean
	}
	return f
}

// says tells people what the near caches did.
func (r *coherenceRoom) says() string {
	if f := r.nearFacts(); f != nil {
		return sentence(f)
	}
	return ""
}

// sentence says it to people.
func sentence(f *NearFacts) string {
	if f.Hits+f.Misses == 0 {
		return "near cache: nothing was read through it"
	}
	s := fmt.Sprintf("near cache: %.1f %% of %d reads came from memory", 100*f.HitRate, f.Hits+f.Misses)
	if f.Improvement > 0 {
		s += fmt.Sprintf(", in %s each instead of %s: reads took 1/%.1f of their time", units.Duration(time.Duration(f.HitNS)), units.Duration(time.Duration(f.MissNS)), f.Improvement)
	}
	return s
}
