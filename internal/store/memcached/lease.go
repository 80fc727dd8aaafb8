package memcached

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/perfbench/perfbench/internal/store"
)

// Leases are who uses each namespace: an item that expires, taken by add, and changed by
// compare-and-swap.
type Leases struct{ *servers }

// expired is the expiration of an item that is gone at once.
const expired = -1

// item returns the item of the lease of a namespace, and the lease; nil if there is none.
func (ls *Leases) item(ctx context.Context, namespace string) (*memcache.Item, store.Lease, error) {
	var l store.Lease
	if err := ls.open(ctx); err != nil {
		return nil, l, err
	}
	it, err := ls.client.Get(own(namespace, "lease"))
	switch {
	case errors.Is(err, memcache.ErrCacheMiss):
		return nil, l, nil
	case err != nil:
		return nil, l, fmt.Errorf("lease of the namespace: %w", err)
	case json.Unmarshal(it.Value, &l) != nil:
		return nil, l, store.NotOurs("memcached: "+own(namespace, "lease"), "lease")
	}
	return it, l, nil
}

// wholeSeconds is a TTL as Memcached has it, rounded up. Its clock may be up to a second ahead.
func wholeSeconds(ttl time.Duration) int32 { return int32(max((ttl+time.Second-1)/time.Second, 1) + 1) }

// Hold takes or renews the lease of a namespace.
func (ls *Leases) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return l, store.Denied, err
	}
	for {
		it, holder, err := ls.item(ctx, namespace)
		if err != nil {
			return l, store.Denied, ls.explain(ctx, err)
		}
		how := store.Taken
		switch {
		case it == nil:
			err = ls.client.Add(&memcache.Item{Key: own(namespace, "lease"), Value: text, Expiration: wholeSeconds(ttl)})
		case holder != l:
			return holder, store.Denied, nil
		default:
			how, it.Expiration = store.Renewed, wholeSeconds(ttl)
			err = ls.client.CompareAndSwap(it)
		}
		if !raced(err) {
			return l, how, ls.explain(ctx, err)
		}
	}
}

// Swap replaces the lease old.
func (ls *Leases) Swap(ctx context.Context, namespace string, old, l store.Lease, ttl time.Duration) (bool, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return false, err
	}
	return ls.ifStill(ctx, namespace, old, text, wholeSeconds(ttl))
}

// ifStill replaces the item of a lease if it is still that one.
func (ls *Leases) ifStill(ctx context.Context, namespace string, l store.Lease, text []byte, expiration int32) (bool, error) {
	for {
		it, holder, err := ls.item(ctx, namespace)
		if err != nil || it == nil || holder != l {
			return false, err
		}
		it.Value, it.Expiration = text, expiration
		if err = ls.client.CompareAndSwap(it); !raced(err) {
			return err == nil, err
		}
	}
}

// Holder returns who has the lease of a namespace.
func (ls *Leases) Holder(ctx context.Context, namespace string) (store.Lease, bool, error) {
	it, l, err := ls.item(ctx, namespace)
	return l, it != nil, err
}

// Free gives up the lease: its item is replaced by one that has expired.
func (ls *Leases) Free(ctx context.Context, namespace string, l store.Lease) error {
	_, err := ls.ifStill(ctx, namespace, l, nil, expired)
	return err
}
