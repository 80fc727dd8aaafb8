package cassandra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// leaseKey is the key of the lease among the records, as a column has it.
var leaseKey = []byte(store.LeaseKey)

// Leases are who uses each namespace, in rows of the tables of records that expire.
type Leases struct {
	cluster *cluster
	tables  *tables
}

// Hold takes or renews the lease of a namespace: a row that expires, written with
// lightweight transactions. Its TTL is in whole seconds.
func (ls *Leases) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	made, err := ls.tables.made(namespace)
	if err != nil {
		return l, store.Denied, err
	}
	if _, err := ls.cluster.EnsureKeyspace(ctx, namespace); err != nil {
		return l, store.Denied, err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return l, store.Denied, fmt.Errorf("lease of %s: %w", namespace, err)
	}
	holder, how := l, store.Denied
	err = ls.tables.inMade(ctx, made, func() (err error) {
		ours, err := ls.tables.exact(ctx, made)
		if err == nil && !ours {
			err = fault.Input(fmt.Errorf("cassandra: the table %s already exists and has columns other than those of perfbench's records", made.name), "use another --namespace")
		}
		if err == nil {
			holder, how, err = ls.hold(ctx, made, l, text, wholeSeconds(ttl))
		}
		return err
	})
	return holder, how, ls.cluster.explain(ctx, wrap("take the lease in", made, err))
}

func (ls *Leases) hold(ctx context.Context, made *table, l store.Lease, text []byte, seconds int) (store.Lease, store.Hold, error) {
	if ls.cluster.unconditional.Load() == nil {
		holder, how, err := ls.holdIf(ctx, made, l, text, seconds)
		if !ls.cluster.refusesConditions(err) {
			return holder, how, err
		}
	}
	return ls.outbid(ctx, made, l, l, seconds)
}

// holdIf takes or renews the lease by conditional writes.
func (ls *Leases) holdIf(ctx context.Context, made *table, l store.Lease, text []byte, seconds int) (store.Lease, store.Hold, error) {
	for {
		now := map[string]any{}
		applied, err := ls.cluster.own.Query("INSERT INTO "+made.full()+" (k, v) VALUES (?, ?) IF NOT EXISTS USING TTL ?", leaseKey, text, seconds).MapScanCASContext(ctx, now)
		if err != nil {
			return l, store.Denied, err
		}
		if applied {
			return l, store.Taken, nil
		}
		was, _ := now["v"].([]byte)
		holder, err := leaseOf(made, was)
		if err != nil || holder != l {
			return holder, store.Denied, err
		}
		applied, err = ls.cluster.own.Query("UPDATE "+made.full()+" USING TTL ? SET v = ? WHERE k = ? IF v = ?", seconds, text, leaseKey, was).MapScanCASContext(ctx, map[string]any{})
		if err != nil {
			return l, store.Denied, err
		}
		if applied {
			return l, store.Renewed, nil
		}
	}
}

// Swap replaces the lease old.
func (ls *Leases) Swap(ctx context.Context, namespace string, old, l store.Lease, ttl time.Duration) (bool, error) {
	made, err := ls.tables.made(namespace)
	if err != nil {
		return false, err
	}
	was, err1 := json.Marshal(old)
	text, err2 := json.Marshal(l)
	if err := errors.Join(err1, err2); err != nil {
		return false, fmt.Errorf("lease of %s: %w", namespace, err)
	}
	applied, refused := false, ls.cluster.unconditional.Load() != nil
	if !refused {
		applied, err = ls.cluster.own.Query("UPDATE "+made.full()+" USING TTL ? SET v = ? WHERE k = ? IF v = ?", wholeSeconds(ttl), text, leaseKey, was).MapScanCASContext(ctx, map[string]any{})
		refused = ls.cluster.refusesConditions(err)
	}
	if refused {
		applied, err = ls.swapBids(ctx, made, old, l, wholeSeconds(ttl))
	}
	if absent(err) {
		return false, nil
	}
	return applied, wrap("pass on the lease in", made, err)
}

// wholeSeconds is a TTL as Cassandra has it, rounded up.
func wholeSeconds(ttl time.Duration) int { return max(int((ttl+time.Second-1)/time.Second), 1) }

func leaseOf(made *table, text []byte) (store.Lease, error) {
	var l store.Lease
	if err := json.Unmarshal(text, &l); err != nil {
		return l, store.NotOurs(fmt.Sprintf("cassandra: %q in %s", leaseKey, made.name), "lease")
	}
	return l, nil
}

// Holder returns who has the lease of a namespace.
func (ls *Leases) Holder(ctx context.Context, namespace string) (store.Lease, bool, error) {
	made, err := ls.tables.made(namespace)
	if err != nil {
		return store.Lease{}, false, err
	}
	text, there, err := read(ctx, ls.cluster.own.Query(made.get, leaseKey), nil)
	if absent(err) {
		return store.Lease{}, false, nil
	}
	if err == nil && !there {
		all, err := ls.bids(ctx, made)
		for _, b := range all {
			if b.Held {
				return b.Lease, true, nil
			}
		}
		return store.Lease{}, false, wrap("read", made, err)
	}
	if err != nil {
		return store.Lease{}, false, wrap("read", made, err)
	}
	l, err := leaseOf(made, text)
	return l, err == nil, err
}

// Free gives up the lease, and removes the table of records if nothing else is in it.
func (ls *Leases) Free(ctx context.Context, namespace string, l store.Lease) error {
	made, err := ls.tables.made(namespace)
	if err != nil {
		return err
	}
	if holder, held, err := ls.Holder(ctx, namespace); err != nil || !held || holder != l {
		return err
	}
	left, err := ls.tables.left(ctx, made)
	switch {
	case err != nil:
	case left == 1:
		err = ls.cluster.own.Query("DROP TABLE IF EXISTS " + made.full()).ExecContext(ctx)
	case ls.cluster.unconditional.Load() != nil:
		err = ls.withdraw(ctx, made, l)
	default:
		var text []byte
		if text, err = json.Marshal(l); err == nil {
			_, err = ls.cluster.own.Query("DELETE FROM "+made.full()+" WHERE k = ? IF v = ?", leaseKey, text).MapScanCASContext(ctx, map[string]any{})
			if ls.cluster.refusesConditions(err) {
				err = ls.withdraw(ctx, made, l)
			}
		}
	}
	return wrap("give back the lease in", made, err)
}
