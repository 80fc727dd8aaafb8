package ingestion

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// writer is what a store must be able to do; each layout and test case needs one
// of its methods.
type writer struct {
	put     store.Putter
	putAll  store.BatchPutter
	grouped store.GroupPutter
}

// task is one loader. It belongs to its worker.
type task struct {
	l      *load
	w      writer
	worker int
	tally  *tally
	timer  *time.Timer

	help    int // where to look first for work of others
	entries []store.Entry
	groups  []store.Group

	gen              *generator
	val              []byte
	valShare, valRun uint32

	// The loop under way: from its start, under which settings, and the time of
	// loops before it.
	looping   bool
	loopStart int64
	loopEnd   int64
	before    int64
	settings  *workload.Settings
	epoch     int64 // wall clock at 0 of the measured part

	pausing bool
	until   int64
}

func newTask(l *load, w writer, worker int) *task {
	return &task{l: l, w: w, worker: worker, tally: l.tally(worker), gen: newGenerator(l.s.seed, l.m.name), help: worker % len(l.cursors)}
}

// slice is how long a loader in closed loop sleeps at once between runs, so that
// it hears of the end of the run.
const slice = 50 * time.Millisecond

// Do writes one entry or one batch.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.pausing {
		if k.pause(ctx, it, slice); k.pausing {
			return nil
		}
	}
	if it.Settings.Threads != k.l.m.start.Threads && !it.Warmup && !k.l.changed.Load() {
		k.l.changed.Store(true)
	}
	p, ok := k.next(it)
	if !ok {
		return workload.ErrDone
	}
	k.value(p, it)
	if !it.Warmup {
		k.enter(it)
		k.tally.attempted.Add(p.n)
	}
	k.keys(p)
	m := it.Begin(0)
	err := it.End(m, int(p.n), k.write(ctx))
	if !it.Warmup {
		k.leave(ctx, it, p, err)
	}
	return err
}

// next finds work: a piece of the worker's own share, or else, in open loop and
// once threads have changed, of another's.
func (k *task) next(it *workload.Iteration) (piece, bool) {
	l, runs, cursors := k.l, k.l.s.runs(), k.l.cursors
	if it.Warmup {
		runs, cursors = forever, l.warm
	}
	want := int64(l.m.units(it.Settings))
	n := len(cursors)
	if k.worker < n {
		if p, ok := cursors[k.worker].claim(k.worker, l.m.shares[k.worker].Entries, runs, want); ok {
			return p, true
		}
	}
	if !it.Warmup && it.Settings.Rate == 0 && !l.changed.Load() {
		return piece{}, false
	}
	for range n {
		if p, ok := cursors[k.help].claim(k.help, l.m.shares[k.help].Entries, runs, want); ok {
			return p, true
		}
		k.help = (k.help + 1) % n
	}
	return piece{}, false
}

// value makes the value of a piece unless it has it. As in the original, that is
// part neither of the operation nor of the loop around it.
func (k *task) value(p piece, it *workload.Iteration) {
	share, run := uint32(p.share), uint32(p.run)
	if it.Warmup {
		run |= warmupRun
	}
	if k.val == nil || k.valShare != share || k.valRun != run || len(k.val) != it.Settings.Payload {
		k.val = k.gen.fill(k.val, share, run, it.Settings.Payload)
		if k.val == nil {
			k.val = []byte{}
		}
		k.valShare, k.valRun = share, run
		k.l.noteSize(len(k.val))
	}
}

// keys makes the entries of a piece. As in the original, that is part of the loop
// and not of the operation.
func (k *task) keys(p piece) {
	k.grow(int(p.n))
	sh := &k.l.m.shares[p.share]
	if k.l.s.grouped {
		k.groupKeys(sh, p)
		return
	}
	prefix := k.l.s.prefix
	for i := range k.entries {
		e := &k.entries[i]
		e.Key, e.Val = appendKey(e.Key[:0], k.l.m, sh, prefix, p.off+int64(i)), k.val
	}
}

// appendKey appends the key of a share's entry in the layout of one structure a map.
func appendKey(dst []byte, m *mapSpec, sh *padogrid.Share, prefix string, i int64) []byte {
	if m.elig {
		return sh.Elig(i).AppendText(dst, prefix)
	}
	return padogrid.AppendGroup(dst, prefix, sh.Profile(i))
}

// appendGroup appends the name of the group and its key within it, in the layout
// of one structure a group.
func appendGroup(group, key []byte, m *mapSpec, sh *padogrid.Share, prefix string, i int64) (g, k []byte) {
	if m.elig {
		e := sh.Elig(i)
		return padogrid.AppendGroup(group, prefix, e.Group), e.AppendMember(key)
	}
	n := sh.Profile(i)
	return padogrid.AppendGroup(group, prefix, n), padogrid.AppendGroup(key, prefix, n)
}

// groupKeys fills entries and groups; pieces begin with a group.
func (k *task) groupKeys(sh *padogrid.Share, p piece) {
	used := 0
	for i := int64(0); i < p.n; used++ {
		if used == len(k.groups) {
			k.groups = append(k.groups, store.Group{})
		}
		g := &k.groups[used]
		g.Name = g.Name[:0]
		from := i
		for ; i < p.n && i < from+sh.Size; i++ {
			e := &k.entries[i]
			g.Name, e.Key = appendGroup(g.Name[:0], e.Key[:0], k.l.m, sh, k.l.s.prefix, p.off+i)
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

// write hands the prepared entries to the store.
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

// enter begins a loop unless one is under way. A change of settings ends the one
// before, so that time spent parked or paused is not taken for loop time. In open
// loop the first loop of every worker begins with the map's first operation:
// waiting for work to be due is part of it.
func (k *task) enter(it *workload.Iteration) {
	if k.looping && k.settings == it.Settings {
		return
	}
	now := it.Now()
	if k.looping {
		k.before += k.loopEnd - k.loopStart
	}
	k.looping, k.loopStart, k.loopEnd, k.settings = true, now, now, it.Settings
	if k.epoch != 0 {
		return
	}
	k.epoch = wall(now)
	k.tally.began.Store(k.epoch + now)
	k.l.first.CompareAndSwap(-1, now)
	if it.Settings.Rate > 0 {
		k.loopStart = min(k.l.first.Load(), now)
	}
}

// leave notes what became of a piece, and pauses after a run of the share.
func (k *task) leave(ctx context.Context, it *workload.Iteration, p piece, err error) {
	k.loopEnd = it.Now()
	if err == nil {
		k.l.acked.set(p.share, p.off, p.n)
		k.tally.acked.Add(p.n)
	} else {
		k.tally.failed.Add(p.n)
	}
	k.tally.busy.Store(k.before + k.loopEnd - k.loopStart)
	k.tally.left.Store(k.epoch + k.loopEnd)
	if !p.lastOne || it.Settings.Rate > 0 && k.l.s.interval == 0 {
		return
	}
	k.before += k.loopEnd - k.loopStart
	k.looping = false
	if k.l.s.interval == 0 {
		return
	}
	k.pausing, k.until = true, k.loopEnd+int64(k.l.s.interval)
	if it.Settings.Rate > 0 {
		k.pause(ctx, it, k.l.s.interval) // each return costs an open loop one of its due times
	}
}

// pause sleeps until the pause between runs is over, but no longer than most.
func (k *task) pause(ctx context.Context, it *workload.Iteration, most time.Duration) {
	rest := time.Duration(k.until - it.Now())
	if rest > 0 {
		if k.timer == nil {
			k.timer = time.NewTimer(min(rest, most))
		} else {
			k.timer.Reset(min(rest, most))
		}
		select {
		case <-k.timer.C:
		case <-ctx.Done():
			k.timer.Stop()
			k.pausing = false
			return
		}
	}
	now := it.Now()
	k.tally.left.Store(k.epoch + now)
	k.pausing = now < k.until
}
