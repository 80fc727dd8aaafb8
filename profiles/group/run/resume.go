package run

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// askRows is approximately how many rows are queried at once.
const askRows = 1000

// resumption finds out what an earlier run has done, for one with resume=on.
type resumption struct {
	w      *work
	finder model.Finder
}

// resume marks the invocations whose rows all exist, so that a load that was cut short
// continues where it stopped.
func (w *work) resume(ctx context.Context, progress func(done, total int64)) error {
	f, ok := w.layer.(model.Finder)
	if !w.s.Resume || !ok {
		return nil
	}
	x := &resumption{w, f}
	var done, total int64
	for _, st := range w.structures.all {
		if st.made && st.seed != "" && st.seed != fmt.Sprint(w.s.Seed) {
			return fault.Input(fmt.Errorf("resume=on: %s was filled with seed %s, this run has %d", model.KeyOf(st.space), st.seed, w.s.Seed), "--seed "+st.seed)
		}
	}
	for _, r := range w.runs {
		total += r.g.Invocations()
	}
	for _, r := range w.runs {
		if !r.g.Resumable() {
			continue
		}
		r.done = make([][]uint64, len(r.g.Shares))
		for share, n := range r.g.Shares {
			r.done[share] = make([]uint64, (n+63)/64)
			for off := int64(0); off < n; {
				next, err := x.seek(ctx, r, share, off)
				if err != nil {
					return err
				}
				done += next - off
				off = next
				progress(done, total)
			}
		}
	}
	return nil
}

// rows maps, for each operation, the ids of rows to the invocations that they belong
// to.
type rows map[*model.Op]map[string]int64

// seek looks for the rows of the invocations of a share from off on, and returns the
// first one that it did not look at.
func (x *resumption) seek(ctx context.Context, r *groupRun, share int, off int64) (int64, error) {
	want, n, from := rows{}, 0, off
	for ; off < r.g.Shares[share] && n < askRows; off++ {
		for _, o := range r.g.Ops {
			for _, number := range o.Numbers(r.g, share, off) {
				n += x.rowsOf(o, number, off, want)
			}
		}
	}
	missing := map[int64]bool{}
	for o, ids := range want {
		list := make([]string, 0, len(ids))
		for id := range ids {
			list = append(list, id)
		}
		there, err := x.finder.Present(ctx, o, list)
		if err != nil {
			return off, err
		}
		for id, owner := range ids {
			if !there[id] {
				missing[owner] = true
			}
		}
	}
	for i := from; i < off; i++ {
		if !missing[i] {
			r.done[share][i/64] |= 1 << (i % 64)
			r.found.Add(1)
		}
	}
	return off, nil
}

// rowsOf adds the row with a number and those of its children, and counts them.
func (x *resumption) rowsOf(o *model.Op, n, owner int64, to rows) int {
	if to[o] == nil {
		to[o] = map[string]int64{}
	}
	to[o][o.Factory.ID(n)] = owner
	if o.Children == nil || o.Children.Child.Action == model.ActSleep {
		return 1
	}
	nth, sum := n, 1
	if o.Parent == nil {
		nth = n - o.Start + 1
	}
	for i := range o.Children.Count(x.w.s.Seed, o.Name, n) {
		sum += x.rowsOf(o.Children.Child, nth*o.Children.Most+1+i, owner, to)
	}
	return sum
}

// skip reports whether an earlier run has done an invocation; in that case it advances
// over the batches of its share without writing them.
func (r *groupRun) skip(p padogrid.Piece) bool {
	if r.done == nil || r.done[p.Share][p.Off/64]&(1<<(p.Off%64)) == 0 {
		return false
	}
	for i, o := range r.g.Ops {
		if !o.Action.Bulk() {
			continue
		}
		cur := &r.bulk[i][p.Share]
		if p.Off == 0 {
			cur.Store(0)
		}
		_, n := o.Slice(r.g, p.Share)
		cur.Add(min(int64(o.Batch), n))
	}
	return true
}
