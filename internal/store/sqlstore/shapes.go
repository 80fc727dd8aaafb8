package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/store"
)

// Maps are the tables that keep the entries of spaces, and how much one statement on them
// can carry.
type Maps struct {
	tables *tables
	// largest is the maximum size of one statement in bytes.
	largest int
}

// bytesOf keeps an empty value from being taken for NULL.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Put reads the value of a key and replaces it, in one transaction.
func (m *Maps) Put(ctx context.Context, s store.Space, key, val []byte) error {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return err
	}
	return wrap("put", t, m.put(ctx, t, val, bytesOf(key)))
}

// Set stores a value without reading the old one.
func (m *Maps) Set(ctx context.Context, s store.Space, key, val []byte) error {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return err
	}
	return wrap("set", t, m.tables.exec(ctx, t, t.set, bytesOf(key), bytesOf(val)))
}

// Get reads one value into buf.
func (m *Maps) Get(ctx context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return nil, false, err
	}
	found, buf := false, buf[:0]
	err = m.tables.query(ctx, t, func(rows *sql.Rows) error {
		var raw sql.RawBytes
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		found, buf = true, append(buf, raw...)
		return nil
	}, t.get, bytesOf(key))
	if Absent(err) {
		return buf, false, nil
	}
	return buf, found, wrap("get", t, err)
}

// Count returns how many rows the table of a space has; 0 if there is none.
func (m *Maps) Count(ctx context.Context, s store.Space) (int64, error) {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return 0, err
	}
	n, err := m.tables.count(ctx, t)
	if Absent(err) {
		return 0, nil
	}
	return n, wrap("count", t, err)
}

// wrap adds to err what was being done to which table.
func wrap(what string, t *table, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, t.key.name, err)
}

// put replaces the value of a key, of one or two columns, and reads the old one.
func (m *Maps) put(ctx context.Context, t *table, val []byte, key ...any) error {
	all := append(slices.Clip(key), bytesOf(val))
	if m.tables.d.swap { // in one statement, which is a transaction of its own
		return m.tables.query(ctx, t, readOld, t.swap, all...)
	}
	// Prepared before the transaction, which may take the only connection.
	get, err := m.tables.prepared(ctx, t, t.get)
	if err != nil {
		return err
	}
	set, err := m.tables.prepared(ctx, t, t.set)
	if err != nil {
		return err
	}
	// The read takes no lock beyond what the isolation level requires: locking the gap
	// where a key is missing would turn any two new keys into a deadlock.
	return Transact(ctx, m.tables.db, func(tx *sql.Tx) error { return putIn(ctx, tx, t, get, set, key, all) })
}

func putIn(ctx context.Context, tx *sql.Tx, t *table, get, set *sql.Stmt, key, all []any) error {
	var rows *sql.Rows
	var err error
	if get == nil {
		rows, err = tx.QueryContext(ctx, t.get, key...)
	} else {
		rows, err = tx.StmtContext(ctx, get).QueryContext(ctx, key...)
	}
	if err != nil {
		return err
	}
	if err := walk(rows, readOld); err != nil {
		return err
	}
	if set == nil {
		_, err = tx.ExecContext(ctx, t.set, all...)
	} else {
		_, err = tx.StmtContext(ctx, set).ExecContext(ctx, all...)
	}
	return err
}

// readOld reads the old value, the way a map's put returns it.
func readOld(rows *sql.Rows) error {
	var raw sql.RawBytes
	return rows.Scan(&raw)
}
