package group

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// mapRoom carries out the operations on maps through the shapes that every store
// has; it knows no store.
type mapRoom struct {
	s    *spec
	conn store.Conn
}

func newMapRoom(s *spec, c store.Conn) *mapRoom { return &mapRoom{s, c} }

func (m *mapRoom) close() error { return nil }

func (m *mapRoom) subscribe(context.Context, *opSpec, mailbox) (func() error, error) { return nil, nil }

func (m *mapRoom) size(ctx context.Context, o *opSpec) (int64, error) {
	c, err := store.As[store.Counter](m.conn)
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
			h.grouped, err = store.As[store.GroupPutter](m.conn)
		case a == actPut:
			h.put, err = store.As[store.Putter](m.conn)
		case a == actSet:
			h.set, err = store.As[store.Setter](m.conn)
		case a == actPutAll:
			h.putAll, err = store.As[store.BatchPutter](m.conn)
		case a == actGet:
			h.get, err = store.As[store.Getter](m.conn)
		case a == actGetAll:
			h.getAll, err = store.As[store.BatchGetter](m.conn)
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
		h.keys = keysInto(h.keys, c)
		vals, err := h.getAll.GetAll(ctx, c.o.space, h.keys)
		return hits(vals), err
	}
	return result{}, store.ErrUnsupported
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
