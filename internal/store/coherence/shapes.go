package coherence

import (
	"context"
	"fmt"
	"time"

	client "github.com/oracle/coherence-go-client/v2/coherence"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Maps are the caches that keep the entries of spaces.
type Maps struct{ sessions *sessions }

// none is the result type of calls without a result.
type none struct{}

// fits refuses a value that no message can carry: the client would lose its session
// over it.
func fits(val []byte) error {
	if len(val) > maxValue {
		return fault.Input(fmt.Errorf("a value of %d bytes does not fit into a message of the gRPC proxy", len(val)), fmt.Sprintf("at most %d bytes", maxValue))
	}
	return nil
}

// What is used of the cache of a map, by what it is for.
type (
	reading interface {
		Get(ctx context.Context, key string) (*Value, error)
		GetAll(ctx context.Context, keys []string) <-chan *client.StreamedEntry[string, Value]
		ContainsKey(ctx context.Context, key string) (bool, error)
	}
	writing interface {
		Put(ctx context.Context, key string, v Value) (*Value, error)
		PutWithExpiry(ctx context.Context, key string, v Value, ttl time.Duration) (*Value, error)
		PutAll(ctx context.Context, entries map[string]Value) error
		PutAllWithExpiry(ctx context.Context, entries map[string]Value, ttl time.Duration) error
		Remove(ctx context.Context, key string) (*Value, error)
	}
	swapping interface {
		PutIfAbsent(ctx context.Context, key string, v Value) (*Value, error)
		ReplaceMapping(ctx context.Context, key string, before, v Value) (bool, error)
	}
	counting interface {
		Size(ctx context.Context) (int, error)
	}
)

// on runs f on the cache of a space. M is what f uses of it.
func on[T, M any](ctx context.Context, ss *sessions, what string, s store.Space, f func(ctx context.Context, m M) (T, error)) (T, error) {
	name, err := cacheOf(s)
	if err != nil {
		var zero T
		return zero, err
	}
	return onCache(ctx, ss, what, name, f)
}

// onCache is on for a cache given by name.
func onCache[T, M any](ctx context.Context, ss *sessions, what, name string, f func(ctx context.Context, m M) (T, error)) (T, error) {
	v, err := call(ctx, ss, func(ctx context.Context, l *link) (T, error) {
		m, err := l.cache(name)
		if err != nil {
			var zero T
			return zero, err
		}
		return f(ctx, m.(M))
	})
	return v, wrap(what, name, err)
}

// wrap adds to err what was being done to which cache.
func wrap(what, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, name, err)
}

// Put stores a value and makes the server return the old one.
func (ms *Maps) Put(ctx context.Context, s store.Space, key, val []byte) error {
	return ms.put(ctx, s, textKey(key), val)
}

func (ms *Maps) put(ctx context.Context, s store.Space, key string, val []byte) error {
	if err := fits(val); err != nil {
		return err
	}
	v := bytesOf(val)
	_, err := on(ctx, ms.sessions, "put", s, func(ctx context.Context, m writing) (none, error) {
		_, err := m.Put(ctx, key, v)
		return none{}, err
	})
	return err
}

// Set stores a value without reading the old one, as a putAll of one entry, for which
// the server returns nothing.
func (ms *Maps) Set(ctx context.Context, s store.Space, key, val []byte) error {
	return ms.PutAll(ctx, s, []store.Entry{{Key: key, Val: val}})
}

// PutAll stores entries in one call, or in several if they do not fit into one message.
func (ms *Maps) PutAll(ctx context.Context, s store.Space, es []store.Entry) error {
	return ms.putAll(ctx, s, len(es), func(i int) (string, []byte) { return textKey(es[i].Key), es[i].Val })
}

func (ms *Maps) putAll(ctx context.Context, s store.Space, n int, entry func(i int) (string, []byte)) error {
	return ms.batches(ctx, s, n, entry, func(ctx context.Context, m writing, entries map[string]Value) error { return m.PutAll(ctx, entries) })
}

// Get reads one value into buf.
func (ms *Maps) Get(ctx context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	k := textKey(key)
	v, err := on(ctx, ms.sessions, "get", s, func(ctx context.Context, m reading) (*Value, error) { return m.Get(ctx, k) })
	if err != nil || v == nil {
		return buf[:0], false, err
	}
	return append(buf[:0], *v...), true, nil
}

// GetAll reads the values of keys in one call.
func (ms *Maps) GetAll(ctx context.Context, s store.Space, keys [][]byte) ([][]byte, error) {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = textKey(k)
	}
	return ms.getAll(ctx, s, texts)
}

func (ms *Maps) getAll(ctx context.Context, s store.Space, keys []string) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, ctx.Err()
	}
	got, err := on(ctx, ms.sessions, "get all", s, func(ctx context.Context, m reading) (map[string][]byte, error) { return collect(ctx, m, keys) })
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, k := range keys {
		if v, ok := got[k]; ok {
			out[i] = v
		}
	}
	return out, nil
}

// collect reads the answers of a getAll to their end, as otherwise the client would
// wait for a reader forever.
func collect(ctx context.Context, m reading, keys []string) (map[string][]byte, error) {
	got := make(map[string][]byte, len(keys))
	var first error
	for e := range m.GetAll(ctx, keys) {
		switch {
		case e.Err != nil && first == nil:
			first = e.Err
		case e.Err == nil && e.Value == nil:
			got[e.Key] = []byte{}
		case e.Err == nil:
			got[e.Key] = e.Value
		}
	}
	return got, first
}

// Count returns how many entries a space holds.
func (ms *Maps) Count(ctx context.Context, s store.Space) (int64, error) {
	n, err := on(ctx, ms.sessions, "count", s, func(ctx context.Context, m counting) (int, error) { return m.Size(ctx) })
	return int64(n), err
}

func grouped(s store.Space) store.Space {
	s.Grouped = true
	return s
}

// PutGroup stores one entry in one group and makes the server return the old value.
func (ms *Maps) PutGroup(ctx context.Context, s store.Space, group, key, val []byte) error {
	return ms.put(ctx, grouped(s), groupedKey(group, key), val)
}

// PutGroups stores the entries of several groups in one call.
func (ms *Maps) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	type place struct{ group, entry int }
	var all []place
	for i := range gs {
		for j := range gs[i].Entries {
			all = append(all, place{i, j})
		}
	}
	return ms.putAll(ctx, grouped(s), len(all), func(i int) (string, []byte) {
		g := &gs[all[i].group]
		e := &g.Entries[all[i].entry]
		return groupedKey(g.Name, e.Key), e.Val
	})
}

// GetGroup reads the values of keys in one group.
func (ms *Maps) GetGroup(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = groupedKey(group, k)
	}
	return ms.getAll(ctx, grouped(s), texts)
}
