// Package run carries out the plan of a group run on a layer: it loads what is read,
// invokes the groups, listens to topics, and compares what is stored with what was
// acknowledged.
package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// binding is the plan at work on one store.
type binding struct {
	s      *model.Spec
	conn   store.Conn
	claim  *ownership.Claim
	layer  layer.Adapter
	runs   []*groupRun
	stocks map[store.Space]*stock
	topics map[string]*topicRun
	epoch  time.Time

	mu sync.Mutex
}

// Connector binds a plan to what a kind of store can do for it. It changes nothing
// there.
func Connector[C store.Conn](s *model.Spec, open func(ctx context.Context, s *model.Spec, c C) (layer.Adapter, error)) workload.Connector {
	return workload.On(func(ctx context.Context, c C, p *workload.Bound) error {
		l, err := open(ctx, s, c)
		if err != nil {
			return err
		}
		return bind(s, l, p)
	})
}

// bind gives the plan its work on a layer.
func bind(s *model.Spec, l layer.Adapter, p *workload.Bound) error {
	b := &binding{s: s, conn: p.Conn, layer: l, stocks: map[store.Space]*stock{}, topics: map[string]*topicRun{}, epoch: time.Now()}
	if err := b.check(); err != nil {
		return errors.Join(err, b.layer.Close())
	}
	b.takeStock()
	b.connect(p.Plan)
	p.Claims, p.Parts = b.claims(), workload.Parts{b}
	if o, ok := b.layer.(layer.Owner); ok {
		if p.Keeps = o.Own(); p.Keeps != nil {
			b.conn = p.Keeps
		}
	}
	b.share(p.Shared)
	return nil
}

// check asks for what every operation needs, so that a run refuses before it
// starts.
func (b *binding) check() error {
	var problems workload.Problems
	for _, o := range b.s.Order {
		if o.Action == model.ActSleep {
			continue
		}
		if _, err := b.caller(o); err != nil {
			problems.Add(fault.Input(fmt.Errorf("%s: operation %s: %w", o.Where, o.Name, err), fault.HintOf(err)))
		}
	}
	return problems.Err()
}

func (b *binding) caller(o *model.Op) (layer.Caller, error) { return b.layer.Caller(o) }

// takeStock makes the records of all structures and of the keys that are written.
func (b *binding) takeStock() {
	for _, o := range b.s.Order {
		if o.Kind == model.KindSleep {
			continue
		}
		st := b.stocks[o.Space]
		if st == nil {
			st = &stock{op: o, space: o.Space, ledgers: map[string]*ledger{}}
			b.stocks[o.Space] = st
		}
		st.writes = st.writes || o.Action.Writes() || o.Parent != nil
		st.removes = st.removes || o.Action.Takes() || o.TTL > 0
	}
	type span struct{ lo, hi int64 }
	spans := map[store.Space]map[string]span{}
	widen := func(o *model.Op, lo, hi int64) {
		if spans[o.Space] == nil {
			spans[o.Space] = map[string]span{}
		}
		old, ok := spans[o.Space][o.Form()]
		if ok {
			lo, hi = min(lo, old.lo), max(hi, old.hi)
		}
		spans[o.Space][o.Form()] = span{lo, hi}
	}
	for _, g := range b.s.Groups {
		for _, o := range g.Ops {
			if o.Kind == model.KindSleep || !o.Action.Writes() {
				continue
			}
			lo, hi := o.Reach(g)
			widen(o, lo, hi)
			first, last := int64(1), hi-lo+1
			for r := o.Children; r != nil && r.Child.Kind != model.KindSleep; r = r.Child.Children {
				if last > maxWatched/r.Most {
					last = maxWatched
				}
				first, last = first*r.Most+1, last*r.Most+r.Most
				widen(r.Child, first, last)
			}
		}
	}
	for _, o := range b.s.Order {
		if sp, ok := spans[o.Space][o.Form()]; ok && o.Kind.Keyed() && (o.Action.Writes() || o.Parent != nil) {
			if st := b.stocks[o.Space]; st.ledgers[o.Form()] == nil {
				st.ledgers[o.Form()] = newLedger(o, sp.lo, sp.hi)
			}
		}
	}
}

// sweeps says whether the times at which the entries of a structure expire are kept
// beside it.
func (b *binding) sweeps(st *stock) bool {
	_, expires := b.layer.(layer.Expirer)
	return st.op.Kind == model.KindCache && st.removes && !expires
}

// place gives a call the records of its structure.
func (b *binding) place(c *kept) {
	c.stock = b.stocks[c.Op.Space]
	if c.Action.Writes() {
		c.led = c.stock.ledgers[c.Op.Form()]
	}
	c.noted = -1
}

// connect gives the tracks their tasks.
func (b *binding) connect(p *workload.Plan) {
	for i, step := range b.s.Steps {
		ph := &p.Phases[i]
		var mine []*groupRun
		for j, g := range step {
			r := newGroupRun(b.s, g)
			b.runs, mine = append(b.runs, r), append(mine, r)
			ph.Tracks[j].NewTask = func(worker int) (workload.Task, error) { return newTask(b, r, worker) }
		}
		for j, l := range b.s.Topics(i) {
			t := b.topic(l.Op)
			ph.Tracks[len(step)+j].NewTask = func(worker int) (workload.Task, error) { return b.listen(t, mine, worker) }
		}
	}
	for _, o := range b.s.Order {
		if o.Kind.Topic() {
			b.topic(o)
		}
	}
}

// attempt notes that a call is about to be made.
func (b *binding) attempt(c *kept) {
	switch {
	case c.Op.Kind.Topic():
		b.topic(c.Op).attempted.Add(int64(len(c.Entries)))
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
func (b *binding) settle(c *kept, res layer.Result, err error) {
	if err != nil {
		return
	}
	n := int64(len(c.Entries))
	switch {
	case c.Op.Kind.Topic():
		b.topic(c.Op).published.Add(n)
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

// kin is the operation that says to which family the entries of an operation belong: itself,
// or one with a parent in the same space.
func (b *binding) kin(o *model.Op) *model.Op {
	if o.Parent == nil {
		for _, other := range b.s.Order {
			if other.Parent != nil && other.Space == o.Space {
				return other
			}
		}
	}
	return o
}

// tag is the hash tag under which an entry of related maps lies: the key of its
// family's first parent.
func (b *binding) tag(o *model.Op, n int64, key []byte) []byte {
	kin := b.kin(o)
	if kin.Parent == nil {
		return key
	}
	for kin.Parent != nil {
		nth := (n - 1) / kin.Parent.Children.Most
		kin, n = kin.Parent, nth
	}
	n += kin.Start - 1
	if kin.Factory == nil {
		return kin.Key(nil, n)
	}
	return []byte(kin.Factory.ID(n))
}
