package eventstore

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// sampleSize is how many rows are remembered for queries.
const sampleSize = 4096

// reservoir remembers a uniform sample of the rows stored, and the time range of all
// rows.
type reservoir struct {
	mu          sync.Mutex
	d           generate.Dice
	seen        int64
	rows        []row
	first, last int64
	longest     int64
}

// row is a row that was stored.
type row struct {
	model.Key
	parent string // as in [model.Record]
}

func rowOf(r *model.Record) row {
	return row{model.Key{Start: r.Start, ID: string(r.ID)}, string(r.Parent)}
}

func newReservoir(seed int64) *reservoir { return &reservoir{d: generate.Dice(seed) ^ 0x5EED} }

func (r *reservoir) add(rec *model.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n, _ := model.PartOf(rec.ID); n > 0 { // cannot be queried individually
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
	if len(r.rows) < sampleSize {
		r.rows = append(r.rows, rowOf(rec))
	} else if i := int64(r.d.Next() % uint64(r.seen)); i < sampleSize {
		r.rows[i] = rowOf(rec)
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

// spanDelta are the starts of what was stored.
type spanDelta struct {
	First, Last int64 `told:"time"`
}

// Delta returns the starts of what was stored.
func (r *reservoir) Delta() spanDelta {
	first, last, _ := r.span()
	return spanDelta{first, last}
}

// Merge extends the time range to what another process has stored.
func (r *reservoir) Merge(_ workload.Process, t spanDelta) bool {
	r.reach(t.First, t.Last)
	return true
}

// pick returns a row, false if none has been stored.
func (r *reservoir) pick(n uint64) (row, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) == 0 {
		return row{}, false
	}
	return r.rows[n%uint64(len(r.rows))], true
}

// parent returns the parent of row n or of the next one that has any; empty if none has.
func (r *reservoir) parent(n uint64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := uint64(len(r.rows))
	for i := range all {
		if w := r.rows[(n+i)%all]; w.parent != "" {
			return w.parent
		}
	}
	return ""
}

// span returns between which starts all rows lie, and how long the longest batch is.
func (r *reservoir) span() (first, last, longest int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first, r.last, r.longest
}

// queries are those of the phase after the load, of which there are so many, and those beside it,
// which end with it.
type queries struct {
	b       *binding
	sample  *reservoir
	asked   atomic.Int64 // in the phase after the load
	filling sync.Mutex   // the sample, with what others have stored
}

func newQueries(b *binding) *queries { return &queries{b: b, sample: newReservoir(b.s.Seed)} }

// queryTask queries events in three ways in turn: by time range, by id, by parent.
type queryTask struct {
	q     *queries
	after bool // the load, and not beside it
	d     generate.Dice
	turn  int
	buf   model.Opener
}

func (q *queries) task(track string, worker int) *queryTask {
	return &queryTask{q: q, after: track == trackQuery, d: generate.Dice(q.b.s.Seed) ^ generate.Dice(worker+1)<<20, turn: worker, buf: model.Opener{Traits: q.b.tr}}
}

// ended reports whether there is no other query to make.
func (q *queries) ended(after bool) bool {
	if after {
		return q.b.drain.gaveUp.Load() || q.asked.Add(1) > int64(q.b.s.query.count)
	}
	return q.b.quota.over()
}

// Do makes one query.
func (k *queryTask) Do(ctx context.Context, it *workload.Iteration) error {
	if k.q.ended(k.after) {
		return workload.ErrDone
	}
	if _, ok := k.q.sample.pick(0); !ok && !k.after {
		select { // nothing is there yet
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
		return nil
	}
	if err := k.q.fill(ctx); err != nil {
		return err
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

// fill makes sure that there are rows to choose from: who goes on with the part of another, and
// has stored none, takes those of others. It returns ErrDone if there are none.
func (q *queries) fill(ctx context.Context) error {
	if _, ok := q.sample.pick(0); ok {
		return nil
	}
	q.filling.Lock()
	defer q.filling.Unlock()
	if q.b.s.load.stake.Again > 0 {
		n := 0
		err := q.b.l.Scan(ctx, q.b.s.Born-int64(time.Minute), q.b.clock.wall(), func(r *model.Record) error { // clocks run apart
			if q.sample.add(r); n >= sampleSize {
				return model.ErrEnough
			}
			n++
			return nil
		})
		if err != nil {
			return fmt.Errorf("query: find rows to ask for: %w", err)
		}
	}
	if _, ok := q.sample.pick(0); !ok {
		return workload.ErrDone
	}
	return nil
}

// byRange reads the events of a time range that begins where a row does: between bursts
// there may be nothing for long, and a range in which there is nothing tests nothing.
func (k *queryTask) byRange(ctx context.Context) (n int, err error) {
	_, _, longest := k.q.sample.span()
	width := int64(k.q.b.s.query.width)
	begin, _ := k.q.sample.pick(k.d.Next())
	from := begin.Start
	// A batch is found by its earliest event, so one that began earlier may extend into
	// the range.
	err = k.q.b.l.Scan(ctx, from-longest, from+width-1, func(w *model.Record) error {
		es, err := k.buf.Events(w)
		if err != nil {
			return err
		}
		for i := range es {
			if at := es[i].ID.Start.NS(); at >= from && at < from+width {
				if n++; n >= k.q.b.s.query.limit {
					return model.ErrEnough
				}
			}
		}
		return nil
	})
	return n, err
}

// byID reads one event: its batch is found by key, and the event in the batch by id.
func (k *queryTask) byID(ctx context.Context) (int, error) {
	at, _ := k.q.sample.pick(k.d.Next())
	found := false
	err := k.q.b.l.Get(ctx, at.Key, func(w *model.Record) error {
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
	if err == nil && !found && !k.q.b.tr.Forgets {
		return 0, fmt.Errorf("query: batch %s is not there: %w", at.ID, errMissing)
	}
	return 1, err
}

// errMissing is wrapped by errors about rows that were stored but are not found.
var errMissing = fmt.Errorf("an event: %w", store.ErrLost)

// byParent reads the events right below an event that has some.
func (k *queryTask) byParent(ctx context.Context) (n int, err error) {
	parent := k.q.sample.parent(k.d.Next())
	start, _, ok := wire.SplitFullID(parent)
	if !ok {
		return 0, nil // there are only roots
	}
	_, last, _ := k.q.sample.span()
	err = k.q.b.l.Children(ctx, []byte(parent), start, last, func(w *model.Record) error {
		es, err := k.buf.Events(w)
		if err != nil {
			return err
		}
		if n += len(es); n >= k.q.b.s.query.limit {
			n = k.q.b.s.query.limit
			return model.ErrEnough
		}
		return nil
	})
	return n, err
}
