package group

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// binding is the plan at work on one store.
type binding struct {
	s      *spec
	conn   store.Conn
	claim  *place.Claim
	room   engineRoom
	runs   []*groupRun
	stocks map[store.Space]*stock
	topics map[string]*topicRun
	epoch  time.Time

	mu sync.Mutex
}

// connector binds a plan to what a kind of store can do for it. It changes nothing
// there.
func connector[C store.Conn](s *spec, open func(ctx context.Context, s *spec, c C) (engineRoom, error)) workload.Connector {
	return workload.On(func(ctx context.Context, c C, p *workload.Bound) error {
		l, err := open(ctx, s, c)
		if err != nil {
			return err
		}
		return bind(s, l, p)
	})
}

// bind gives the plan its work on a layer.
func bind(s *spec, l engineRoom, p *workload.Bound) error {
	b := &binding{s: s, conn: p.Conn, room: l, stocks: map[store.Space]*stock{}, topics: map[string]*topicRun{}, epoch: time.Now()}
	if err := b.check(); err != nil {
		return errors.Join(err, b.room.close())
	}
	b.takeStock()
	b.connect(p.Plan)
	p.Claims, p.Admit, p.Setup, p.Verify = b.claims(), b.admit, b.setup, b.verify
	if o, ok := b.room.(owner); ok {
		if p.Keeps = o.own(); p.Keeps != nil {
			b.conn = p.Keeps
		}
	}
	p.Facts = func() any { return b.facts() }
	return nil
}

// check asks for what every operation needs, so that a run refuses before it
// starts.
func (b *binding) check() error {
	var problems workload.Problems
	for _, o := range b.s.order {
		if o.act == actSleep {
			continue
		}
		if _, err := b.hand(o); err != nil {
			problems.Add(fault.Input(fmt.Errorf("%s: operation %s: %w", o.where, o.name, err), fault.HintOf(err)))
		}
	}
	return problems.Err()
}

func (b *binding) hand(o *opSpec) (hand, error) { return b.room.hand(o) }

// takeStock makes the records of all structures and of the keys that are written.
func (b *binding) takeStock() {
	for _, o := range b.s.order {
		if o.kind == kindSleep {
			continue
		}
		st := b.stocks[o.space]
		if st == nil {
			st = &stock{op: o, space: o.space, ledgers: map[string]*ledger{}}
			b.stocks[o.space] = st
		}
		st.writes = st.writes || o.act.writes() || o.parent != nil
		st.removes = st.removes || o.act.takes() || o.ttl > 0
	}
	type span struct{ lo, hi int64 }
	spans := map[store.Space]map[string]span{}
	widen := func(o *opSpec, lo, hi int64) {
		if spans[o.space] == nil {
			spans[o.space] = map[string]span{}
		}
		old, ok := spans[o.space][o.form()]
		if ok {
			lo, hi = min(lo, old.lo), max(hi, old.hi)
		}
		spans[o.space][o.form()] = span{lo, hi}
	}
	for _, g := range b.s.groups {
		for _, o := range g.ops {
			if o.kind == kindSleep || !o.act.writes() {
				continue
			}
			lo, hi := o.reach(g)
			widen(o, lo, hi)
			first, last := int64(1), hi-lo+1
			for r := o.er; r != nil && r.child.kind != kindSleep; r = r.child.er {
				if last > maxWatched/r.most {
					last = maxWatched
				}
				first, last = first*r.most+1, last*r.most+r.most
				widen(r.child, first, last)
			}
		}
	}
	for _, o := range b.s.order {
		if sp, ok := spans[o.space][o.form()]; ok && o.kind.keyed() && (o.act.writes() || o.parent != nil) {
			if st := b.stocks[o.space]; st.ledgers[o.form()] == nil {
				st.ledgers[o.form()] = newLedger(o, sp.lo, sp.hi)
			}
		}
	}
}

// sweeps says whether the times at which the entries of a structure expire are kept
// beside it.
func (b *binding) sweeps(st *stock) bool {
	_, expires := b.room.(expirer)
	return st.op.kind == kindCache && st.removes && !expires
}

// place gives a call the records of its structure.
func (b *binding) place(c *kept) {
	c.stock = b.stocks[c.o.space]
	if c.act.writes() {
		c.led = c.stock.ledgers[c.o.form()]
	}
	c.noted = -1
}

// connect gives the tracks their tasks.
func (b *binding) connect(p *workload.Plan) {
	for i, step := range b.s.steps {
		ph := &p.Phases[i]
		var mine []*groupRun
		for j, g := range step {
			r := newGroupRun(b.s, g)
			b.runs, mine = append(b.runs, r), append(mine, r)
			ph.Tracks[j].NewTask = func(worker int) (workload.Task, error) { return newTask(b, r, worker) }
		}
		for j, l := range b.s.topics(i) {
			t := b.topic(l.op)
			ph.Tracks[len(step)+j].NewTask = func(worker int) (workload.Task, error) { return b.listen(t, mine, worker) }
		}
	}
	for _, o := range b.s.order {
		if o.kind.topic() {
			b.topic(o)
		}
	}
}

// attempt notes that a call is about to be made.
func (b *binding) attempt(c *kept) {
	switch {
	case c.o.kind.topic():
		b.topic(c.o).attempted.Add(int64(len(c.entries)))
		if c.o.kind == kindRTopic {
			c.stock.maybePushed.Add(int64(len(c.entries)))
		}
	case c.o.kind.keyed():
		if c.led == nil {
			return
		}
		for _, n := range c.numbers {
			c.led.set(c.led.tried, n)
		}
		if c.noted != c.payload {
			c.led.note(c.payload)
			c.noted = c.payload
		}
	case c.act.writes():
		c.stock.maybePushed.Add(int64(len(c.entries)))
	case c.act.takes():
		c.stock.maybePopped.Add(1)
	}
}

// settle notes what became of it. What failed may have been done or not.
func (b *binding) settle(c *kept, res result, err error) {
	if err != nil {
		return
	}
	n := int64(len(c.entries))
	switch {
	case c.o.kind.topic():
		b.topic(c.o).published.Add(n)
		if c.o.kind == kindRTopic {
			c.stock.maybePushed.Add(-n)
			c.stock.pushed.Add(n)
		}
	case c.o.kind.keyed():
		if c.led != nil {
			for _, n := range c.numbers {
				c.led.set(c.led.acked, n)
			}
		}
	case c.act.writes():
		c.stock.maybePushed.Add(-n)
		c.stock.pushed.Add(n)
	case c.act.takes():
		c.stock.maybePopped.Add(-1)
		c.stock.popped.Add(res.entries)
	}
}

// tag is the hash tag under which an entry of related maps lies: the key of its
// family's first parent.
func (b *binding) tag(o *opSpec, n int64, key []byte) []byte {
	kin := o
	if o.parent == nil {
		for _, other := range b.s.order {
			if other.parent != nil && other.space == o.space {
				kin = other
				break
			}
		}
	}
	if kin.parent == nil {
		return key
	}
	for kin.parent != nil {
		nth := (n - 1) / kin.parent.er.most
		kin, n = kin.parent, nth
	}
	n += kin.start - 1
	if kin.factory == nil {
		return kin.key(nil, n)
	}
	return []byte(kin.factory.id(n))
}
