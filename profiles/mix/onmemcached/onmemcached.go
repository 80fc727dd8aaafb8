// Package onmemcached keeps the values and counters of a workload in Memcached: an item for each
// record.
package onmemcached

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	// counts says of each data set whether it has counters.
	counts []bool
}

// New returns the data of a workload under a namespace. It changes nothing in the store.
func New(c *memcached.Conn, w *model.Workload, namespace string) *model.Adapter {
	d := &data{maps: c.Maps}
	a := &model.Adapter{Lacks: lacks, Open: func() (model.Client, error) { return &client{data: d}, nil }}
	for i := range w.Data {
		space := store.Space{Namespace: namespace, Name: "mix-" + w.Data[i].Name, Shape: store.Map}
		d.spaces, d.counts = append(d.spaces, space), append(d.counts, w.Data[i].Type == model.Counter)
		a.Spaces = append(a.Spaces, ownership.Space{Space: space})
	}
	return a
}

// can are the verbs for each type that is kept.
var can = map[model.Type][]model.Verb{
	model.Value:   {model.Get, model.Put, model.Insert, model.Modify, model.Delete},
	model.Counter: {model.Get, model.Put, model.Insert, model.Add, model.Delete},
}

func lacks(op *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case op.Atomic:
		return fault.Hint(errors.New("Memcached has no transactions"), "leave atomic out, or use a database or a single Redis")
	case st.Do == model.Statement:
		return fault.Hint(errors.New("Memcached has no statements"), "use get, put, insert, modify and delete")
	case d == nil:
		return nil
	case d.Type == model.Hash:
		return fault.Hint(errors.New("an item of Memcached has one value, and no fields"), "leave fields out of "+d.Name+", or use redis:// or embedded:")
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable("Memcached", st, d, can[d.Type])
	}
	return nil
}

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	keys [][]byte
	num  []byte
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
		switch c.Do {
		case model.Delete:
			row.Found, err = k.maps.Remove(ctx, s, row.Key)
		case model.Add:
			var n uint64
			n, err = k.maps.Increment(ctx, s, row.Key, c.By, zero)
			c.N = int64(n - zero)
		default:
			err = k.maps.SetExpiring(ctx, s, row.Key, k.stored(c.Set, row.Vals[0]), time.Duration(c.TTL))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// zero is what a counter of 0 is stored as, since the server's numbers do not go below theirs.
// All that lie near it have 19 digits: the server would leave blanks where there were more.
const zero = 1 << 62

// stored is a value as the server has it.
func (k *client) stored(set int, val []byte) []byte {
	if !k.counts[set] {
		return val
	}
	n, _ := strconv.ParseInt(string(val), 10, 64) // of ours
	k.num = strconv.AppendUint(k.num[:0], uint64(n)+zero, 10)
	return k.num
}

// read is a value as the server has it, turned back in its place.
func (k *client) read(set int, val []byte) ([]byte, error) {
	if !k.counts[set] {
		return val, nil
	}
	n, err := strconv.ParseUint(string(bytes.TrimRight(val, " ")), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("a counter of %s: %w", k.spaces[set].Name, err)
	}
	return strconv.AppendInt(val[:0], int64(n-zero), 10), nil
}

func (k *client) get(ctx context.Context, s store.Space, c *model.Call) error {
	if len(c.Rows) == 1 {
		val, found, err := k.maps.Get(ctx, s, c.Rows[0].Key, c.Buf[:0])
		if err == nil && found {
			val, err = k.read(c.Set, val)
		}
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
		val, found := vals[i], vals[i] != nil
		if found {
			if val, err = k.read(c.Set, val); err != nil {
				return err
			}
		}
		answer(&c.Rows[i], val, found)
	}
	return nil
}

func answer(row *model.Row, val []byte, found bool) {
	if row.Vals, row.Found = row.Vals[:0], found; found {
		row.Vals = append(row.Vals, val)
	}
}
