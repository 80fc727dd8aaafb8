package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// row is one row of a batch; group is nil in a table without groups.
type row struct{ group, key, val []byte }

func (r row) size() int { return len(r.group) + len(r.key) + len(r.val) + 32 }

func byKey(a, b row) int {
	if n := bytes.Compare(a.group, b.group); n != 0 {
		return n
	}
	return bytes.Compare(a.key, b.key)
}

// tidy sorts the rows of a batch by key, so that batches never deadlock, and keeps only
// the last of those with the same key, since a statement must not affect a row twice.
func tidy(rows []row) []row {
	if !slices.IsSortedFunc(rows, byKey) {
		slices.SortStableFunc(rows, byKey)
	}
	out := rows[:0]
	for i, r := range rows {
		if i+1 < len(rows) && byKey(r, rows[i+1]) == 0 {
			continue
		}
		out = append(out, r)
	}
	return out
}

// PutAll stores entries with one statement of many rows or, if they are too many or too
// large for one, with several in one transaction.
func (m *Maps) PutAll(ctx context.Context, s store.Space, es []store.Entry) error {
	t, err := m.tables.tableOf(s)
	if err != nil || len(es) == 0 {
		return err
	}
	rows := make([]row, len(es))
	for i, e := range es {
		rows[i] = row{key: bytesOf(e.Key), val: bytesOf(e.Val)}
	}
	return wrap("put all", t, m.putRows(ctx, t, rows))
}

func (m *Maps) putRows(ctx context.Context, t *table, rows []row) error {
	rows = tidy(rows)
	n := m.fit(rows, t.key.grouped)
	if n == len(rows) {
		text, args := m.insertion(t, rows)
		return m.tables.exec(ctx, t, text, args...)
	}
	return Transact(ctx, m.tables.db, func(tx *sql.Tx) error {
		for len(rows) > 0 {
			n := m.fit(rows, t.key.grouped)
			text, args := m.insertion(t, rows[:n])
			if _, err := tx.ExecContext(ctx, text, args...); err != nil {
				return err
			}
			rows = rows[n:]
		}
		return nil
	})
}

// fit returns how many of the rows one statement can carry, at least 1.
func (m *Maps) fit(rows []row, grouped bool) int {
	columns, most, size := 2, len(rows), 0
	if grouped {
		columns = 3
	}
	if !m.tables.d.arrays {
		most = min(most, m.tables.d.maxVars/columns)
	}
	for i, r := range rows[:most] {
		if size += r.size(); size > m.largest && i > 0 {
			return i
		}
	}
	return most
}

// insertion writes the statement that stores rows.
func (m *Maps) insertion(t *table, rows []row) (string, []any) {
	if m.tables.d.arrays {
		var columns [3][][]byte
		for i := range columns {
			columns[i] = make([][]byte, len(rows))
		}
		for i, r := range rows {
			columns[0][i], columns[1][i], columns[2][i] = r.group, r.key, r.val
		}
		if t.key.grouped {
			return t.many, []any{columns[0], columns[1], columns[2]}
		}
		return t.many, []any{columns[1], columns[2]}
	}
	marks, args := "(?,?)", make([]any, 0, 3*len(rows))
	if t.key.grouped {
		marks = "(?,?,?)"
	}
	for _, r := range rows {
		if t.key.grouped {
			args = append(args, r.group)
		}
		args = append(args, r.key, r.val)
	}
	if len(rows) == 1 {
		return t.set, args
	}
	return t.insert + marks + strings.Repeat(","+marks, len(rows)-1) + t.conflict, args
}

// GetAll reads the values of keys with one statement, or several if there are too many
// for one.
func (m *Maps) GetAll(ctx context.Context, s store.Space, keys [][]byte) ([][]byte, error) {
	t, err := m.tables.tableOf(s)
	if err != nil {
		return nil, err
	}
	out, err := m.getRows(ctx, t, keys)
	return out, wrap("get all", t, err)
}

// getRows reads the values of keys; before holds the values of the key columns that
// come first.
func (m *Maps) getRows(ctx context.Context, t *table, keys [][]byte, before ...any) ([][]byte, error) {
	out := make([][]byte, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	found := make(map[string][]byte, len(keys))
	each := func(rows *sql.Rows) error {
		var k, v sql.RawBytes
		if err := rows.Scan(&k, &v); err != nil {
			return err
		}
		found[string(k)] = append(make([]byte, 0, len(v)), v...)
		return nil
	}
	for part := range slices.Chunk(keys, m.tables.d.maxVars-len(before)) {
		text, args := m.selection(t, part, before)
		if err := m.tables.query(ctx, t, each, text, args...); Absent(err) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
	}
	for i, k := range keys {
		out[i] = found[string(k)]
	}
	return out, nil
}

// selection writes the statement that reads keys. If a different number of keys needs a
// different statement, there is one for each power of two, and the list is padded with
// the last key.
func (m *Maps) selection(t *table, keys [][]byte, before []any) (string, []any) {
	args := append(make([]any, 0, 2*len(keys)+len(before)), before...)
	if m.tables.d.arrays {
		return t.getMany, append(args, keys)
	}
	n := 1
	for n < len(keys) {
		n *= 2
	}
	n = min(n, m.tables.d.maxVars-len(before))
	for i := range n {
		args = append(args, bytesOf(keys[min(i, len(keys)-1)]))
	}
	return t.getMany + sqltext.Marks(n), args
}

// PutGroup stores one entry in one group, reading the old value.
func (m *Maps) PutGroup(ctx context.Context, s store.Space, group, key, val []byte) error {
	t, err := m.tables.groupedTable(s)
	if err != nil {
		return err
	}
	return wrap("put in a group", t, m.put(ctx, t, val, bytesOf(group), bytesOf(key)))
}

// PutGroups stores the entries of several groups as PutAll does.
func (m *Maps) PutGroups(ctx context.Context, s store.Space, gs []store.Group) error {
	t, err := m.tables.groupedTable(s)
	if err != nil {
		return err
	}
	var rows []row
	for _, g := range gs {
		for _, e := range g.Entries {
			rows = append(rows, row{bytesOf(g.Name), bytesOf(e.Key), bytesOf(e.Val)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return wrap("put groups", t, m.putRows(ctx, t, rows))
}

// GetGroup reads the values of keys in one group.
func (m *Maps) GetGroup(ctx context.Context, s store.Space, group []byte, keys [][]byte) ([][]byte, error) {
	t, err := m.tables.groupedTable(s)
	if err != nil {
		return nil, err
	}
	out, err := m.getRows(ctx, t, keys, bytesOf(group))
	return out, wrap("get from a group", t, err)
}
