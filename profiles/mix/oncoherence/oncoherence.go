// Package oncoherence keeps the data of a workload in Coherence: a cache for each data set,
// with an entry for each record.
package oncoherence

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is never changed.
type data struct {
	maps *coherence.Maps
	sets []set
}

// set is a data set and its cache.
type set struct {
	*model.Data
	space store.Space
}

// New returns the data of a workload under a namespace. It changes nothing in the store.
func New(c *coherence.Conn, w *model.Workload, namespace string) *model.Adapter {
	d := &data{maps: c.Maps}
	a := &model.Adapter{Lacks: lacks, Open: func() (model.Client, error) { return &client{data: d}, nil }}
	for i := range w.Data {
		space := store.Space{Namespace: namespace, Name: "mix-" + w.Data[i].Name, Shape: store.Map}
		d.sets = append(d.sets, set{&w.Data[i], space})
		a.Spaces = append(a.Spaces, ownership.Space{Space: space})
	}
	return a
}

// can are the verbs for each type.
var can = map[model.Type][]model.Verb{
	model.Value: {model.Get, model.Put, model.Insert, model.Modify, model.Delete},
	model.Hash:  {model.Get, model.Put, model.Insert, model.Modify, model.Delete},
}

func lacks(op *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case op.Atomic:
		return fault.Hint(errors.New("Coherence has no transactions over several entries"), "leave atomic out, or use a database or a single Redis")
	case st.Do == model.Statement:
		return fault.Hint(errors.New("Coherence has no statements"), "use get, put, insert, modify and delete")
	case d == nil:
		return nil
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable("Coherence", st, d, can[d.Type])
	case st.Do == model.Modify && d.Type == model.Hash && (st.Fields > 0 || len(st.Names) > 0):
		return fault.Hint(errors.New("an entry of Coherence is written as a whole"), "leave fields out")
	}
	return nil
}

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	entries []store.Entry
	keys    [][]byte
	packed  []byte
}

// Close does nothing: the session is shared.
func (k *client) Close() {}

// Do carries out a call.
func (k *client) Do(ctx context.Context, c *model.Call) error {
	s := &k.sets[c.Set]
	switch c.Do {
	case model.Get:
		return k.get(ctx, s, c)
	case model.Delete:
		for i := range c.Rows {
			var err error
			if c.Rows[i].Found, err = k.maps.Remove(ctx, s.space, c.Rows[i].Key); err != nil {
				return err
			}
		}
		return nil
	}
	return k.put(ctx, s, c)
}

func (k *client) put(ctx context.Context, s *set, c *model.Call) error {
	k.entries, k.packed = k.entries[:0], k.packed[:0]
	for i := range c.Rows {
		val := c.Rows[i].Vals[0]
		if s.Type == model.Hash {
			from := len(k.packed)
			k.packed = pack(k.packed, c.Rows[i].Vals)
			val = k.packed[from:len(k.packed):len(k.packed)]
		}
		k.entries = append(k.entries, store.Entry{Key: c.Rows[i].Key, Val: val})
	}
	return k.maps.PutAllExpiring(ctx, s.space, k.entries, time.Duration(c.TTL))
}

// pack appends the fields of a record, each after its length.
func pack(dst []byte, vals [][]byte) []byte {
	for _, val := range vals {
		dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(val))), val...)
	}
	return dst
}

// unpack returns the fields of a record; fewer if it has been cut.
func unpack(dst [][]byte, packed []byte) [][]byte {
	for len(packed) >= 4 {
		n := int(binary.BigEndian.Uint32(packed))
		if packed = packed[4:]; n > len(packed) {
			break
		}
		dst, packed = append(dst, packed[:n:n]), packed[n:]
	}
	return dst
}

func (k *client) get(ctx context.Context, s *set, c *model.Call) error {
	if len(c.Rows) == 1 {
		val, found, err := k.maps.Get(ctx, s.space, c.Rows[0].Key, c.Buf[:0])
		c.Buf = val
		s.take(c, &c.Rows[0], val, found && err == nil)
		return err
	}
	k.keys = k.keys[:0]
	for i := range c.Rows {
		k.keys = append(k.keys, c.Rows[i].Key)
	}
	vals, err := k.maps.GetAll(ctx, s.space, k.keys)
	if err != nil {
		return err
	}
	for i := range c.Rows {
		s.take(c, &c.Rows[i], vals[i], vals[i] != nil)
	}
	return nil
}

// take makes what was read the values of a row.
func (s *set) take(c *model.Call, row *model.Row, val []byte, found bool) {
	row.Vals, row.Found = row.Vals[:0], found
	switch {
	case !found:
	case s.Type != model.Hash:
		row.Vals = append(row.Vals, val)
	case c.Fields == nil:
		row.Vals = unpack(row.Vals, val)
	default:
		all := unpack(nil, val)
		for _, f := range c.Fields {
			if f < len(all) {
				row.Vals = append(row.Vals, all[f])
			}
		}
	}
}
