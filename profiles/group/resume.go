package group

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// askRows is how many rows are asked for at once.
const askRows = 1000

// resumable says whether what a group did can be told from what is stored: when it
// writes rows of tables and nothing else.
func (g *groupSpec) resumable() bool {
	for _, o := range g.ops {
		for _, m := range o.family() {
			if m.act != actSleep && (!m.table || !m.act.writes() && m.parent == nil) {
				return false
			}
		}
	}
	return true
}

// checkResume refuses what cannot be resumed, and names groups that are done anew.
func (b *builder) checkResume() {
	s := b.s
	if !s.resume {
		return
	}
	switch {
	case s.compat:
		b.Blame("resume", "leave one of them out", "resume=on: with compat=on the number of children comes from a generator that all threads share, so that it cannot be told what an earlier run has done")
	case s.wrap:
		b.Blame("resume", "give --count, or let the file's counts end the run", "resume=on: a run that only --duration ends writes its keys again and again")
	}
	some := false
	for _, g := range s.groups {
		if g.resumable() {
			some = true
		} else {
			b.Warn("%s: resume=on has no effect on group %s, which does more than write rows of tables", g.where, g.name)
		}
	}
	if !some {
		b.Blame("resume", "aim at mysql://, postgres:// or sqlite: with operations that have a factory", "resume=on: no group only writes rows of tables")
	}
}

// finder tells which rows of a table are there.
type finder interface {
	present(ctx context.Context, o *opSpec, ids []string) (map[string]bool, error)
}

// present asks for the rows of so many ids.
func (r *sqlRoom) present(ctx context.Context, o *opSpec, ids []string) (map[string]bool, error) {
	t, id := r.textsOf(o), r.id(o)
	out := make(map[string]bool, len(ids))
	for part := range slices.Chunk(ids, askRows) {
		args := make([]any, len(part))
		for i, v := range part {
			args[i] = v
		}
		rows, err := r.db.SQL().QueryContext(ctx, "SELECT "+t.Quote(id)+" FROM "+t.table+" WHERE "+t.Quote(id)+" IN "+t.Rows(1, len(args)), args...)
		if err != nil {
			return nil, fmt.Errorf("look for rows of %s: %w", t.name, err)
		}
		if err := gather(rows, out); err != nil {
			return nil, fmt.Errorf("look for rows of %s: %w", t.name, err)
		}
	}
	return out, nil
}

func gather(rows *sql.Rows, to map[string]bool) error {
	defer rows.Close() // closing twice is nothing; what went wrong Err tells
	var id string
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return err
		}
		to[id] = true
	}
	return rows.Err()
}

// resume marks the invocations all of whose rows are there, so that a load that was
// cut short goes on where it stood.
func (b *binding) resume(ctx context.Context, progress func(done, total int64)) error {
	f, ok := b.room.(finder)
	if !b.s.resume || !ok {
		return nil
	}
	var done, total int64
	for _, st := range b.inOrder() {
		if st.made && st.seed != "" && st.seed != fmt.Sprint(b.s.seed) {
			return fault.Input(fmt.Errorf("resume=on: %s was filled with seed %s, this run has %d", keyOf(st.space), st.seed, b.s.seed), "--seed "+st.seed)
		}
	}
	for _, r := range b.runs {
		total += r.g.invocations()
	}
	for _, r := range b.runs {
		if !r.g.resumable() {
			continue
		}
		r.done = make([][]uint64, len(r.g.shares))
		for share, n := range r.g.shares {
			r.done[share] = make([]uint64, (n+63)/64)
			for off := int64(0); off < n; {
				next, err := b.seek(ctx, f, r, share, off)
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

// rows are those of some invocations: of each operation their ids, and whose they are.
type rows map[*opSpec]map[string]int64

// seek looks for the rows of the invocations of a share from off on, and returns the
// first one that it did not look at.
func (b *binding) seek(ctx context.Context, f finder, r *groupRun, share int, off int64) (int64, error) {
	want, n, from := rows{}, 0, off
	for ; off < r.g.shares[share] && n < askRows; off++ {
		for _, o := range r.g.ops {
			for _, number := range o.numbers(r.g, share, off) {
				n += b.rowsOf(o, number, off, want)
			}
		}
	}
	missing := map[int64]bool{}
	for o, ids := range want {
		list := make([]string, 0, len(ids))
		for id := range ids {
			list = append(list, id)
		}
		there, err := f.present(ctx, o, list)
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

// numbers are those that an operation writes in one invocation of a share.
func (o *opSpec) numbers(g *groupSpec, share int, off int64) []int64 {
	if o.act == actSleep {
		return nil
	}
	if !o.act.bulk() {
		return []int64{o.start + g.first[share] + off}
	}
	from, n := o.slice(g, share)
	batch := min(int64(o.batch), n)
	out := make([]int64, batch)
	for j := range batch {
		out[j] = o.start + from + (off*batch+j)%n
	}
	return out
}

// rowsOf adds the row of a number and those of its children, and counts them.
func (b *binding) rowsOf(o *opSpec, n, owner int64, to rows) int {
	if to[o] == nil {
		to[o] = map[string]int64{}
	}
	to[o][o.factory.id(n)] = owner
	if o.er == nil || o.er.child.act == actSleep {
		return 1
	}
	nth, sum := n, 1
	if o.parent == nil {
		nth = n - o.start + 1
	}
	for i := range o.er.count(b.s.seed, o.name, n) {
		sum += b.rowsOf(o.er.child, nth*o.er.most+1+i, owner, to)
	}
	return sum
}

// skip says whether an earlier run has done an invocation, and goes on with the
// batches of its share then without writing them.
func (r *groupRun) skip(p padogrid.Piece) bool {
	if r.done == nil || r.done[p.Share][p.Off/64]&(1<<(p.Off%64)) == 0 {
		return false
	}
	for i, o := range r.g.ops {
		if !o.act.bulk() {
			continue
		}
		cur := &r.bulk[i][p.Share]
		if p.Off == 0 {
			cur.Store(0)
		}
		_, n := o.slice(r.g, p.Share)
		cur.Add(min(int64(o.batch), n))
	}
	return true
}
