package memcached

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Records are what was made under each namespace: an item for each, with a JSON object by the
// keys of the spaces.
type Records struct{ *servers }

// Inspect counts the items of a space.
func (r *Records) Inspect(ctx context.Context, s store.Space, _ ...string) (store.Found, error) {
	found := store.Found{}
	err := r.own(ctx, s, func(string) error { found.Size++; return nil })
	if found.Size > 0 {
		found.Exists, found.Kind = true, "items"
	}
	return found, failed("look at", s, err)
}

// texts returns the records of a namespace, and the item that they are in; nil if there is
// none.
func (r *Records) texts(ctx context.Context, namespace string) (map[string]json.RawMessage, *memcache.Item, error) {
	if err := r.open(ctx); err != nil {
		return nil, nil, err
	}
	out := map[string]json.RawMessage{}
	it, err := r.client.Get(own(namespace, "made"))
	if errors.Is(err, memcache.ErrCacheMiss) {
		return out, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("record of what was made: %w", err)
	}
	if json.Unmarshal(it.Value, &out) != nil {
		return nil, nil, store.NotOurs("memcached: "+own(namespace, "made"), "record")
	}
	return out, it, nil
}

// change changes the records of a namespace in one step, again if another was faster.
func (r *Records) change(ctx context.Context, namespace string, f func(map[string]json.RawMessage)) error {
	for {
		texts, it, err := r.texts(ctx, namespace)
		if err != nil {
			return err
		}
		f(texts)
		text, err := json.Marshal(texts)
		if err != nil {
			return err
		}
		switch {
		case it == nil && len(texts) == 0:
			return nil
		case it == nil:
			err = r.client.Add(&memcache.Item{Key: own(namespace, "made"), Value: text})
		default:
			if it.Value = text; len(texts) == 0 {
				it.Expiration = expired
			}
			err = r.client.CompareAndSwap(it)
		}
		if !raced(err) {
			return err
		}
	}
}

// raced reports whether another changed an item since it was read.
func raced(err error) bool {
	return errors.Is(err, memcache.ErrNotStored) || errors.Is(err, memcache.ErrCASConflict) || errors.Is(err, memcache.ErrCacheMiss)
}

// Record records that we made a space.
func (r *Records) Record(ctx context.Context, m store.Made) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("record of %s: %w", m.Name, err)
	}
	return r.change(ctx, m.Namespace, func(all map[string]json.RawMessage) { all[store.RecordKey(m.Space)] = text })
}

// Made lists what is recorded under a namespace, by name.
func (r *Records) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	texts, _, err := r.texts(ctx, namespace)
	if err != nil {
		return nil, err
	}
	all, wrong := store.AppendRecords([]store.Made{}, namespace, texts, store.RecordKey)
	if wrong != "" {
		return nil, store.NotOurs(fmt.Sprintf("memcached: %q in %s", wrong, own(namespace, "made")), "record")
	}
	return all, nil
}

// Drop removes the items of a space recorded as ours, and its record.
func (r *Records) Drop(ctx context.Context, s store.Space, progress func(done int64)) (gone int64, err error) {
	texts, _, err := r.texts(ctx, s.Namespace)
	if err != nil {
		return 0, err
	}
	if _, recorded := texts[store.RecordKey(s)]; !recorded {
		return 0, fault.Input(fmt.Errorf("memcached: %s was not made by perfbench", prefix(nil, s)), "only what perfbench made is deleted")
	}
	err = r.own(ctx, s, func(key string) error {
		err := r.client.Delete(key)
		if errors.Is(err, memcache.ErrCacheMiss) { // evicted meanwhile
			return nil
		}
		if gone++; err == nil && progress != nil {
			progress(gone)
		}
		return err
	})
	if err != nil {
		return gone, failed("delete", s, err)
	}
	return gone, r.change(ctx, s.Namespace, func(all map[string]json.RawMessage) { delete(all, store.RecordKey(s)) })
}
