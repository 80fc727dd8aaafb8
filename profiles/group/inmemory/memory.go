// Package inmemory keeps the structures of a group run in this process.
package inmemory

import (
	"context"
	"sync"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Adapter keeps lists, queues, sets and topics in this process, for demonstrations and
// for tests on a virtual clock. Maps are the store's own. If the store keeps nothing,
// neither does the layer.
type Adapter struct {
	*model.Maps
	forgets bool

	mu     sync.Mutex
	lists  map[store.Space][]string
	sets   map[store.Space]map[string]bool
	topics map[store.Space][]model.Inbox
}

// New returns the layer for a plan on the maps of this process.
func New(s *model.Spec, c store.Conn) *Adapter {
	return &Adapter{Maps: model.NewMaps(s, c), forgets: store.Forgets(c)}
}

// Caller returns what carries out the calls of an operation.
func (m *Adapter) Caller(o *model.Op) (model.Caller, error) {
	if o.Kind == model.KindMap && o.Action != model.ActRemove {
		return m.Maps.Caller(o)
	}
	if o.Action == model.ActQuery {
		return nil, store.ErrUnsupported
	}
	return caller{m}, nil
}

// Size returns how many elements a structure has.
func (m *Adapter) Size(ctx context.Context, o *model.Op) (int64, error) {
	if o.Kind == model.KindMap {
		return m.Maps.Size(ctx, o)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.lists[o.Space]) + len(m.sets[o.Space])), nil
}

// Subscribe listens to a topic from now on.
func (m *Adapter) Subscribe(_ context.Context, o *model.Op, to model.Inbox) (func() error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.topics == nil {
		m.topics = map[store.Space][]model.Inbox{}
	}
	m.topics[o.Space] = append(m.topics[o.Space], to)
	return func() error { return nil }, nil
}

type caller struct{ m *Adapter }

// Do carries out a call.
func (h caller) Do(_ context.Context, c *model.Call) (model.Result, error) {
	m := h.m
	n := int64(len(c.Entries))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lists == nil {
		m.lists, m.sets = map[store.Space][]string{}, map[store.Space]map[string]bool{}
	}
	at := c.Op.Space
	switch {
	case c.Op.Kind.Topic():
		for _, e := range c.Entries {
			for _, x := range m.topics[at] {
				x.Put(e.Val)
			}
		}
		return model.Result{Entries: n}, nil
	case m.forgets && c.Action.Writes():
		return model.Result{Entries: n}, nil
	case c.Op.Kind.Keyed():
		return m.keyed(c), nil
	case c.Action.Writes():
		for _, e := range c.Entries {
			m.lists[at] = append(m.lists[at], string(e.Val))
		}
		return model.Result{Entries: n}, nil
	}
	list := m.lists[at]
	if len(list) == 0 {
		return model.Result{Misses: 1}, nil
	}
	if c.Action.Takes() {
		m.lists[at] = list[1:]
	}
	return model.Result{Entries: 1}, nil
}

func (m *Adapter) keyed(c *model.Call) model.Result {
	set := m.sets[c.Op.Space]
	if set == nil {
		set = map[string]bool{}
		m.sets[c.Op.Space] = set
	}
	var r model.Result
	for _, e := range c.Entries {
		there := set[string(e.Key)]
		switch {
		case c.Action.Writes():
			set[string(e.Key)], there = true, true
		case c.Action == model.ActRemove:
			delete(set, string(e.Key))
		}
		f := model.Found(1, there)
		r.Entries, r.Misses = r.Entries+f.Entries, r.Misses+f.Misses
	}
	return r
}
