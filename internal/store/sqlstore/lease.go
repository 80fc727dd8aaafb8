package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqlerror"
)

// leaseKey is the key of the lease among the records of a namespace; no space has this
// key.
var leaseKey = []byte("\x00lease")

// leaseRow is the stored form of the lease. A row can be replaced only by a process
// that has seen its current content, so that of two competitors one fails.
type leaseRow struct {
	store.Lease
	// Until is when it expires, by the server's clock, in Unix milliseconds.
	Until int64 `json:"until"`
	// Beat makes each row differ from the one before.
	Beat int64 `json:"beat"`

	text []byte
}

// Hold takes or renews the lease of a namespace.
func (c *Conn) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	made, err := c.table(madeName(namespace), false)
	if err != nil {
		return l, store.Denied, err
	}
	if err := c.EnsureDatabase(ctx, namespace); err != nil {
		return l, store.Denied, err
	}
	holder, how := l, store.Denied
	err = c.inMade(ctx, made, func() error {
		if !c.fits(ctx, made) {
			return fault.Input(fmt.Errorf("%s: the table %s already exists and has columns other than those of perfbench's records", c.d.Dialect, made.key.name), "use another --namespace")
		}
		for done := false; !done; {
			var err error
			if holder, how, done, err = c.hold(ctx, made, l, ttl); err != nil {
				return err
			}
		}
		return nil
	})
	return holder, how, c.refusal(ctx, wrap("take the lease in", made, err))
}

// hold tries once; done is false if somebody else was faster.
func (c *Conn) hold(ctx context.Context, made *table, l store.Lease, ttl time.Duration) (holder store.Lease, how store.Hold, done bool, err error) {
	var now int64
	if err := c.beside().QueryRowContext(ctx, c.d.now).Scan(&now); err != nil {
		return l, store.Denied, false, err
	}
	old, there, err := c.leaseIn(ctx, made)
	if err != nil {
		return l, store.Denied, false, err
	}
	if there && old.Lease != l && old.Until > now {
		return old.Lease, store.Denied, true, nil
	}
	how = store.Taken
	if there && old.Lease == l {
		how = store.Renewed
	}
	text, err := json.Marshal(leaseRow{Lease: l, Until: now + ttl.Milliseconds(), Beat: time.Now().UnixNano()})
	if err != nil {
		return l, store.Denied, false, err
	}
	name := c.d.Quote(made.key.name)
	var res sql.Result
	if there {
		res, err = c.beside().ExecContext(ctx, "UPDATE "+name+" SET v = "+c.d.Mark(1)+" WHERE k = "+c.d.Mark(2)+" AND v = "+c.d.Mark(3), text, leaseKey, old.text)
	} else {
		res, err = c.beside().ExecContext(ctx, made.insert+c.d.Rows(1, 2), leaseKey, text)
	}
	if err != nil {
		if sqlerror.Classify(err) == store.Conflict && ctx.Err() == nil {
			return l, store.Denied, false, nil
		}
		return l, store.Denied, false, err
	}
	n, err := res.RowsAffected()
	return l, how, n == 1, err
}

// leaseIn reads the lease among the records.
func (c *Conn) leaseIn(ctx context.Context, made *table) (leaseRow, bool, error) {
	var r leaseRow
	err := c.beside().QueryRowContext(ctx, made.get, leaseKey).Scan(&r.text)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if err := json.Unmarshal(r.text, &r); err != nil {
		return r, false, fault.Store(fmt.Errorf("%s: %q in %s is not a lease of perfbench", c.d.Dialect, leaseKey, made.key.name), "use another --namespace")
	}
	return r, true, nil
}

// Holder returns who has the lease of a namespace.
func (c *Conn) Holder(ctx context.Context, namespace string) (store.Lease, bool, error) {
	made, err := c.table(madeName(namespace), false)
	if err != nil {
		return store.Lease{}, false, err
	}
	if chosen, err := c.choose(ctx, namespace, false); !chosen {
		return store.Lease{}, false, err
	}
	r, there, err := c.leaseIn(ctx, made)
	if sqlerror.Absent(err) {
		return store.Lease{}, false, nil
	}
	if !there || err != nil {
		return store.Lease{}, false, wrap("read", made, err)
	}
	var now int64
	err = c.beside().QueryRowContext(ctx, c.d.now).Scan(&now)
	return r.Lease, r.Until > now, wrap("read", made, err)
}

// Free gives up the lease, and removes the table of records if nothing else is in it.
func (c *Conn) Free(ctx context.Context, namespace string, l store.Lease) error {
	made, err := c.table(madeName(namespace), false)
	if err != nil {
		return err
	}
	r, there, err := c.leaseIn(ctx, made)
	if sqlerror.Absent(err) || err == nil && (!there || r.Lease != l) {
		return nil
	}
	var n int64
	if err == nil {
		n, err = c.count(ctx, made)
	}
	switch {
	case err != nil:
	case n == 1:
		c.forget(made)
		_, err = c.beside().ExecContext(ctx, made.drop)
	default:
		_, err = c.beside().ExecContext(ctx, made.remove+" AND v = "+c.d.Mark(2), leaseKey, r.text)
	}
	return wrap("give back the lease in", made, err)
}
