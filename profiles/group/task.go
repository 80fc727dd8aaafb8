package group

import (
	"context"
	"math/rand/v2"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// task is one caller of a group. It belongs to its worker.
type task struct {
	b     *binding
	r     *groupRun
	loop  *padogrid.Loop[counts]
	calls []kept
	hands []hand // of the operations and their families, by the track's names
	rnd   *rand.Rand
	blob  []byte
	// makers make the objects that the file defines.
	makers map[*opSpec]*objects.Maker
}

// kept is a call with the records of its structure.
type kept struct {
	call
	noted int // payload last noted in the ledger
	led   *ledger
	stock *stock
}

func newTask(b *binding, r *groupRun, worker int) (*task, error) {
	k := &task{b: b, r: r, loop: r.Loop(worker)}
	k.rnd = rand.New(rand.NewPCG(uint64(b.s.seed), uint64(worker)<<32|uint64(len(r.g.track))))
	k.calls = make([]kept, len(r.g.ops))
	k.hands = make([]hand, len(r.g.names))
	for i, o := range r.g.ops {
		k.calls[i] = kept{call: call{o: o, act: o.act}}
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

// Do invokes the group once.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.b.s.load == loadOnly {
		return workload.ErrDone
	}
	if k.loop.Paused(ctx, it) {
		return nil
	}
	k.r.under.Add(1)
	defer k.r.under.Add(-1)
	p, ok := k.loop.Next(it, 1)
	if !ok {
		return workload.ErrDone
	}
	for i := range k.calls {
		k.prepare(&k.calls[i], i, p, it)
	}
	k.loop.Enter(it)
	due, start := it.Due(), it.Now()
	err := k.invoke(ctx, it)
	end := it.Now()
	it.Record(0, 1, min(due, start), start, end, err)
	k.loop.Leave(ctx, it, p, err)
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
			if err := k.children(ctx, it, &c.call); err != nil {
				return err
			}
		}
	}
	return nil
}

// carryOut does one call and notes what became of it.
func (k *task) carryOut(ctx context.Context, it *workload.Iteration, c *kept) error {
	op := k.r.g.index[c.o]
	if c.act == actSleep {
		m := it.Begin(workload.Op(op))
		return it.End(m, 1, k.loop.Sleep(ctx, c.o.pause))
	}
	k.b.attempt(c)
	m := it.Begin(workload.Op(op))
	if c.o.kind.topic() {
		k.b.stamp(&c.call)
	}
	res, err := k.hands[op].do(ctx, &c.call)
	_ = it.End(m, 1, err)
	k.b.settle(c, res, err)
	if it.Warmup {
		return err
	}
	t := &k.loop.Tally.Own.ops[op]
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
		c := kept{call: call{o: r.child, act: r.child.childAction(), warm: it.Warmup}}
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
			one := kept{call: call{o: r.child, act: c.act, warm: it.Warmup, payload: r.child.payloadOf(k.r.g, it.Settings)}}
			k.b.place(&one)
			k.add(&one.call, nth*r.most+1+child, string(parent.entries[i].Key), tagOf(parent, i))
			if err := k.carryOut(ctx, it, &one); err != nil {
				return err
			}
			if r.child.er != nil {
				if err := k.children(ctx, it, &one.call); err != nil {
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
