// Package onmemcached keeps the values of a workload in Memcached: an item for each record.
package onmemcached

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memcached"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is never changed.
type data struct {
	maps   *memcached.Maps
	spaces []store.Space
}

// New returns the data of a workload under a namespace. It changes nothing in the store.
func New(c *memcached.Conn, w *model.Workload, namespace string) *model.Adapter {
	d := &data{maps: c.Maps}
	a := &model.Adapter{Lacks: lacks, Open: func() (model.Client, error) { return &client{data: d}, nil }}
	for i := range w.Data {
		space := store.Space{Namespace: namespace, Name: "mix-" + w.Data[i].Name, Shape: store.Map}
		d.spaces = append(d.spaces, space)
		a.Spaces = append(a.Spaces, ownership.Space{Space: space})
	}
	return a
}

// can is what there is for values; nothing else is kept.
var can = []model.Verb{model.Get, model.Put, model.Insert, model.Modify, model.Delete}

func lacks(op *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case op.Atomic:
		return fault.Hint(errors.New("Memcached has no transactions"), "leave atomic out, or use a database or a single Redis")
	case st.Do == model.Statement:
		return fault.Hint(errors.New("Memcached has no statements"), "use get, put, insert, modify and delete")
	case d == nil:
		return nil
	case d.Type != model.Value:
		return model.Unable("Memcached", st, d, nil)
	case !slices.Contains(can, st.Do):
		return model.Unable("Memcached", st, d, can)
	}
	return nil
}

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	keys [][]byte
}

// Close does nothing: connections are shared.
func (k *client) Close() {}

// Do carries out a call.
func (k *client) Do(ctx context.Context, c *model.Call) (err error) {
	s := k.spaces[c.Set]
	if c.Do == model.Get {
		return k.get(ctx, s, c)
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		if c.Do == model.Delete {
			row.Found, err = k.maps.Remove(ctx, s, row.Key)
		} else {
			err = k.maps.SetExpiring(ctx, s, row.Key, row.Vals[0], time.Duration(c.TTL))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *client) get(ctx context.Context, s store.Space, c *model.Call) error {
	if len(c.Rows) == 1 {
		val, found, err := k.maps.Get(ctx, s, c.Rows[0].Key, c.Buf[:0])
		c.Buf = val
		answer(&c.Rows[0], val, found && err == nil)
		return err
	}
	k.keys = k.keys[:0]
	for i := range c.Rows {
		k.keys = append(k.keys, c.Rows[i].Key)
	}
	vals, err := k.maps.GetAll(ctx, s, k.keys)
	if err != nil {
		return err
	}
	for i := range c.Rows {
		answer(&c.Rows[i], vals[i], vals[i] != nil)
	}
	return nil
}

func answer(row *model.Row, val []byte, found bool) {
	if row.Vals, row.Found = row.Vals[:0], found; found {
		row.Vals = append(row.Vals, val)
	}
}
