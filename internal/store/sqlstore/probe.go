package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Prober tries whether the server would accept the writes of a run.
type Prober struct {
	tables *tables
	choice *choice
}

// Probe reports whether the server would accept a run's writes to s: it creates and
// drops a table of a drawn name and, if the table of the space exists, writes a row of a
// drawn key and rolls that back. It selects the database as Record does.
func (p *Prober) Probe(ctx context.Context, s store.Space) error {
	if s.Name == "" {
		if err := p.choice.ensure(ctx, s.Namespace); err != nil {
			return err
		}
		return p.tables.server.refusal(ctx, p.tryTable(ctx, s.Namespace))
	}
	t, err := p.tables.tableOf(s)
	if err != nil {
		return err
	}
	if err := p.choice.ensure(ctx, s.Namespace); err != nil {
		return err
	}
	made, err := p.tables.table(madeName(s.Namespace), false)
	if err != nil {
		return err
	}
	there, err := p.tables.exists(ctx, t)
	if err != nil {
		return p.tables.server.refusal(ctx, err)
	}
	recorded, err := p.tables.exists(ctx, made)
	if err != nil {
		return p.tables.server.refusal(ctx, err)
	}
	if there {
		if !p.tables.fits(ctx, t) {
			return fault.Store(fmt.Errorf("%s: %s: the table %s has other columns than ours", p.tables.d.Dialect, p.tables.server.where(), t.key.name),
				"use another --namespace")
		}
		if err := p.tryRow(ctx, t); err != nil {
			return p.tables.server.refusal(ctx, err)
		}
	}
	if there && recorded {
		return nil
	}
	return p.tables.server.refusal(ctx, p.tryTable(ctx, s.Namespace))
}

// tryRow writes a row and rolls that back; where a table knows no rollback, the row has
// been deleted before.
func (p *Prober) tryRow(ctx context.Context, t *table) error {
	key := []byte(store.Unlikely())
	args := []any{key, []byte{}}
	if t.key.grouped {
		args = []any{key, key, []byte{}}
	}
	tx, err := p.tables.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, t.set, args...); err == nil {
		_, _ = tx.ExecContext(ctx, t.remove, args[:len(args)-1]...) // the rollback is what counts
	}
	return wrap("write", t, errors.Join(err, tx.Rollback()))
}

// tryTable creates a table of a drawn name, uses it, and drops it.
func (p *Prober) tryTable(ctx context.Context, namespace string) (err error) {
	name := probeName(namespace, p.tables.d.nameLimit)
	t := &table{texts: p.tables.d.texts(name, "k"), key: tableKey{name: name}}
	if _, err := p.tables.db.ExecContext(ctx, t.make); err != nil { // what is there already is not ours to drop
		return wrap("create table", t, err)
	}
	defer func() {
		_, e := p.tables.db.ExecContext(context.WithoutCancel(ctx), t.drop)
		err = errors.Join(err, wrap("drop", t, e))
	}()
	key := []byte(store.Unlikely())
	if _, err := p.tables.db.ExecContext(ctx, t.set, key, []byte{}); err != nil {
		return wrap("write", t, err)
	}
	var v []byte
	return wrap("read", t, p.tables.db.QueryRowContext(ctx, t.get, key).Scan(&v))
}

// Answer runs the smallest possible statement.
func (c *Conn) Answer(ctx context.Context) error {
	var one int
	return c.pool.db.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}
