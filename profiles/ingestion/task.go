package ingestion

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// writer has the abilities of a store; each layout and test case needs one of them.
type writer struct {
	put     store.Putter
	putAll  store.BatchPutter
	grouped store.GroupPutter
}

// task is one loader. It belongs to its worker.
type task struct {
	l    *load
	conn store.Conn
	w    writer
	loop *padogrid.Loop[counts]

	entries []store.Entry
	groups  []store.Group

	gen              *generator
	val              []byte
	valShare, valRun uint32
}

func newTask(l *load, conn store.Conn, w writer, worker int) *task {
	return &task{l: l, conn: conn, w: w, loop: l.work.Loop(worker), gen: newGenerator(l.s.seed, l.m.name)}
}

// Do writes one entry or one batch.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.loop.Paused(ctx, it) {
		return nil
	}
	p, ok := k.loop.Next(it, int64(k.l.m.units(it.Settings)))
	if !ok {
		return workload.ErrDone
	}
	k.value(p, it)
	k.loop.Enter(it)
	if !it.Warmup {
		k.loop.Tally.Own.attempted.Add(p.N)
	}
	k.keys(p)
	m := it.Begin(0)
	err := it.End(m, int(p.N), k.write(ctx))
	if err == nil && !it.Warmup {
		k.l.acked.set(p.Share, p.Off, p.N)
	}
	if err != nil && k.conn.Classify(err).Unanswered(err) {
		k.loop.Tally.Own.unanswered.Add(p.N)
	}
	k.loop.Leave(ctx, it, p, err)
	return err
}

// value makes the value of a piece unless it exists already. As in the original, that
// is part of neither the operation nor the loop around it.
func (k *task) value(p padogrid.Piece, it *workload.Iteration) {
	share, run := uint32(p.Share), uint32(p.Run)
	if it.Warmup {
		run |= warmupRun
	}
	if k.val == nil || k.valShare != share || k.valRun != run || len(k.val) != it.Settings.Payload {
		k.val = k.gen.fill(k.val, share, run, it.Settings.Payload)
		if k.val == nil {
			k.val = []byte{}
		}
		k.valShare, k.valRun = share, run
		k.l.sizes.Note(len(k.val))
	}
}

// keys makes the entries of a piece. As in the original, that is part of the loop, but
// not of the operation.
func (k *task) keys(p padogrid.Piece) {
	k.grow(int(p.N))
	sh := &k.l.m.shares[p.Share]
	if k.l.s.grouped {
		k.groupKeys(sh, p)
		return
	}
	prefix := k.l.s.prefix
	for i := range k.entries {
		e := &k.entries[i]
		e.Key, e.Val = appendKey(e.Key[:0], k.l.m, sh, prefix, p.Off+int64(i)), k.val
	}
}

// appendKey appends the key of a share's entry, in the layout of one structure per map.
func appendKey(dst []byte, m *mapSpec, sh *padogrid.Share, prefix string, i int64) []byte {
	if m.elig {
		return sh.EligibilityKey(i).AppendText(dst, prefix)
	}
	return padogrid.AppendGroup(dst, prefix, sh.Profile(i))
}

// appendGroup appends the name of the group and the key within it, in the layout of one
// structure per group.
func appendGroup(group, key []byte, m *mapSpec, sh *padogrid.Share, prefix string, i int64) (g, k []byte) {
	if m.elig {
		e := sh.EligibilityKey(i)
		return padogrid.AppendGroup(group, prefix, e.Group), e.AppendMember(key)
	}
	n := sh.Profile(i)
	return padogrid.AppendGroup(group, prefix, n), padogrid.AppendGroup(key, prefix, n)
}

// groupKeys fills entries and groups; pieces begin with a group.
func (k *task) groupKeys(sh *padogrid.Share, p padogrid.Piece) {
	used := 0
	for i := int64(0); i < p.N; used++ {
		if used == len(k.groups) {
			k.groups = append(k.groups, store.Group{})
		}
		g := &k.groups[used]
		g.Name = g.Name[:0]
		from := i
		for ; i < p.N && i < from+sh.Size; i++ {
			e := &k.entries[i]
			g.Name, e.Key = appendGroup(g.Name[:0], e.Key[:0], k.l.m, sh, k.l.s.prefix, p.Off+i)
			e.Val = k.val
		}
		g.Entries = k.entries[from:i]
	}
	k.groups = k.groups[:used]
}

// grow makes entries n long, with buffers for their keys.
func (k *task) grow(n int) {
	if n <= cap(k.entries) {
		k.entries = k.entries[:n]
		k.groups = k.groups[:cap(k.groups)]
		return
	}
	room := len(k.l.s.prefix) + 64 // the longest key has three numbers of up to 20 digits
	slab := make([]byte, n*room)
	k.entries = make([]store.Entry, n)
	for i := range k.entries {
		k.entries[i].Key = slab[i*room : i*room : (i+1)*room]
	}
	k.groups = k.groups[:cap(k.groups)]
}

// write passes the prepared entries to the store.
func (k *task) write(ctx context.Context) error {
	l := k.l
	switch {
	case l.s.grouped && l.m.putAll:
		return k.w.grouped.PutGroups(ctx, l.space, k.groups)
	case l.s.grouped:
		return k.w.grouped.PutGroup(ctx, l.space, k.groups[0].Name, k.entries[0].Key, k.val)
	case l.m.putAll:
		return k.w.putAll.PutAll(ctx, l.space, k.entries)
	}
	return k.w.put.Put(ctx, l.space, k.entries[0].Key, k.val)
}
