package eventstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/dice"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/layer"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// sampleSize is how many rows are remembered for queries.
const sampleSize = 4096

// reservoir remembers a uniform sample of the rows stored, and the time range of all
// rows.
type reservoir struct {
	mu          sync.Mutex
	d           dice.Dice
	seen        int64
	keys        []layer.Key
	first, last int64
	longest     int64
}

func newReservoir(seed int64) *reservoir { return &reservoir{d: dice.Dice(seed) ^ 0x5EED} }

func (r *reservoir) add(rec *layer.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, _ := layer.PartOf(rec.ID); n > 0 { // cannot be queried individually
		r.first, r.last = min(r.first, rec.Start), max(r.last, rec.Start)
		if r.first == 0 {
			r.first = rec.Start
		}
		return
	}
	r.seen++
	if r.first == 0 || rec.Start < r.first {
		r.first = rec.Start
	}
	r.last = max(r.last, rec.Start)
	r.longest = max(r.longest, rec.Last-rec.Start)
	if len(r.keys) < sampleSize {
		r.keys = append(r.keys, layer.Key{Start: rec.Start, ID: string(rec.ID)})
	} else if i := int64(r.d.Next() % uint64(r.seen)); i < sampleSize {
		r.keys[i] = layer.Key{Start: rec.Start, ID: string(rec.ID)}
	}
}

// reach extends the time range to rows of others between two starts; 0: they have none.
func (r *reservoir) reach(first, last int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first > 0 && (r.first == 0 || first < r.first) {
		r.first = first
	}
	r.last = max(r.last, last)
}

// pick returns a row, false if none has been stored.
func (r *reservoir) pick(n uint64) (layer.Key, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.keys) == 0 {
		return layer.Key{}, false
	}
	return r.keys[n%uint64(len(r.keys))], true
}

// span returns between which starts all rows lie, and how long the longest batch is.
func (r *reservoir) span() (first, last, longest int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first, r.last, r.longest
}

// forest is what others may know of a generator's trees. It is never modified.
type forest struct {
	leaves []generate.Node
	next   int64 // the first event that is not part of a tree
}

// queryTask queries events in three ways in turn: by time range, by id, by parent.
type queryTask struct {
	b     *binding
	track string
	d     dice.Dice
	turn  int
	buf   layer.Opener
}

func newQueryTask(b *binding, track string, worker int) *queryTask {
	return &queryTask{b: b, track: track, d: dice.Dice(b.s.Seed) ^ dice.Dice(worker+1)<<20, turn: worker, buf: layer.Opener{Traits: b.tr}}
}

// ask counts a query of the phase after the load, and reports whether there is another.
func (b *binding) ask() bool { return b.asked.Add(1) <= int64(b.s.queries) }

// Do makes one query.
func (k *queryTask) Do(ctx context.Context, it *workload.Iteration) error {
	b := k.b
	if k.track == trackQuery && (b.gaveUp.Load() || !b.ask()) {
		return workload.ErrDone
	}
	if k.track == trackReaders && b.over() {
		return workload.ErrDone
	}
	if _, ok := b.sample.pick(0); !ok {
		if k.track == trackQuery {
			return workload.ErrDone
		}
		select { // nothing is there yet
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
		return nil
	}
	k.turn++
	m := it.Begin(workload.Op(k.turn % 3))
	var n int
	var err error
	switch k.turn % 3 {
	case 0:
		n, err = k.byRange(ctx)
	case 1:
		n, err = k.byID(ctx)
	default:
		n, err = k.byParent(ctx)
	}
	return it.End(m, n, err)
}

// over reports whether all events have been generated, in which case readers beside the
// load end.
func (b *binding) over() bool { return b.s.events > 0 && b.left.Load() <= 0 }

// byRange reads the events of a time range that lies within what has been stored.
func (k *queryTask) byRange(ctx context.Context) (n int, err error) {
	first, last, longest := k.b.sample.span()
	width := int64(k.b.s.queryRange)
	from := first
	if room := last - first - width; room > 0 {
		from += int64(k.d.Next() % uint64(room))
	}
	// A batch is found by its earliest event, so one that began earlier may extend into
	// the range.
	err = k.b.l.Scan(ctx, from-longest, from+width-1, func(w *layer.Record) error {
		es, err := k.buf.Events(w)
		if err != nil {
			return err
		}
		for i := range es {
			if at := es[i].ID.Start.NS(); at >= from && at < from+width {
				if n++; n >= k.b.s.queryLimit {
					return layer.ErrEnough
				}
			}
		}
		return nil
	})
	return n, err
}

// byID reads one event: its batch is found by key, and the event in the batch by id.
func (k *queryTask) byID(ctx context.Context) (int, error) {
	at, _ := k.b.sample.pick(k.d.Next())
	found := false
	err := k.b.l.Get(ctx, at, func(w *layer.Record) error {
		es, err := k.buf.Events(w)
		if err != nil || len(es) == 0 {
			return err
		}
		id := bytes.Clone(es[k.d.Below(len(es))].ID.ID)
		for i := range es {
			found = found || bytes.Equal(es[i].ID.ID, id)
		}
		return nil
	})
	if err == nil && !found && !k.b.tr.Forgets {
		return 0, fmt.Errorf("query: batch %s is not there: %w", at.ID, errMissing)
	}
	return 1, err
}

// errMissing is wrapped by errors about rows that were stored but are not found.
var errMissing = errors.New("an acknowledged event is missing")

// byParent reads the events below an event: its children, and their children if they
// are part of a tree.
func (k *queryTask) byParent(ctx context.Context) (n int, err error) {
	var f *forest
	var number int
	pick, i := k.d.Below(64), 0
	k.b.forest.Range(func(g, v any) bool {
		number, f = g.(int), v.(*forest)
		i++
		return i <= pick%max(k.b.s.start.Threads, 1)
	})
	if f == nil || len(f.leaves) == 0 {
		return 0, nil
	}
	_, last, _ := k.b.sample.span()
	below := []generate.Node{f.leaves[k.d.Below(len(f.leaves))]}
	var parent []byte
	for len(below) > 0 && n < k.b.s.queryLimit {
		at := below[0]
		below = below[1:]
		id := wire.EventID{ID: at.ID, Book: k.b.s.Book, Scope: k.b.s.Scope, Start: at.Start}
		parent = wire.AppendFullID(parent[:0], &id)
		err = k.b.l.Children(ctx, parent, at.Start.NS(), last, func(w *layer.Record) error {
			es, err := k.buf.Events(w)
			if err != nil {
				return err
			}
			for i := range es {
				if n++; n >= k.b.s.queryLimit {
					return layer.ErrEnough
				}
				if g, seq, ok := k.b.authors.Of(es[i].ID.ID); ok && g == number && seq < f.next {
					below = append(below, generate.Node{ID: bytes.Clone(es[i].ID.ID), Start: es[i].ID.Start})
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
