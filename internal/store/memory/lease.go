package memory

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// Hold takes or renews the lease of a namespace.
func (c *Conn) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	if err := c.wait(ctx); err != nil {
		return l, store.Denied, err
	}
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	now, there := c.db.leases[namespace]
	how := store.Taken
	if there && time.Now().Before(now.until) {
		if now.Lease != l {
			return now.Lease, store.Denied, nil
		}
		how = store.Renewed
	}
	c.db.leases[namespace] = held{l, time.Now().Add(ttl)}
	return l, how, nil
}

// Holder returns who has the lease of a namespace.
func (c *Conn) Holder(ctx context.Context, namespace string) (store.Lease, bool, error) {
	if err := c.wait(ctx); err != nil {
		return store.Lease{}, false, err
	}
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	now, there := c.db.leases[namespace]
	return now.Lease, there && time.Now().Before(now.until), nil
}

// Swap replaces the lease old.
func (c *Conn) Swap(ctx context.Context, namespace string, old, l store.Lease, ttl time.Duration) (bool, error) {
	if err := c.wait(ctx); err != nil {
		return false, err
	}
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	if now, there := c.db.leases[namespace]; !there || now.Lease != old {
		return false, nil
	}
	c.db.leases[namespace] = held{l, time.Now().Add(ttl)}
	return true, nil
}

// Free gives up the lease.
func (c *Conn) Free(ctx context.Context, namespace string, l store.Lease) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	if c.db.leases[namespace].Lease == l {
		delete(c.db.leases, namespace)
	}
	return nil
}
