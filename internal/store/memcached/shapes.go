package memcached

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Maps are the items that keep the entries of spaces.
type Maps struct{ *servers }

// failed adds to err what was being done to which space.
func failed(what string, s store.Space, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, s.Name, err)
}

// put reads the item of a key and then replaces it: two commands, since no single one does
// both.
func (m *Maps) put(key string, val []byte) error {
	if _, err := m.client.Get(key); err != nil && !errors.Is(err, memcache.ErrCacheMiss) {
		return err
	}
	return m.client.Set(&memcache.Item{Key: key, Value: val})
}

// Put stores one entry, having read the one in its place.
func (m *Maps) Put(ctx context.Context, s store.Space, key, val []byte) error {
	if err := m.open(ctx); err != nil {
		return failed("put", s, err)
	}
	return failed("put", s, m.put(keyOf(s, nil, key), val))
}

// Set stores one entry.
func (m *Maps) Set(ctx context.Context, s store.Space, key, val []byte) error {
	if err := m.open(ctx); err != nil {
		return failed("set", s, err)
	}
	return failed("set", s, m.client.Set(&memcache.Item{Key: keyOf(s, nil, key), Value: val}))
}

// PutAll stores entries with a set for each, several at a time.
func (m *Maps) PutAll(ctx context.Context, s store.Space, es []store.Entry) error {
	if err := m.open(ctx); err != nil {
		return failed("put all", s, err)
	}
	return failed("put all", s, store.Each(ctx, len(es), func(_ context.Context, i int) error {
		return m.client.Set(&memcache.Item{Key: keyOf(s, nil, es[i].Key), Value: es[i].Val})
	}))
}

// SetExpiring stores one entry that expires after ttl, rounded up to a whole second; 0: never.
func (m *Maps) SetExpiring(ctx context.Context, s store.Space, key, val []byte, ttl time.Duration) error {
	if err := m.open(ctx); err != nil {
		return failed("set", s, err)
	}
	return failed("set", s, m.client.Set(&memcache.Item{Key: keyOf(s, nil, key), Value: val, Expiration: expiration(ttl, time.Now())}))
}

// Increment adds to the counter of a key, which may be less than nothing, and returns what it is
// then. One that is not there begins with start. The server knows no number below 0.
func (m *Maps) Increment(ctx context.Context, s store.Space, key []byte, by int64, start uint64) (n uint64, err error) {
	if err := m.open(ctx); err != nil {
		return 0, failed("increment", s, err)
	}
	name := keyOf(s, nil, key)
	for ctx.Err() == nil {
		if by < 0 {
			n, err = m.client.Decrement(name, -uint64(by))
		} else {
			n, err = m.client.Increment(name, uint64(by))
		}
		if !errors.Is(err, memcache.ErrCacheMiss) {
			return n, failed("increment", s, err)
		}
		n = start + uint64(by)
		err = m.client.Add(&memcache.Item{Key: name, Value: strconv.AppendUint(nil, n, 10)})
		if !errors.Is(err, memcache.ErrNotStored) { // else another has made it meanwhile
			return n, failed("increment", s, err)
		}
	}
	return 0, failed("increment", s, ctx.Err())
}

// longest is the longest time that the server takes for one; what is longer is a moment.
const longest = 30 * 24 * time.Hour

// expiration is how a time to live is said to the server.
func expiration(ttl time.Duration, now time.Time) int32 {
	switch {
	case ttl <= 0:
		return 0
	case ttl > longest:
		return int32(min(now.Add(ttl).Unix(), math.MaxInt32))
	}
	return int32((ttl + time.Second - 1) / time.Second)
}

// Remove removes one entry, and reports whether it was there.
func (m *Maps) Remove(ctx context.Context, s store.Space, key []byte) (bool, error) {
	if err := m.open(ctx); err != nil {
		return false, failed("remove", s, err)
	}
	err := m.client.Delete(keyOf(s, nil, key))
	if errors.Is(err, memcache.ErrCacheMiss) {
		return false, nil
	}
	return err == nil, failed("remove", s, err)
}

// Get reads one value. The client makes room for each, so that buf is not needed.
func (m *Maps) Get(ctx context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	if err := m.open(ctx); err != nil {
		return buf[:0], false, failed("get", s, err)
	}
	item, err := m.client.Get(keyOf(s, nil, key))
	switch {
	case errors.Is(err, memcache.ErrCacheMiss):
		return buf[:0], false, nil
	case err != nil:
		return buf[:0], false, failed("get", s, err)
	}
	return item.Value, true, nil
}

// GetAll reads the values of keys with one command to each server.
func (m *Maps) GetAll(ctx context.Context, s store.Space, keys [][]byte) ([][]byte, error) {
	return m.getAll(ctx, s, nil, keys)
}

func (m *Maps) getAll(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	if err := m.open(ctx); err != nil {
		return nil, failed("get all", s, err)
	}
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = keyOf(s, group, k)
	}
	items, err := m.client.GetMulti(names)
	if err != nil {
		return nil, failed("get all", s, err)
	}
	out := make([][]byte, len(keys))
	for i, name := range names {
		if it := items[name]; it != nil {
			out[i] = append([]byte{}, it.Value...)
		}
	}
	return out, nil
}

// PutGroup stores one entry of a group, as Put does.
func (m *Maps) PutGroup(ctx context.Context, s store.Space, group, key, val []byte) error {
	if err := m.open(ctx); err != nil {
		return failed("put", s, err)
	}
	s.Grouped = true
	return failed("put", s, m.put(keyOf(s, group, key), val))
}

// PutGroups stores the entries of several groups with a set for each, several at a time.
func (m *Maps) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	if err := m.open(ctx); err != nil {
		return failed("put groups", s, err)
	}
	s.Grouped = true
	var all []*memcache.Item
	for _, g := range gs {
		for _, e := range g.Entries {
			all = append(all, &memcache.Item{Key: keyOf(s, g.Name, e.Key), Value: e.Val})
		}
	}
	return failed("put groups", s, store.Each(ctx, len(all), func(_ context.Context, i int) error { return m.client.Set(all[i]) }))
}

// GetGroup reads the values of keys in one group.
func (m *Maps) GetGroup(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	s.Grouped = true
	return m.getAll(ctx, s, group, keys)
}

// Count lists the keys of the servers and counts those of a space.
func (m *Maps) Count(ctx context.Context, s store.Space) (n int64, err error) {
	err = m.own(ctx, s, func(string) error { n++; return nil })
	return n, failed("count", s, err)
}

// own calls f with the keys of a space.
func (v *servers) own(ctx context.Context, s store.Space, f func(key string) error) error {
	if err := v.open(ctx); err != nil {
		return err
	}
	begin := string(prefix(nil, s))
	return v.keys(ctx, begin, func(key string) error {
		if !belongs(s, key[len(begin):]) {
			return nil
		}
		return f(key)
	})
}

// Probe stores an item of a drawn name, reads and removes it.
func (m *Maps) Probe(ctx context.Context, s store.Space) error {
	tiny := store.Space{Namespace: s.Namespace, Name: "_probe " + store.Unlikely(), Shape: store.Map}
	k, v := []byte("k"), []byte("v")
	err := m.Put(ctx, tiny, k, v)
	if err == nil {
		var there bool
		if _, there, err = m.Get(ctx, tiny, k, nil); err == nil && !there {
			return fault.Store(errors.New("memcached: what was written is gone at once"), "give the server more memory (-m)")
		}
		err = errors.Join(err, m.client.Delete(keyOf(tiny, nil, k)))
	}
	return m.explain(ctx, err)
}
