package model

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Maps carries out the operations on maps through the shapes that every store has; it
// knows no store.
type Maps struct {
	Spec *Spec
	conn store.Conn
}

// NewMaps returns the maps of a store.
func NewMaps(s *Spec, c store.Conn) *Maps { return &Maps{s, c} }

// Size returns how many elements a structure has.
func (m *Maps) Size(ctx context.Context, o *Op) (int64, error) {
	c, err := store.As[store.Counter](m.conn)
	if err != nil {
		return -1, nil //nolint:nilerr // a store that cannot count is asked for samples only
	}
	return c.Count(ctx, o.Space)
}

// Caller gets from the connection what an action on a map needs.
func (m *Maps) Caller(o *Op) (Caller, error) {
	if o.Kind != KindMap {
		return nil, fault.Hint(fmt.Errorf("there is no %s here", o.Kind), "redis:// has every structure, this store has maps")
	}
	h := &mapCaller{}
	var err error
	acts := []Action{o.Action}
	if o.Parent != nil {
		acts = append(acts, o.ChildAction())
	}
	for _, a := range acts {
		switch {
		case a == ActRemove, a == ActQuery:
			err = fmt.Errorf("%s: %w", a, store.ErrUnsupported)
		case o.Space.Grouped:
			h.grouped, err = store.As[store.GroupPutter](m.conn)
		case a == ActPut:
			h.put, err = store.As[store.Putter](m.conn)
		case a == ActSet:
			h.set, err = store.As[store.Setter](m.conn)
		case a == ActPutAll:
			h.putAll, err = store.As[store.BatchPutter](m.conn)
		case a == ActGet:
			h.get, err = store.As[store.Getter](m.conn)
		case a == ActGetAll:
			h.getAll, err = store.As[store.BatchGetter](m.conn)
		}
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

// mapCaller does the calls of one worker on a map.
type mapCaller struct {
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

// Do carries out a call.
func (h *mapCaller) Do(ctx context.Context, c *Call) (Result, error) {
	if h.grouped != nil {
		return h.doGrouped(ctx, c)
	}
	n := Result{Entries: int64(len(c.Entries))}
	switch c.Action {
	case ActPut:
		return n, h.put.Put(ctx, c.Op.Space, c.Entries[0].Key, c.Entries[0].Val)
	case ActSet:
		return n, h.set.Set(ctx, c.Op.Space, c.Entries[0].Key, c.Entries[0].Val)
	case ActPutAll:
		return n, h.putAll.PutAll(ctx, c.Op.Space, c.Entries)
	case ActGet:
		v, ok, err := h.get.Get(ctx, c.Op.Space, c.Entries[0].Key, h.buf)
		h.buf, c.Got = v, v
		return Found(1, ok), err
	case ActGetAll:
		h.keys = KeysInto(h.keys, c)
		vals, err := h.getAll.GetAll(ctx, c.Op.Space, h.keys)
		return Hits(vals), err
	}
	return Result{}, store.ErrUnsupported
}

// doGrouped works on maps that are split into pieces, one for each family.
func (h *mapCaller) doGrouped(ctx context.Context, c *Call) (Result, error) {
	n := Result{Entries: int64(len(c.Entries))}
	switch c.Action {
	case ActPut:
		return n, h.grouped.PutGroup(ctx, c.Op.Space, c.Tags[0], c.Entries[0].Key, c.Entries[0].Val)
	case ActSet, ActPutAll:
		h.groups = h.groups[:0]
		for i := range c.Entries {
			h.groups = append(h.groups, store.Group{Name: c.Tags[i], Entries: c.Entries[i : i+1]})
		}
		return n, h.grouped.PutGroups(ctx, c.Op.Space, h.groups)
	}
	var sum Result
	for i := range c.Entries {
		vals, err := h.grouped.GetGroup(ctx, c.Op.Space, c.Tags[i], [][]byte{c.Entries[i].Key})
		if err != nil {
			return sum, err
		}
		c.Got = vals[0]
		r := Hits(vals)
		sum.Entries, sum.Misses = sum.Entries+r.Entries, sum.Misses+r.Misses
	}
	return sum, nil
}
