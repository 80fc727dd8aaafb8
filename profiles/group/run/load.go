package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// loaders is how many goroutines load; loadBatch is how many entries one of their calls
// carries at most.
const (
	loaders   = 4
	loadBatch = 500
)

// loading is what is done before the groups begin: structures that are read are loaded, and receivers
// listen.
type loading struct {
	w *work
	g *grounds
}

// Setup loads what is read but does not exist, and makes receivers listen.
func (x *loading) Setup(ctx context.Context, progress func(done, total int64)) error {
	if err := x.g.resize(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if r, ok := x.w.layer.(model.Preparer); ok {
		if err := r.Prepare(ctx, x.g.claim); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if err := x.w.resume(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if err := x.loadAll(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	for i := range x.w.s.Steps {
		for _, l := range x.w.s.Topics(i) {
			if x.w.s.Load == model.LoadOnly {
				continue
			}
			if _, err := x.w.topics.of(l.Op).receiver(ctx, x.w.s.Subscribers-1); err != nil {
				return fault.Code(err, fault.CodeStore)
			}
		}
	}
	return nil
}

// Succeed takes the structures for such as a process has loaded in whose place this one is, and
// whose places are claimed as it found them.
func (x *loading) Succeed(ctx context.Context, _ workload.Predecessor) error {
	if r, ok := x.w.layer.(model.Preparer); ok {
		if err := r.Prepare(ctx, x.g.claim); err != nil {
			return err
		}
	}
	for _, st := range x.w.structures.all {
		if x.w.loads(st) {
			if err := x.g.record(ctx, st, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// loads reports whether a structure is to be loaded before the run: it is read, no
// group writes it, and it does not exist.
func (w *work) loads(st *stock) bool {
	switch {
	case w.s.Load == model.LoadNever, st.op.Kind.Topic():
		return false
	case w.s.Load == model.LoadAuto && (st.writes || !st.half && st.filled):
		return false
	}
	for _, o := range w.s.Order {
		if o.Space == st.space && o.Action.Reads() {
			return true
		}
	}
	return false
}

// reading is a range of keys that an operation reads.
type reading struct {
	o     *model.Op
	first int64
	n     int64
}

// readings returns what must exist for the operations on a structure to find everything
// that they request: of several ranges with the same keys, the longest.
func (x *loading) readings(st *stock) []reading {
	var out []reading
next:
	for _, o := range x.w.s.Order {
		if o.Space != st.space || !o.Action.Reads() {
			continue
		}
		r := reading{o, o.Start, o.Total}
		if o.Factory != nil && o.Action == model.ActGetAll && !o.StartAdd {
			r.first = 0
		}
		for i, other := range out {
			if !o.Kind.Keyed() || other.o.Form() == o.Form() {
				last := max(other.first+other.n, r.first+r.n)
				out[i].first = min(other.first, r.first)
				out[i].n = last - out[i].first
				continue next
			}
		}
		out = append(out, r)
	}
	return out
}

// loadAll loads every structure that needs it.
func (x *loading) loadAll(ctx context.Context, progress func(done, total int64)) error {
	var todo []reading
	var total int64
	for _, st := range x.w.structures.all {
		if !x.w.loads(st) {
			continue
		}
		for _, r := range x.readings(st) {
			todo = append(todo, r)
			total += r.n
		}
	}
	var done atomic.Int64
	for _, r := range todo {
		st := x.w.structures.at[r.o.Space]
		if st.half && !r.o.Kind.Keyed() { // existing elements are not added again
			there := min(st.before, r.n)
			r.first, r.n = r.first+there, r.n-there
		}
		if err := x.loadOne(ctx, r, func(n int64) { progress(done.Add(n), total) }); err != nil {
			return fmt.Errorf("load %s: %w", model.KeyOf(r.o.Space), err)
		}
		st.loaded += r.n
		if !st.writes && !st.removes {
			continue // what is only read is not compared
		}
		n, err := x.w.layer.Size(ctx, r.o)
		if err != nil {
			return fmt.Errorf("count %s: %w", model.KeyOf(r.o.Space), err)
		}
		st.before = max(n, 0)
	}
	for _, r := range todo {
		if st := x.w.structures.at[r.o.Space]; st.loaded > 0 || st.half {
			if err := x.g.record(ctx, st, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadOne writes one range of keys with several goroutines.
func (x *loading) loadOne(ctx context.Context, r reading, progress func(n int64)) error {
	w := *r.o
	w.Action, w.Children = model.ActPutAll, nil
	if w.Kind != model.KindMap && w.Kind != model.KindCache && !w.Kind.Many() {
		w.Action = model.ActAddAll
	}
	batch := int64(max(min(loadBatch, (4<<20)/max(w.Payload, 1)), 1))
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for i := range loaders {
		group.Go(func() error {
			h, err := x.w.layer.Caller(&w)
			if err != nil {
				return err
			}
			k := &task{w: x.w, rnd: rand.New(rand.NewPCG(uint64(x.w.s.Seed), uint64(i)))}
			c := model.Call{Op: &w, Action: w.Action, Payload: w.Payload}
			for {
				from := next.Add(batch) - batch
				if from >= r.n {
					return nil
				}
				n := min(batch, r.n-from)
				k.reset(&c)
				if err := x.lacking(ctx, k, &c, r.first+from, n); err != nil {
					return err
				}
				if len(c.Entries) > 0 {
					if _, err := h.Do(ctx, &c); err != nil {
						return err
					}
				}
				progress(n)
			}
		})
	}
	return group.Wait()
}

// lacking adds the next n numbers to a call that loads: for a table whose load was cut
// short, only those whose rows are missing.
func (x *loading) lacking(ctx context.Context, k *task, c *model.Call, first, n int64) error {
	var there map[string]bool
	f, ok := x.w.layer.(model.Finder)
	if ok && c.Op.Table && x.w.structures.at[c.Op.Space].half {
		ids := make([]string, n)
		for j := range n {
			ids[j] = c.Op.Factory.ID(first + j)
		}
		var err error
		if there, err = f.Present(ctx, c.Op, ids); err != nil {
			return err
		}
	}
	for j := range n {
		if there == nil || !there[c.Op.Factory.ID(first+j)] {
			k.add(c, first+j, "", nil)
		}
	}
	return nil
}
