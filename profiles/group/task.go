package group

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// task is one caller of a group. It belongs to its worker.
type task struct {
	b      *binding
	r      *groupRun
	worker int
	tally  *tally
	timer  *time.Timer
	help   int // where to look first for work of others
	calls  []call
	hands  []hand // of the operations and their families, by the track's names
	rnd    *rand.Rand
	blob   []byte
	// makers make the objects that the file defines.
	makers map[*opSpec]*objects.Maker

	// The loop under way: from its start, under which settings, and the time of
	// loops before it.
	looping            bool
	loopStart, loopEnd int64
	before             int64
	settings           *workload.Settings
	epoch              int64 // wall clock at 0 of the measured part

	pausing bool
	until   int64
}

// call is what one operation of one invocation works with. It is kept for the next.
type call struct {
	o    *opSpec
	act  action
	warm bool
	// numbers, ids, tags and entries are of the same length: what is written or read.
	numbers []int64
	tags    [][]byte // where children lie with their parents
	entries []store.Entry
	objects []record
	// got and row are what the last get found: a value, or the struct of a row.
	got     []byte
	row     any
	payload int
	noted   int // payload last noted in the ledger
	led     *ledger
	stock   *stock
}

// result is what a call came to.
type result struct {
	// entries were written or found, misses were asked for and not there.
	entries, misses int64
}

// hand carries out the calls of one operation for one worker.
type hand interface {
	do(ctx context.Context, c *call) (result, error)
}

func newTask(b *binding, r *groupRun, worker int) (*task, error) {
	k := &task{b: b, r: r, worker: worker, tally: r.tally(worker), help: worker % len(r.cursors)}
	k.rnd = rand.New(rand.NewPCG(uint64(b.s.seed), uint64(worker)<<32|uint64(len(r.g.track))))
	k.calls = make([]call, len(r.g.ops))
	k.hands = make([]hand, len(r.g.names))
	for i, o := range r.g.ops {
		k.calls[i] = call{o: o, act: o.act}
	}
	for o, i := range r.g.index {
		if o.act == actSleep {
			continue
		}
		h, err := b.hand(o)
		if err != nil {
			return nil, err
		}
		k.hands[i] = h
	}
	return k, nil
}

// slice is how long a caller in closed loop sleeps at once between runs, so that
// it hears of the end of the run.
const slice = 50 * time.Millisecond

// Do invokes the group once.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.b.s.load == loadOnly {
		return workload.ErrDone
	}
	if k.pausing {
		if k.pause(ctx, it, slice); k.pausing {
			return nil
		}
	}
	if it.Settings.Threads != k.r.g.start.Threads && !it.Warmup && !k.r.changed.Load() {
		k.r.changed.Store(true)
	}
	k.r.under.Add(1)
	defer k.r.under.Add(-1)
	p, ok := k.next(it)
	if !ok {
		return workload.ErrDone
	}
	for i := range k.calls {
		k.prepare(&k.calls[i], i, p, it)
	}
	if !it.Warmup {
		k.enter(it)
	}
	due, start := it.Due(), it.Now()
	err := k.invoke(ctx, it)
	end := it.Now()
	it.Record(0, 1, min(due, start), start, end, err)
	if !it.Warmup {
		k.leave(ctx, it, p, err)
	}
	return err
}

// invoke carries out the operations in their order. What comes after a failed one
// is left out: a function that fails does not go on.
func (k *task) invoke(ctx context.Context, it *workload.Iteration) error {
	for i := range k.calls {
		c := &k.calls[i]
		if err := k.carryOut(ctx, it, c); err != nil {
			return err
		}
		if c.o.er != nil {
			if err := k.children(ctx, it, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// carryOut does one call and notes what became of it.
func (k *task) carryOut(ctx context.Context, it *workload.Iteration, c *call) error {
	op := k.r.g.index[c.o]
	if c.act == actSleep {
		m := it.Begin(workload.Op(op))
		return it.End(m, 1, k.sleep(ctx, c.o.pause))
	}
	k.b.attempt(c)
	m := it.Begin(workload.Op(op))
	if c.o.kind.topic() {
		k.b.stamp(c)
	}
	res, err := k.hands[op].do(ctx, c)
	_ = it.End(m, 1, err)
	k.b.settle(c, res, err)
	if it.Warmup {
		return err
	}
	t := &k.tally.ops[op]
	t.calls.Add(1)
	if err != nil {
		t.failed.Add(1)
		return err
	}
	t.entries.Add(res.entries)
	t.misses.Add(res.misses)
	return nil
}

// children writes the children of what a call has written, and theirs.
func (k *task) children(ctx context.Context, it *workload.Iteration, parent *call) error {
	r := parent.o.er
	for i, n := range parent.numbers {
		c := call{o: r.child, act: r.child.childAction(), warm: it.Warmup}
		if c.act == actSleep {
			if err := k.carryOut(ctx, it, &c); err != nil {
				return err
			}
			continue
		}
		many := k.childCount(parent.o, n)
		// Invocations count from 1, whatever number the first key has.
		nth := n
		if parent.o.parent == nil {
			nth = n - parent.o.start + 1
		}
		for child := range many {
			one := call{o: r.child, act: c.act, warm: it.Warmup, payload: r.child.payloadOf(k.r.g, it.Settings)}
			k.b.place(&one)
			k.add(&one, nth*r.most+1+child, string(parent.entries[i].Key), tagOf(parent, i))
			if err := k.carryOut(ctx, it, &one); err != nil {
				return err
			}
			if r.child.er != nil {
				if err := k.children(ctx, it, &one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func tagOf(c *call, i int) []byte {
	if i < len(c.tags) {
		return c.tags[i]
	}
	return c.entries[i].Key
}

func (k *task) childCount(o *opSpec, n int64) int64 {
	if o.shared != nil && o.er.spread == childrenUniform && o.er.least == 1 {
		return 1 + o.shared.intn(o.er.most)
	}
	return o.er.count(k.b.s.seed, o.name, n)
}

// next finds work: an invocation of the worker's own share, or else, in open loop
// and once threads have changed, of another's.
func (k *task) next(it *workload.Iteration) (piece, bool) {
	r, runs, cursors := k.r, k.b.s.runs(), k.r.cursors
	if it.Warmup {
		runs, cursors = forever, r.warm
	}
	n := len(cursors)
	if k.worker < n {
		if p, ok := k.claim(cursors, k.worker, runs, it.Warmup); ok {
			return p, true
		}
	}
	if !it.Warmup && it.Settings.Rate == 0 && !r.changed.Load() {
		return piece{}, false
	}
	for range n {
		if p, ok := k.claim(cursors, k.help, runs, it.Warmup); ok {
			return p, true
		}
		k.help = (k.help + 1) % n
	}
	return piece{}, false
}

// claim takes the next invocation of a share that is not done yet.
func (k *task) claim(cursors []cursor, share int, runs int64, warm bool) (piece, bool) {
	for {
		p, ok := cursors[share].claim(share, k.r.g.shares[share], runs)
		if !ok || warm || !k.r.skips(p) {
			return p, ok
		}
		k.r.pass(p)
	}
}

// enter begins a loop unless one is under way. A change of settings ends the one
// before, so that time spent parked or paused is not taken for loop time. In open
// loop the first loop of every worker begins with the group's first invocation:
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
	k.r.first.CompareAndSwap(-1, now)
	if it.Settings.Rate > 0 {
		k.loopStart = min(k.r.first.Load(), now)
	}
}

// leave notes what became of an invocation, and pauses after a run of the share.
func (k *task) leave(ctx context.Context, it *workload.Iteration, p piece, err error) {
	k.loopEnd = it.Now()
	if err == nil {
		k.tally.acked.Add(1)
	} else {
		k.tally.failed.Add(1)
	}
	k.tally.busy.Store(k.before + k.loopEnd - k.loopStart)
	k.tally.left.Store(k.epoch + k.loopEnd)
	if !p.lastOne || it.Settings.Rate > 0 && k.b.s.interval == 0 {
		return
	}
	k.before += k.loopEnd - k.loopStart
	k.looping = false
	if k.b.s.interval == 0 {
		return
	}
	k.pausing, k.until = true, k.loopEnd+int64(k.b.s.interval)
	if it.Settings.Rate > 0 {
		k.pause(ctx, it, k.b.s.interval) // each return costs an open loop one of its due times
	}
}

// pause sleeps until the pause between runs is over, but no longer than most.
func (k *task) pause(ctx context.Context, it *workload.Iteration, most time.Duration) {
	if rest := time.Duration(k.until - it.Now()); rest > 0 {
		if k.sleep(ctx, min(rest, most)) != nil {
			k.pausing = false
			return
		}
	}
	now := it.Now()
	k.tally.left.Store(k.epoch + now)
	k.pausing = now < k.until
}

func (k *task) sleep(ctx context.Context, d time.Duration) error {
	if k.timer == nil {
		k.timer = time.NewTimer(d)
	} else {
		k.timer.Reset(d)
	}
	select {
	case <-k.timer.C:
		return nil
	case <-ctx.Done():
		k.timer.Stop()
		return ctx.Err()
	}
}
