package onsql

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	kept model.Statements[*prepared]
	// direct is the faster way, outside of transactions.
	direct *sqlstore.Direct
	// own are the statements of the workload.
	own []prepared
	// late are those that a transaction used before they were prepared.
	late []*prepared
	args []any
	raw  []sql.RawBytes
	dest []any
	rows []*model.Row
	tx   *sql.Tx
}

func newClient(d *data) *client {
	return &client{data: d, direct: sqlstore.NewDirect(d.conn), own: make([]prepared, len(d.statements))}
}

// prepared is a statement as a client uses it.
type prepared struct {
	// template is its text for sqlstore.Tables, and text that for the database.
	template, text string
	stmt           *sql.Stmt // nil: it is sent as text
	// keep means that it is prepared.
	keep bool
	// columns are how many values each row has, and width how many it answers with.
	columns, width int
}

// mostKept is how many statements a client keeps prepared; further ones are sent as text,
// since servers limit them over all connections.
const mostKept = 128

// mostArgs is how many placeholders a statement has at most.
const mostArgs = 30_000

// Close does nothing: connections are of the pool.
func (k *client) Close() {}

// Begin begins a transaction. What earlier ones used is prepared before, because this one
// may have the only connection.
func (k *client) Begin(ctx context.Context) (err error) {
	for _, p := range k.late {
		if p.stmt, err = k.tables.Stmt(ctx, p.template); err != nil {
			return err
		}
	}
	k.late = k.late[:0]
	k.tx, err = k.conn.SQL().BeginTx(ctx, nil)
	return err
}

// Commit ends a transaction.
func (k *client) Commit(context.Context) error {
	tx := k.tx
	k.tx = nil
	return tx.Commit()
}

// Abort takes a transaction back.
func (k *client) Abort(context.Context) {
	if k.tx != nil {
		_ = k.tx.Rollback() // the error that it is aborted for counts
		k.tx = nil
	}
}

// Do carries out a call.
func (k *client) Do(ctx context.Context, c *model.Call) error {
	switch c.Do {
	case model.Statement:
		return k.statement(ctx, c)
	case model.Get:
		return k.get(ctx, c)
	case model.Put, model.Insert:
		return k.parts(ctx, c, max(mostArgs/(k.sets[c.Set].Columns()+1), 1), k.put)
	case model.Delete:
		return k.parts(ctx, c, mostArgs, k.remove)
	case model.Update:
		return k.update(ctx, c)
	case model.Add:
		return k.add(ctx, c)
	}
	return k.scan(ctx, c)
}

// statementOf returns the statement of a call for so many rows; write writes it the first
// time, for columns.
func (k *client) statementOf(c *model.Call, do model.Verb, rows int, write func(s *set, columns []string) string) *prepared {
	sh := model.Shape{Do: do, Set: c.Set, Rows: rows}
	if p, ok := k.kept.Of(sh, c.Fields); ok {
		return p
	}
	s := &k.sets[c.Set]
	columns := c.Picked(s.columns)
	p := &prepared{template: write(s, columns), columns: len(columns), width: len(columns), keep: k.kept.N < mostKept}
	if do == model.Scan || do == model.Get && rows > 1 {
		p.width++ // the key
	}
	p.text = k.tables.Text(p.template)
	k.kept.Keep(sh, c.Fields, p)
	return p
}

// ready prepares a statement, outside transactions, and returns it; nil: it is sent as text.
func (k *client) ready(ctx context.Context, p *prepared) (s *sql.Stmt, err error) {
	switch {
	case k.tx == nil && p.stmt == nil && p.keep:
		p.stmt, err = k.tables.Stmt(ctx, p.template)
	case k.tx != nil && p.stmt != nil:
		return k.tx.StmtContext(ctx, p.stmt), nil
	case k.tx != nil && p.keep && !slices.Contains(k.late, p):
		k.late = append(k.late, p)
	}
	return p.stmt, err
}

// exec carries out a statement without rows, and returns how many it has changed.
func (k *client) exec(ctx context.Context, p *prepared) (int64, error) {
	if k.tx == nil && p.keep {
		if n, done, err := k.direct.Do(ctx, p.text, k.args, nil); done {
			return n, err
		}
	}
	s, err := k.ready(ctx, p)
	if err != nil {
		return 0, err
	}
	var res sql.Result
	switch {
	case s != nil:
		res, err = s.ExecContext(ctx, k.args...)
	case k.tx != nil:
		res, err = k.tx.ExecContext(ctx, p.text, k.args...)
	default:
		res, err = k.conn.SQL().ExecContext(ctx, p.text, k.args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query carries out a statement with rows, and calls each for every one, whose columns are
// in k.raw.
func (k *client) query(ctx context.Context, p *prepared, each func()) error {
	if k.tx == nil && p.keep {
		_, done, err := k.direct.Do(ctx, p.text, k.args, func(vals [][]byte) {
			k.room(len(vals))
			for i, val := range vals {
				k.raw[i] = val
			}
			each()
		})
		if done {
			return err
		}
	}
	s, err := k.ready(ctx, p)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	switch {
	case s != nil:
		rows, err = s.QueryContext(ctx, k.args...)
	case k.tx != nil:
		rows, err = k.tx.QueryContext(ctx, p.text, k.args...)
	default:
		rows, err = k.conn.SQL().QueryContext(ctx, p.text, k.args...)
	}
	if err != nil {
		return err
	}
	return k.walk(rows, p.width, each)
}

// walk reads rows of so many columns; 0: that is not known.
func (k *client) walk(rows *sql.Rows, columns int, each func()) error {
	defer rows.Close() // Err reports what went wrong
	if columns == 0 {
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		columns = len(names)
	}
	k.room(columns)
	for rows.Next() {
		if err := rows.Scan(k.dest[:columns]...); err != nil {
			return err
		}
		each()
	}
	return rows.Err()
}

// room makes room for the values of a row.
func (k *client) room(columns int) {
	if len(k.raw) < columns {
		k.raw, k.dest = make([]sql.RawBytes, columns), make([]any, columns)
		for i := range k.raw {
			k.dest[i] = &k.raw[i]
		}
	}
}

// key returns a key as an argument. SQLite tells bytes from text, and a pooler of PostgreSQL
// sends bytes as such.
func (k *client) key(row *model.Row) any {
	if k.tables.Dialect == sqltext.MySQL {
		return row.Key
	}
	return string(row.Key)
}

// value returns a value as an argument.
func (s *set) value(val []byte) any {
	if s.Type == model.Counter {
		n, _ := strconv.ParseInt(string(val), 10, 64) // of ours
		return n
	}
	if val == nil {
		return []byte{}
	}
	return val
}

// take takes over the values of the row that was read, from column on.
func (k *client) take(c *model.Call, row *model.Row, column, n int) {
	row.Vals, row.Found = row.Vals[:0], true
	for _, val := range k.raw[column : column+n] {
		if val == nil {
			row.Vals = append(row.Vals, nil)
			continue
		}
		from := len(c.Buf)
		c.Buf = append(c.Buf, val...)
		row.Vals = append(row.Vals, c.Buf[from:])
	}
}

// padded is for how many keys there is a statement that can be used for n: a power of two.
func padded(n int) int {
	most := 1
	for most < n {
		most *= 2
	}
	return most
}

func (k *client) get(ctx context.Context, c *model.Call) error {
	c.Buf, k.args = c.Buf[:0], k.args[:0]
	for i := range c.Rows {
		c.Rows[i].Found, c.Rows[i].Vals = false, c.Rows[i].Vals[:0]
		k.args = append(k.args, k.key(&c.Rows[i]))
	}
	if len(c.Rows) == 1 {
		p := k.statementOf(c, model.Get, 1, func(s *set, columns []string) string {
			return "SELECT " + list(columns) + " FROM %" + s.table + " WHERE k = ?"
		})
		return k.query(ctx, p, func() { k.take(c, &c.Rows[0], 0, p.columns) })
	}
	n := padded(len(c.Rows))
	for len(k.args) < n {
		k.args = append(k.args, k.args[len(c.Rows)-1])
	}
	p := k.statementOf(c, model.Get, n, func(s *set, columns []string) string {
		return "SELECT k, " + list(columns) + " FROM %" + s.table + " WHERE k IN " + sqltext.Marks(n)
	})
	next, found := 0, 0
	err := k.query(ctx, p, func() {
		for range c.Rows { // mostly they come in the order in which they were asked for
			row := &c.Rows[next]
			next = (next + 1) % len(c.Rows)
			if bytes.Equal(row.Key, k.raw[0]) {
				k.take(c, row, 1, p.columns)
				found++
				return
			}
		}
	})
	if found < len(c.Rows) {
		again(c)
	}
	return err
}

// again gives rows whose key was asked for twice what the other one has found.
func again(c *model.Call) {
	for i := range c.Rows {
		if c.Rows[i].Found {
			continue
		}
		for j := range c.Rows {
			if c.Rows[j].Found && bytes.Equal(c.Rows[j].Key, c.Rows[i].Key) {
				c.Rows[i].Vals, c.Rows[i].Found = append(c.Rows[i].Vals[:0], c.Rows[j].Vals...), true
				break
			}
		}
	}
}

// parts carries out f for the rows of a call: in the order of their keys, so that two batches
// do not wait for each other, without those whose key comes again, which a statement must
// not have twice, and at most so many at a time. Clients that get into each other's way
// nevertheless give way and try again.
func (k *client) parts(ctx context.Context, c *model.Call, most int, f func(context.Context, *model.Call, []*model.Row) error) error {
	k.rows = k.rows[:0]
	for i := range c.Rows {
		k.rows = append(k.rows, &c.Rows[i])
	}
	if len(k.rows) == 1 {
		return f(ctx, c, k.rows)
	}
	order := func(a, b *model.Row) int { return bytes.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(k.rows, order) {
		slices.SortStableFunc(k.rows, order)
	}
	rows := k.rows[:0]
	for i, row := range k.rows {
		if i+1 == len(k.rows) || !bytes.Equal(row.Key, k.rows[i+1].Key) {
			rows = append(rows, row)
		}
	}
	for part := range slices.Chunk(rows, most) {
		var err error
		if k.tx != nil {
			err = f(ctx, c, part)
		} else {
			err = sqlstore.Retry(ctx, k.conn, func(time.Duration) {}, func() error { return f(ctx, c, part) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *client) put(ctx context.Context, c *model.Call, rows []*model.Row) error {
	s := &k.sets[c.Set]
	k.args = k.args[:0]
	for _, row := range rows {
		k.args = append(k.args, k.key(row))
		for _, val := range row.Vals {
			k.args = append(k.args, s.value(val))
		}
	}
	_, err := k.exec(ctx, k.statementOf(c, c.Do, len(rows), func(s *set, columns []string) string {
		marks := sqltext.Marks(len(columns) + 1)
		t := "INSERT INTO %" + s.table + " (k, " + list(columns) + ") VALUES " + marks + strings.Repeat(", "+marks, len(rows)-1)
		if c.Do == model.Put {
			t += "{replace k: " + list(columns) + "}"
		}
		return t
	}))
	return err
}

func (k *client) remove(ctx context.Context, c *model.Call, rows []*model.Row) error {
	k.args = k.args[:0]
	for _, row := range rows {
		k.args = append(k.args, k.key(row))
	}
	n := padded(len(rows))
	for len(k.args) < n {
		k.args = append(k.args, k.args[len(rows)-1])
	}
	gone, err := k.exec(ctx, k.statementOf(c, model.Delete, n, func(s *set, _ []string) string {
		if n == 1 {
			return "DELETE FROM %" + s.table + " WHERE k = ?"
		}
		return "DELETE FROM %" + s.table + " WHERE k IN " + sqltext.Marks(n)
	}))
	for _, row := range rows {
		row.Found = gone == int64(len(rows))
	}
	return err
}

func (k *client) update(ctx context.Context, c *model.Call) error {
	s := &k.sets[c.Set]
	p := k.statementOf(c, model.Update, 1, func(s *set, columns []string) string {
		return "UPDATE %" + s.table + " SET " + strings.Join(columns, " = ?, ") + " = ? WHERE k = ?"
	})
	for i := range c.Rows {
		row := &c.Rows[i]
		k.args = k.args[:0]
		for _, val := range row.Vals {
			k.args = append(k.args, s.value(val))
		}
		k.args = append(k.args, k.key(row))
		n, err := k.exec(ctx, p)
		if err != nil {
			return err
		}
		row.Found = n > 0
	}
	return nil
}

// add adds to counters. One that is not there begins with 0.
func (k *client) add(ctx context.Context, c *model.Call) error {
	p := k.statementOf(c, model.Add, 1, func(s *set, _ []string) string { return "UPDATE %" + s.table + " SET n = n + ? WHERE k = ?" })
	for i := range c.Rows {
		row := &c.Rows[i]
		k.args = append(k.args[:0], c.By, k.key(row))
		n, err := k.exec(ctx, p)
		if err == nil && n == 0 && c.By != 0 {
			err = k.begin(ctx, c, row)
		}
		if err != nil {
			return err
		}
		row.Found = true
	}
	return nil
}

// begin adds to a counter that may not be there.
func (k *client) begin(ctx context.Context, c *model.Call, row *model.Row) error {
	k.args = append(k.args[:0], k.key(row), c.By)
	_, err := k.exec(ctx, k.statementOf(c, model.Add, 2, func(s *set, _ []string) string {
		t := "INSERT INTO %" + s.table + " (k, n) VALUES (?, ?) "
		if k.tables.Dialect == sqltext.MySQL {
			return t + "ON DUPLICATE KEY UPDATE n = n + VALUES(n)"
		}
		return t + "ON CONFLICT (k) DO UPDATE SET n = %" + s.table + ".n + excluded.n"
	}))
	return err
}

func (k *client) scan(ctx context.Context, c *model.Call) error {
	p := k.statementOf(c, model.Scan, 1, func(s *set, columns []string) string {
		return "SELECT k, " + list(columns) + " FROM %" + s.table + " WHERE k >= ? ORDER BY k LIMIT ?"
	})
	c.Buf, c.Got, k.args = c.Buf[:0], c.Got[:0], append(k.args[:0], k.key(&c.Rows[0]), int64(c.Count))
	return k.query(ctx, p, func() {
		got := c.More()
		got.Key = append(got.Key[:0], k.raw[0]...)
		k.take(c, got, 1, p.columns)
	})
}

var _ model.Transactor = (*client)(nil)
