package tx

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// database runs the profile's statements on a SQL store. It is safe for use by several goroutines.
type database struct {
	conn    sqlstore.Typed
	db      *sql.DB
	dialect sqltext.Dialect
	// conflicts counts transactions that the database undid and that were repeated.
	conflicts atomic.Int64
	// extra counts statements beside those of transactions.
	extra atomic.Int64
}

func newDatabase(c sqlstore.Typed) *database {
	return &database{conn: c, db: c.SQL(), dialect: c.Dialect()}
}

// lost is the attempts of one client that the database undid, by how long each took.
type lost []time.Duration

// within runs f in a transaction, again when the database undid it for the sake of
// another one: what that cost is noted in l, which may be nil.
func (d *database) within(ctx context.Context, l *lost, f func(tx *sql.Tx) error) error {
	undone := func(took time.Duration) { d.undone(l, took) }
	return sqlstore.Retry(ctx, d.conn, undone, func() error { return sqlstore.Transact(ctx, d.db, f) })
}

func (d *database) undone(l *lost, took time.Duration) {
	d.conflicts.Add(1)
	if l != nil {
		*l = append(*l, took)
	}
}

// affected runs a statement and tells how many rows it changed.
func affected(ctx context.Context, tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, text string, args ...any,
) (int64, error) {
	r, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// each calls f for every row of a query.
func (d *database) each(ctx context.Context, text string, args []any, f func(scan func(...any) error) error) error {
	rows, err := d.db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err tells what matters
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
