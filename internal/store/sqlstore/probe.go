package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Probe reports whether the server would accept a run's writes to s: it creates and
// drops a table of a drawn name and, if the table of the space exists, writes a row of a
// drawn key and rolls that back. It selects the database as Record does.
func (c *Conn) Probe(ctx context.Context, s store.Space) error {
	if s.Name == "" {
		if err := c.EnsureDatabase(ctx, s.Namespace); err != nil {
			return err
		}
		return c.refusal(ctx, c.tryTable(ctx, s.Namespace))
	}
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

// tryRow writes a row and rolls that back; where a table knows no rollback, the row has
// been deleted before.
func (c *Conn) tryRow(ctx context.Context, t *table) error {
	key := []byte(store.Unlikely())
	args := []any{key, []byte{}}
	if t.key.grouped {
		args = []any{key, key, []byte{}}
	}
	tx, err := c.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, t.set, args...); err == nil {
		_, _ = tx.ExecContext(ctx, t.remove, args[:len(args)-1]...) // the rollback is what counts
	}
	return wrap("write", t, errors.Join(err, tx.Rollback()))
}

// tryTable creates a table of a drawn name, uses it, and drops it.
func (c *Conn) tryTable(ctx context.Context, namespace string) (err error) {
	name := probeName(namespace, c.d.nameLimit)
	t := &table{texts: c.d.texts(name, "k"), key: tableKey{name: name}}
	if _, err := c.sql.ExecContext(ctx, t.make); err != nil { // what is there already is not ours to drop
		return wrap("create table", t, err)
	}
	defer func() {
		_, e := c.sql.ExecContext(context.WithoutCancel(ctx), t.drop)
		err = errors.Join(err, wrap("drop", t, e))
	}()
	key := []byte(store.Unlikely())
	if _, err := c.sql.ExecContext(ctx, t.set, key, []byte{}); err != nil {
		return wrap("write", t, err)
	}
	var v []byte
	return wrap("read", t, c.sql.QueryRowContext(ctx, t.get, key).Scan(&v))
}

// Answer runs the smallest possible statement.
func (c *Conn) Answer(ctx context.Context) error {
	var one int
	return c.sql.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}
