package group

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/workload"
)

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded", Note: "no stopic, no near cache"},
		{Driver: "redis"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "cassandra", Note: "maps"},
		{Driver: "mysql", Note: "maps, entities"},
		{Driver: "postgres", Note: "maps, entities"},
		{Driver: "sqlite", Note: "maps, entities"},
		{Driver: "coherence", Note: "maps, mcaches, queues"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no entries; use redis:// or embedded:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no entries; use redis:// or embedded:"},
	}
}

// newRoom returns what a store can do.
func newRoom(ctx context.Context, b *binding) (engineRoom, error) {
	maps := &mapRoom{b: b}
	if b.s.database {
		return newSQLRoom(ctx, b, maps)
	}
	if t, ok := typed(b.conn); ok {
		return newRedisRoom(b, t, maps)
	}
	if c, ok := b.conn.(*coherence.Conn); ok {
		return newCoherenceRoom(ctx, b, c, maps)
	}
	if b.s.near {
		return nil, fault.Input(fmt.Errorf("nearCache: %s has no client-side caching", b.s.driver), "use redis:// or coherence://")
	}
	if f, ok := b.conn.(store.Forgetful); ok && f.Forgets() {
		return &memoryRoom{mapRoom: maps, forgets: true}, nil
	}
	if b.s.driver == "memory" {
		return &memoryRoom{mapRoom: maps}, nil
	}
	return maps, nil
}

// mapRoom carries out the operations on maps through the shapes that every store
// has; it knows no store.
type mapRoom struct{ b *binding }

func (m *mapRoom) close() error { return nil }

func (m *mapRoom) subscribe(context.Context, *opSpec, *inbox) (func() error, error) { return nil, nil }

func (m *mapRoom) size(ctx context.Context, o *opSpec) (int64, error) {
	c, err := store.As[store.Counter](m.b.conn)
	if err != nil {
		return -1, nil //nolint:nilerr // a store that cannot count is asked for samples only
	}
	return c.Count(ctx, o.space)
}

// hand asks the connection for what an action on a map needs.
func (m *mapRoom) hand(o *opSpec) (hand, error) {
	if o.kind != kindMap {
		return nil, fault.Hint(fmt.Errorf("there is no %s here", o.kind), "redis:// has every structure, this store has maps")
	}
	h := &mapHand{}
	var err error
	acts := []action{o.act}
	if o.parent != nil {
		acts = append(acts, o.childAction())
	}
	for _, a := range acts {
		switch {
		case a == actRemove, a == actQuery:
			err = fmt.Errorf("%s: %w", a, store.ErrUnsupported)
		case o.space.Grouped:
			h.grouped, err = store.As[store.GroupPutter](m.b.conn)
		case a == actPut:
			h.put, err = store.As[store.Putter](m.b.conn)
		case a == actSet:
			h.set, err = store.As[store.Setter](m.b.conn)
		case a == actPutAll:
			h.putAll, err = store.As[store.BatchPutter](m.b.conn)
		case a == actGet:
			h.get, err = store.As[store.Getter](m.b.conn)
		case a == actGetAll:
			h.getAll, err = store.As[store.BatchGetter](m.b.conn)
		}
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

// mapHand does the calls of one worker on a map.
type mapHand struct {
	put     store.Putter
	set     store.Setter
	putAll  store.BatchPutter
	get     store.Getter
	getAll  store.BatchGetter
	grouped store.GroupPutter

	buf    []byte
	keys   [][]byte
	groups []store.Group
}

func (h *mapHand) do(ctx context.Context, c *call) (result, error) {
	if h.grouped != nil {
		return h.doGrouped(ctx, c)
	}
	n := result{entries: int64(len(c.entries))}
	switch c.act {
	case actPut:
		return n, h.put.Put(ctx, c.o.space, c.entries[0].Key, c.entries[0].Val)
	case actSet:
		return n, h.set.Set(ctx, c.o.space, c.entries[0].Key, c.entries[0].Val)
	case actPutAll:
		return n, h.putAll.PutAll(ctx, c.o.space, c.entries)
	case actGet:
		v, ok, err := h.get.Get(ctx, c.o.space, c.entries[0].Key, h.buf)
		h.buf, c.got = v, v
		return found(1, ok), err
	case actGetAll:
		vals, err := h.getAll.GetAll(ctx, c.o.space, h.keysOf(c))
		return hits(vals), err
	}
	return result{}, store.ErrUnsupported
}

func (h *mapHand) keysOf(c *call) [][]byte {
	h.keys = h.keys[:0]
	for _, e := range c.entries {
		h.keys = append(h.keys, e.Key)
	}
	return h.keys
}

// doGrouped works on maps that lie in pieces, one for each family.
func (h *mapHand) doGrouped(ctx context.Context, c *call) (result, error) {
	n := result{entries: int64(len(c.entries))}
	switch c.act {
	case actPut:
		return n, h.grouped.PutGroup(ctx, c.o.space, c.tags[0], c.entries[0].Key, c.entries[0].Val)
	case actSet, actPutAll:
		h.groups = h.groups[:0]
		for i := range c.entries {
			h.groups = append(h.groups, store.Group{Name: c.tags[i], Entries: c.entries[i : i+1]})
		}
		return n, h.grouped.PutGroups(ctx, c.o.space, h.groups)
	}
	var sum result
	for i := range c.entries {
		vals, err := h.grouped.GetGroup(ctx, c.o.space, c.tags[i], [][]byte{c.entries[i].Key})
		if err != nil {
			return sum, err
		}
		c.got = vals[0]
		r := hits(vals)
		sum.entries, sum.misses = sum.entries+r.entries, sum.misses+r.misses
	}
	return sum, nil
}

func found(n int64, ok bool) result {
	if ok {
		return result{entries: n}
	}
	return result{misses: n}
}

func hits(vals [][]byte) result {
	var r result
	for _, v := range vals {
		if v == nil {
			r.misses++
		} else {
			r.entries++
		}
	}
	return r
}
