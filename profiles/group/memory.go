package group

import (
	"context"
	"sync"

	"github.com/perfbench/perfbench/internal/store"
)

// memoryRoom keeps lists, queues, sets and topics in this process: for
// demonstrations and tests on a virtual clock. Maps are the store's own. When the
// store keeps nothing, nothing is kept.
type memoryRoom struct {
	*mapRoom
	forgets bool

	mu     sync.Mutex
	lists  map[store.Space][]string
	sets   map[store.Space]map[string]bool
	topics map[store.Space][]mailbox
}

func newMemoryRoom(s *spec, c store.Conn) *memoryRoom {
	f, ok := c.(store.Forgetful)
	return &memoryRoom{mapRoom: newMapRoom(s, c), forgets: ok && f.Forgets()}
}

func (m *memoryRoom) hand(o *opSpec) (hand, error) {
	if o.kind == kindMap && o.act != actRemove {
		return m.mapRoom.hand(o)
	}
	if o.act == actQuery {
		return nil, store.ErrUnsupported
	}
	return memoryHand{m}, nil
}

func (m *memoryRoom) size(ctx context.Context, o *opSpec) (int64, error) {
	if o.kind == kindMap {
		return m.mapRoom.size(ctx, o)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.lists[o.space]) + len(m.sets[o.space])), nil
}

func (m *memoryRoom) subscribe(_ context.Context, o *opSpec, to mailbox) (func() error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.topics == nil {
		m.topics = map[store.Space][]mailbox{}
	}
	m.topics[o.space] = append(m.topics[o.space], to)
	return func() error { return nil }, nil
}

type memoryHand struct{ m *memoryRoom }

func (h memoryHand) do(_ context.Context, c *call) (result, error) {
	m := h.m
	n := int64(len(c.entries))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lists == nil {
		m.lists, m.sets = map[store.Space][]string{}, map[store.Space]map[string]bool{}
	}
	at := c.o.space
	switch {
	case c.o.kind.topic():
		for _, e := range c.entries {
			for _, x := range m.topics[at] {
				x.put(e.Val)
			}
		}
		return result{entries: n}, nil
	case m.forgets && c.act.writes():
		return result{entries: n}, nil
	case c.o.kind.keyed():
		return m.keyed(c), nil
	case c.act.writes():
		for _, e := range c.entries {
			m.lists[at] = append(m.lists[at], string(e.Val))
		}
		return result{entries: n}, nil
	}
	list := m.lists[at]
	if len(list) == 0 {
		return result{misses: 1}, nil
	}
	if c.act.takes() {
		m.lists[at] = list[1:]
	}
	return result{entries: 1}, nil
}

func (m *memoryRoom) keyed(c *call) result {
	set := m.sets[c.o.space]
	if set == nil {
		set = map[string]bool{}
		m.sets[c.o.space] = set
	}
	var r result
	for _, e := range c.entries {
		there := set[string(e.Key)]
		switch {
		case c.act.writes():
			set[string(e.Key)], there = true, true
		case c.act == actRemove:
			delete(set, string(e.Key))
		}
		f := found(1, there)
		r.entries, r.misses = r.entries+f.entries, r.misses+f.misses
	}
	return r
}
