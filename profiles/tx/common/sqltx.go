package common

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// Database runs statements on an SQL store. Several goroutines may use it.
type Database struct {
	// Conn is the connection, DB its pool.
	Conn    sqlstore.Typed
	DB      *sql.DB
	Dialect sqltext.Dialect
	// Conflicts counts transactions that the database rolled back and that were
	// repeated.
	Conflicts atomic.Int64
	// Extra counts statements outside transactions.
	Extra atomic.Int64
}

// New returns the database of a connection.
func New(c sqlstore.Typed) *Database {
	return &Database{Conn: c, DB: c.SQL(), Dialect: c.Dialect()}
}

// Lost are one client's attempts that the database rolled back, with the duration of
// each.
type Lost []time.Duration

// Within runs f in a transaction, again if the database rolled it back because of
// another one; the duration of such attempts is added to l, which may be nil.
func (d *Database) Within(ctx context.Context, l *Lost, f func(tx *sql.Tx) error) error {
	undone := func(took time.Duration) { d.CountUndone(l, took) }
	return sqlstore.Retry(ctx, d.Conn, undone, func() error { return sqlstore.Transact(ctx, d.DB, f) })
}

// CountUndone counts an attempt that the database rolled back, and adds its duration to
// l, which may be nil.
func (d *Database) CountUndone(l *Lost, took time.Duration) {
	d.Conflicts.Add(1)
	if l != nil {
		*l = append(*l, took)
	}
}

// Affected runs a statement and returns how many rows it changed.
func Affected(ctx context.Context, tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, text string, args ...any,
) (int64, error) {
	r, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Each calls f for every row of a query.
func (d *Database) Each(ctx context.Context, text string, args []any, f func(scan func(...any) error) error) error {
	rows, err := d.DB.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err reports what matters
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
