package oncoherence

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	entries []store.Entry
	keys    [][]byte
	packed  []byte
	fields  [][]byte
	old     []byte
}

// Close does nothing: the session is shared.
func (k *client) Close() {}

// Do carries out a call.
func (k *client) Do(ctx context.Context, c *model.Call) error {
	s := &k.sets[c.Set]
	switch c.Do {
	case model.Get:
		return k.get(ctx, s, c)
	case model.Put, model.Insert:
		return k.put(ctx, s, c)
	}
	for i := range c.Rows {
		if err := k.row(ctx, s, c, &c.Rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// row carries out a call on one record.
func (k *client) row(ctx context.Context, s *set, c *model.Call, row *model.Row) (err error) {
	switch c.Do {
	case model.Delete:
		row.Found, err = k.maps.Remove(ctx, s.space, row.Key)
	case model.Add:
		row.Found = true
		err = k.replace(ctx, s, row, func(old []byte) ([]byte, error) {
			n := int64(0)
			if old != nil {
				var err error
				if n, err = strconv.ParseInt(string(old), 10, 64); err != nil {
					return nil, fmt.Errorf("a counter of %s is not a number: %w", s.Name, err)
				}
			}
			c.N = n + c.By
			return strconv.AppendInt(k.packed[:0], c.N, 10), nil
		})
	case model.Update:
		err = k.replace(ctx, s, row, func(old []byte) ([]byte, error) {
			if row.Found = old != nil; !row.Found {
				return nil, nil
			}
			k.fields = unpack(k.fields[:0], old)
			for i, val := range row.Vals {
				f := i
				if c.Fields != nil {
					f = c.Fields[i]
				}
				if f < len(k.fields) {
					k.fields[f] = val
				}
			}
			return pack(k.packed[:0], k.fields), nil
		})
	}
	return err
}

// replace replaces an entry by what change makes of it, where nil stands for one that is not
// there, and nil from change for nothing to be done. The server replaces it only if it still
// is what was read; if it is not, it is read again. Some client is successful each time, so
// that it comes to an end.
func (k *client) replace(ctx context.Context, s *set, row *model.Row, change func(old []byte) ([]byte, error)) error {
	for {
		old, found, err := k.maps.Get(ctx, s.space, row.Key, k.old[:0])
		if err != nil {
			return err
		}
		if k.old = old; !found {
			old = nil
		} else if old == nil {
			old = []byte{}
		}
		val, err := change(old)
		if err != nil || val == nil {
			return err
		}
		k.packed = val
		done, err := k.maps.Swap(ctx, s.space, row.Key, old, val)
		if err != nil || done {
			return err
		}
	}
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
		c.Rows[i].Found = true
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
		k.take(s, c, &c.Rows[0], val, found && err == nil)
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
		k.take(s, c, &c.Rows[i], vals[i], vals[i] != nil)
	}
	return nil
}

// take makes what was read the values of a row.
func (k *client) take(s *set, c *model.Call, row *model.Row, val []byte, found bool) {
	row.Vals, row.Found = row.Vals[:0], found
	switch {
	case !found:
	case s.Type != model.Hash:
		row.Vals = append(row.Vals, val)
	case c.Fields == nil:
		row.Vals = unpack(row.Vals, val)
	default:
		k.fields = unpack(k.fields[:0], val)
		for _, f := range c.Fields {
			if f < len(k.fields) {
				row.Vals = append(row.Vals, k.fields[f])
			}
		}
	}
}
