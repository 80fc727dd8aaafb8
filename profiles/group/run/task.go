package run

import (
	"context"
	"math/rand/v2"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// task is one caller of a group. It belongs to its worker.
type task struct {
	w       *work
	r       *groupRun
	loop    *padogrid.Loop[counts]
	calls   []kept
	callers []model.Caller // of the operations and their families, by the track's names
	rnd     *rand.Rand
	blob    []byte
	// makers make the objects that the file defines.
	makers map[*model.Op]*datagen.Maker
}

// kept is a call with the records of its structure.
type kept struct {
	model.Call
	noted int // payload size last noted in the ledger
	led   *ledger
	stock *stock
	topic *topicRun // nil: it is not about one
}

// attempt notes that a call is about to be made.
func (c *kept) attempt() {
	switch {
	case c.Op.Kind.Topic():
		c.topic.attempted.Add(int64(len(c.Entries)))
		if c.Op.Kind == model.KindRTopic {
			c.stock.maybePushed.Add(int64(len(c.Entries)))
		}
	case c.Op.Kind.Keyed():
		if c.led == nil {
			return
		}
		for _, n := range c.Numbers {
			c.led.set(c.led.tried, n)
		}
		if c.noted != c.Payload {
			c.led.payloads.Note(c.Payload)
			c.noted = c.Payload
		}
	case c.Action.Writes():
		c.stock.maybePushed.Add(int64(len(c.Entries)))
	case c.Action.Takes():
		c.stock.maybePopped.Add(1)
	}
}

// settle notes what became of it. What failed may have been done or not.
func (c *kept) settle(res model.Result, err error) {
	if err != nil {
		return
	}
	n := int64(len(c.Entries))
	switch {
	case c.Op.Kind.Topic():
		c.topic.published.Add(n)
		if c.Op.Kind == model.KindRTopic {
			c.stock.maybePushed.Add(-n)
			c.stock.pushed.Add(n)
		}
	case c.Op.Kind.Keyed():
		if c.led != nil {
			for _, n := range c.Numbers {
				c.led.set(c.led.acked, n)
			}
		}
	case c.Action.Writes():
		c.stock.maybePushed.Add(-n)
		c.stock.pushed.Add(n)
	case c.Action.Takes():
		c.stock.maybePopped.Add(-1)
		c.stock.popped.Add(res.Entries)
	}
}

// doubt notes that a call which writes had no answer.
func (c *kept) doubt() {
	switch {
	case c.Op.Kind == model.KindRTopic:
		c.stock.unanswered.Add(int64(len(c.Entries)))
	case c.Op.Kind.Topic():
	case c.Op.Kind.Keyed():
		if c.led == nil || !c.Action.Writes() && !c.Action.Takes() {
			return
		}
		for _, n := range c.Numbers {
			c.stock.unanswered.Add(1)
			if c.led.has(c.led.acked, n) { // it was there before
				c.stock.over.Add(1)
			}
		}
	case c.Action.Writes():
		c.stock.unanswered.Add(int64(len(c.Entries)))
	case c.Action.Takes():
		c.stock.unanswered.Add(1)
	}
}

func newTask(w *work, r *groupRun, worker int) (*task, error) {
	k := &task{w: w, r: r, loop: r.Loop(worker)}
	k.rnd = rand.New(rand.NewPCG(uint64(w.s.Seed), uint64(worker)<<32|uint64(len(r.g.Track))))
	k.calls = make([]kept, len(r.g.Ops))
	k.callers = make([]model.Caller, len(r.g.Names))
	for i, o := range r.g.Ops {
		k.calls[i] = kept{Call: model.Call{Op: o, Action: o.Action}}
	}
	for o, i := range r.g.Index {
		if o.Action == model.ActSleep {
			continue
		}
		h, err := w.layer.Caller(o)
		if err != nil {
			return nil, err
		}
		k.callers[i] = h
	}
	return k, nil
}

// Do invokes the group once.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.w.s.Load == model.LoadOnly {
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

// invoke carries out the operations in order. After a failed one the rest is left out:
// a function that fails does not go on.
func (k *task) invoke(ctx context.Context, it *workload.Iteration) error {
	for i := range k.calls {
		c := &k.calls[i]
		if err := k.carryOut(ctx, it, c); err != nil {
			return err
		}
		if c.Op.Children != nil {
			if err := k.children(ctx, it, &c.Call); err != nil {
				return err
			}
		}
	}
	return nil
}

// carryOut does one call and records its outcome.
func (k *task) carryOut(ctx context.Context, it *workload.Iteration, c *kept) error {
	op := k.r.g.Index[c.Op]
	if c.Action == model.ActSleep {
		m := it.Begin(workload.Op(op))
		return it.End(m, 1, k.loop.Sleep(ctx, c.Op.Pause))
	}
	c.attempt()
	m := it.Begin(workload.Op(op))
	if c.Op.Kind.Topic() {
		c.topic.stamp(&c.Call)
	}
	res, err := k.callers[op].Do(ctx, &c.Call)
	_ = it.End(m, 1, err)
	c.settle(res, err)
	if err != nil && k.w.conn.Classify(err).Unanswered(err) {
		c.doubt()
	}
	if it.Warmup {
		return err
	}
	t := &k.loop.Tally.Own.ops[op]
	t.calls.Add(1)
	if err != nil {
		t.failed.Add(1)
		return err
	}
	t.entries.Add(res.Entries)
	t.misses.Add(res.Misses)
	return nil
}

// children writes the children of what a call has written, and their children.
func (k *task) children(ctx context.Context, it *workload.Iteration, parent *model.Call) error {
	r := parent.Op.Children
	for i, n := range parent.Numbers {
		c := kept{Call: model.Call{Op: r.Child, Action: r.Child.ChildAction(), Warm: it.Warmup}}
		if c.Action == model.ActSleep {
			if err := k.carryOut(ctx, it, &c); err != nil {
				return err
			}
			continue
		}
		many := k.childCount(parent.Op, n)
		// Invocations count from 1, whatever the number of the first key.
		nth := n
		if parent.Op.Parent == nil {
			nth = n - parent.Op.Start + 1
		}
		for child := range many {
			one := kept{Call: model.Call{Op: r.Child, Action: c.Action, Warm: it.Warmup, Payload: r.Child.PayloadOf(k.r.g, it.Settings)}}
			k.w.place(&one)
			k.add(&one.Call, nth*r.Most+1+child, string(parent.Entries[i].Key), tagIn(parent, i))
			if err := k.carryOut(ctx, it, &one); err != nil {
				return err
			}
			if r.Child.Children != nil {
				if err := k.children(ctx, it, &one.Call); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func tagIn(c *model.Call, i int) []byte {
	if i < len(c.Tags) {
		return c.Tags[i]
	}
	return c.Entries[i].Key
}

func (k *task) childCount(o *model.Op, n int64) int64 {
	if o.Shared != nil && o.Children.Spread == model.ChildrenUniform && o.Children.Least == 1 {
		return 1 + o.Shared.Intn(o.Children.Most)
	}
	return o.Children.Count(k.w.s.Seed, o.Name, n)
}
