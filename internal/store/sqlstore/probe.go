package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// probeKey is a key that no profile uses.
const probeKey = "\x00perfbench-probe"

// Probe reports whether the server would accept a run's writes to s: it creates and
// drops a table of our own and, if the table of the space exists, writes a row and
// rolls that back. It selects the database as Record does.
func (c *Conn) Probe(ctx context.Context, s store.Space) error {
	t, err := c.tableOf(s)
	if err != nil {
		return err
	}
	if err := c.EnsureDatabase(ctx, s.Namespace); err != nil {
		return err
	}
	made, err := c.table(madeName(s.Namespace), false)
	if err != nil {
		return err
	}
	there, err := c.exists(ctx, t)
	if err != nil {
		return c.refusal(ctx, err)
	}
	recorded, err := c.exists(ctx, made)
	if err != nil {
		return c.refusal(ctx, err)
	}
	if there {
		if !c.fits(ctx, t) {
			return fault.Store(fmt.Errorf("%s: %s: the table %s has other columns than ours", c.d.Dialect, c.where(), t.key.name),
				"use another --namespace")
		}
		if err := c.tryRow(ctx, t); err != nil {
			return c.refusal(ctx, err)
		}
	}
	if there && recorded {
		return nil
	}
	return c.refusal(ctx, c.tryTable(ctx, s.Namespace))
}

// tryRow writes a row and rolls that back.
func (c *Conn) tryRow(ctx context.Context, t *table) error {
	args := []any{[]byte(probeKey), []byte{}}
	if t.key.grouped {
		args = []any{[]byte{}, []byte(probeKey), []byte{}}
	}
	tx, err := c.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, t.set, args...)
	return wrap("write", t, errors.Join(err, tx.Rollback()))
}

// tryTable creates a table of our own, uses it, and drops it.
func (c *Conn) tryTable(ctx context.Context, namespace string) (err error) {
	t, err := c.table(probeName(namespace), false)
	if err != nil {
		return err
	}
	if err := c.create(ctx, t); err != nil {
		return err
	}
	defer func() {
		c.forget(t)
		_, e := c.sql.ExecContext(context.WithoutCancel(ctx), t.drop)
		err = errors.Join(err, wrap("drop", t, e))
	}()
	if _, err := c.sql.ExecContext(ctx, t.set, []byte(probeKey), []byte{}); err != nil {
		return wrap("write", t, err)
	}
	var v []byte
	return wrap("read", t, c.sql.QueryRowContext(ctx, t.get, []byte(probeKey)).Scan(&v))
}

// Answer runs the smallest possible statement.
func (c *Conn) Answer(ctx context.Context) error {
	var one int
	return c.sql.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}
