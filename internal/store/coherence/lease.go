package coherence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// leaseEntry is the stored form of the lease: an entry that expires.
type leaseEntry struct {
	store.Lease
	// Claimed means that the lease has been taken but has no expiry yet: the client can
	// put an entry if there is none, or one that expires, but not both in one step. A
	// process that finds such an entry unchanged after a while takes it over.
	Claimed bool `json:"claimed,omitempty"`
}

// claimLimit is how long an entry may exist without an expiry.
const claimLimit = 2 * time.Second

// Leases are who uses each namespace, in entries of the caches of records that expire.
type Leases struct{ sessions *sessions }

// Hold takes or renews the lease of a namespace.
func (ls *Leases) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	name := madeName(namespace)
	claim, err1 := json.Marshal(leaseEntry{l, true})
	text, err2 := json.Marshal(leaseEntry{Lease: l})
	if err := firstOf(err1, err2); err != nil {
		return l, store.Denied, fmt.Errorf("lease %s: %w", name, err)
	}
	for {
		was, err := ls.leaseText(ctx, name)
		if err != nil {
			return l, store.Denied, err
		}
		how := store.Taken
		switch {
		case was == nil:
			took, err := ls.putLease(ctx, name, nil, claim)
			if err != nil {
				return l, store.Denied, err
			}
			if !took {
				continue
			}
		case bytes.Equal(was, text):
			how = store.Renewed
		case !bytes.Equal(was, claim): // otherwise it is our own, whose second step has failed
			holder, took, err := ls.overtake(ctx, name, was, claim)
			if err != nil || !took {
				return holder, store.Denied, err
			}
		}
		return ls.prolong(ctx, name, l, text, ttl, how)
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Swap replaces the lease old.
func (ls *Leases) Swap(ctx context.Context, namespace string, old, l store.Lease, ttl time.Duration) (bool, error) {
	name := madeName(namespace)
	was, err1 := json.Marshal(leaseEntry{Lease: old})
	claim, err2 := json.Marshal(leaseEntry{l, true})
	text, err3 := json.Marshal(leaseEntry{Lease: l})
	if err := firstOf(err1, err2, err3); err != nil {
		return false, fmt.Errorf("lease %s: %w", name, err)
	}
	took, err := ls.putLease(ctx, name, was, claim)
	if err != nil || !took {
		return false, err
	}
	_, how, err := ls.prolong(ctx, name, l, text, ttl, store.Renewed)
	return how != store.Denied, err
}

// prolong gives the lease its expiry. If somebody else has taken it in the meantime,
// which requires that we paused for as long as claimLimit, they keep it.
func (ls *Leases) prolong(ctx context.Context, name string, l store.Lease, text []byte, ttl time.Duration, how store.Hold) (store.Lease, store.Hold, error) {
	before, err := ls.expireLease(ctx, name, text, ttl)
	if err != nil {
		return l, store.Denied, err
	}
	if before == nil {
		return l, store.Taken, nil
	}
	was, err := leaseOf(name, before)
	if err != nil || was.Lease == l {
		return l, how, err
	}
	_, err = ls.expireLease(ctx, name, before, ttl)
	return was.Lease, store.Denied, err
}

// overtake takes over an entry that has been without an expiry for too long, and
// otherwise returns its holder.
func (ls *Leases) overtake(ctx context.Context, name string, was, claim []byte) (store.Lease, bool, error) {
	old, err := leaseOf(name, was)
	if err != nil || !old.Claimed {
		return old.Lease, false, err
	}
	select {
	case <-ctx.Done():
		return old.Lease, false, ctx.Err()
	case <-time.After(claimLimit):
	}
	took, err := ls.putLease(ctx, name, was, claim)
	return old.Lease, took, err
}

// leaseCache is what is used of the cache that holds a lease.
type leaseCache interface {
	Get(ctx context.Context, key string) (*Value, error)
	PutIfAbsent(ctx context.Context, key string, v Value) (*Value, error)
	PutWithExpiry(ctx context.Context, key string, v Value, ttl time.Duration) (*Value, error)
	ReplaceMapping(ctx context.Context, key string, before, v Value) (bool, error)
	RemoveMapping(ctx context.Context, key string, v Value) (bool, error)
}

// leaseText reads the entry, nil if there is none.
func (ls *Leases) leaseText(ctx context.Context, name string) ([]byte, error) {
	return onCache(ctx, ls.sessions, "read the lease in", name, func(ctx context.Context, m leaseCache) ([]byte, error) {
		v, err := m.Get(ctx, store.LeaseKey)
		if err != nil || v == nil {
			return nil, err
		}
		return *v, nil
	})
}

// putLease stores the entry if the current one equals old; nil stands for none.
func (ls *Leases) putLease(ctx context.Context, name string, old, text []byte) (bool, error) {
	return onCache(ctx, ls.sessions, "take the lease in", name, func(ctx context.Context, m leaseCache) (bool, error) {
		if old == nil {
			before, err := m.PutIfAbsent(ctx, store.LeaseKey, text)
			return before == nil, err
		}
		return m.ReplaceMapping(ctx, store.LeaseKey, old, text)
	})
}

// expireLease stores the entry with an expiry, and returns the previous one.
func (ls *Leases) expireLease(ctx context.Context, name string, text []byte, ttl time.Duration) ([]byte, error) {
	return onCache(ctx, ls.sessions, "renew the lease in", name, func(ctx context.Context, m leaseCache) ([]byte, error) {
		v, err := m.PutWithExpiry(ctx, store.LeaseKey, text, ttl)
		if err != nil || v == nil {
			return nil, err
		}
		return *v, nil
	})
}

func leaseOf(name string, text []byte) (leaseEntry, error) {
	var e leaseEntry
	if err := json.Unmarshal(text, &e); err != nil {
		return e, store.NotOurs(fmt.Sprintf("coherence: %q in %s", store.LeaseKey, name), "lease")
	}
	return e, nil
}

// Holder returns who has the lease of a namespace.
func (ls *Leases) Holder(ctx context.Context, namespace string) (store.Lease, bool, error) {
	name := madeName(namespace)
	text, err := ls.leaseText(ctx, name)
	if text == nil || err != nil {
		return store.Lease{}, false, err
	}
	e, err := leaseOf(name, text)
	return e.Lease, err == nil, err
}

// Free gives up the lease. The cache of records stays, empty, as all caches do.
func (ls *Leases) Free(ctx context.Context, namespace string, l store.Lease) error {
	text, err := json.Marshal(leaseEntry{Lease: l})
	if err != nil {
		return fmt.Errorf("lease of %s: %w", namespace, err)
	}
	_, err = onCache(ctx, ls.sessions, "give back the lease in", madeName(namespace), func(ctx context.Context, m leaseCache) (bool, error) {
		return m.RemoveMapping(ctx, store.LeaseKey, text)
	})
	return err
}
