package coherence

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// PutExpiring stores a value that expires after ttl, and makes the server return the
// old one; ttl 0 means never.
func (ms *Maps) PutExpiring(ctx context.Context, s store.Space, key, val []byte, ttl time.Duration) error {
	if err := fits(val); err != nil {
		return err
	}
	k, v := textKey(key), bytesOf(val)
	_, err := on(ctx, ms.sessions, "put", s, func(ctx context.Context, m writing) (none, error) {
		_, err := m.PutWithExpiry(ctx, k, v, ttl)
		return none{}, err
	})
	return err
}

// PutAllExpiring stores entries that expire after ttl, in as many calls as necessary;
// ttl 0 means never.
func (ms *Maps) PutAllExpiring(ctx context.Context, s store.Space, es []store.Entry, ttl time.Duration) error {
	if ttl == 0 {
		return ms.PutAll(ctx, s, es)
	}
	return ms.batches(ctx, s, len(es), func(i int) (string, []byte) { return textKey(es[i].Key), es[i].Val },
		func(ctx context.Context, m writing, entries map[string]Value) error {
			return m.PutAllWithExpiry(ctx, entries, ttl)
		})
}

// Remove deletes an entry, and reports whether there was one. The server sends its
// value back.
func (ms *Maps) Remove(ctx context.Context, s store.Space, key []byte) (bool, error) {
	k := textKey(key)
	return on(ctx, ms.sessions, "remove", s, func(ctx context.Context, m writing) (bool, error) {
		old, err := m.Remove(ctx, k)
		return old != nil, err
	})
}

// Has reports whether there is an entry, without transferring its value.
func (ms *Maps) Has(ctx context.Context, s store.Space, key []byte) (bool, error) {
	k := textKey(key)
	return on(ctx, ms.sessions, "look for a key in", s, func(ctx context.Context, m reading) (bool, error) { return m.ContainsKey(ctx, k) })
}

// HasGroup reports whether there is an entry in a group, without transferring its
// value.
func (ms *Maps) HasGroup(ctx context.Context, s store.Space, group, key []byte) (bool, error) {
	k := groupedKey(group, key)
	return on(ctx, ms.sessions, "look for a key in", grouped(s), func(ctx context.Context, m reading) (bool, error) { return m.ContainsKey(ctx, k) })
}

// Replace stores a value in a group if the current one equals old, where nil stands for
// none, and reports whether it did. The server compares and stores in one step.
func (ms *Maps) Replace(ctx context.Context, s store.Space, group, key, old, val []byte) (bool, error) {
	return ms.swap(ctx, grouped(s), groupedKey(group, key), old, val)
}

// Swap is Replace of an entry that is in no group.
func (ms *Maps) Swap(ctx context.Context, s store.Space, key, old, val []byte) (bool, error) {
	return ms.swap(ctx, s, textKey(key), old, val)
}

func (ms *Maps) swap(ctx context.Context, s store.Space, key string, old, val []byte) (bool, error) {
	if err := fits(val); err != nil {
		return false, err
	}
	v := bytesOf(val)
	if old == nil {
		return on(ctx, ms.sessions, "put if absent", s, func(ctx context.Context, m swapping) (bool, error) {
			before, err := m.PutIfAbsent(ctx, key, v)
			return before == nil, err
		})
	}
	before := bytesOf(old)
	return on(ctx, ms.sessions, "replace", s, func(ctx context.Context, m swapping) (bool, error) { return m.ReplaceMapping(ctx, key, before, v) })
}
