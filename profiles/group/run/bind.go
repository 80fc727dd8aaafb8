// Package run carries out the plan of a group run on a layer: it loads what is read,
// invokes the groups, listens to topics, and compares what is stored with what was
// acknowledged.
package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// work is what all callers of the groups share: the structures and topics that they work on, on one
// layer.
type work struct {
	s          *model.Spec
	layer      model.Adapter
	structures *structures
	topics     *topics
	runs       []*groupRun
	conn       store.Conn
}

// Connector binds a plan to what a kind of store can do for it. It changes nothing
// there.
func Connector[C store.Conn](s *model.Spec, open func(ctx context.Context, s *model.Spec, c C) (model.Adapter, error)) workload.Connector {
	return workload.On(func(ctx context.Context, c C, p *workload.Bound) error {
		l, err := open(ctx, s, c)
		if err != nil {
			return err
		}
		return bind(s, l, p)
	})
}

// bind gives the plan its work on a layer.
func bind(s *model.Spec, l model.Adapter, p *workload.Bound) error {
	w := &work{s: s, layer: l, structures: newStructures(s), topics: newTopics(s, l), conn: p.Conn}
	if err := w.check(); err != nil {
		return errors.Join(err, w.close())
	}
	w.connect(p.Plan)
	conn := p.Conn
	if o, ok := l.(model.Owner); ok {
		if p.Keeps = o.Own(); p.Keeps != nil {
			conn = p.Keeps
		}
	}
	g := &grounds{w: w}
	p.Claims = g.claims()
	p.Parts = workload.Parts{g, &loading{w, g}, &verification{w: w, g: g, conn: conn, shared: p.Shared}, &record{w}}
	w.share(p.Shared)
	return nil
}

// check asks for what every operation needs, so that a run refuses before it
// starts.
func (w *work) check() error {
	var problems workload.Problems
	for _, o := range w.s.Order {
		if o.Action == model.ActSleep {
			continue
		}
		if _, err := w.layer.Caller(o); err != nil {
			problems.Add(fault.Input(fmt.Errorf("%s: operation %s: %w", o.Where, o.Name, err), fault.HintOf(err)))
		}
	}
	return problems.Err()
}

// close releases what the adapter has opened.
func (w *work) close() error {
	if c, ok := w.layer.(model.Closer); ok {
		return c.Close()
	}
	return nil
}

// connect gives the tracks their tasks.
func (w *work) connect(p *workload.Plan) {
	for i, step := range w.s.Steps {
		ph := &p.Phases[i]
		var mine []*groupRun
		for j, g := range step {
			r := newGroupRun(w.s, g)
			w.runs, mine = append(w.runs, r), append(mine, r)
			ph.Tracks[j].NewTask = func(worker int) (workload.Task, error) { return newTask(w, r, worker) }
		}
		for j, l := range w.s.Topics(i) {
			t := w.topics.of(l.Op)
			ph.Tracks[len(step)+j].NewTask = func(worker int) (workload.Task, error) { return t.listen(mine, worker) }
		}
	}
}

// place gives a call the records of its structure and of its topic.
func (w *work) place(c *kept) {
	c.stock = w.structures.at[c.Op.Space]
	if c.Op.Kind.Topic() {
		c.topic = w.topics.of(c.Op)
	}
	if c.Action.Writes() {
		c.led = c.stock.ledgers[c.Op.Form()]
	}
	c.noted = -1
}
