package onsql

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	texts map[shape]string
	args  []any
	raw   []sql.RawBytes
	dest  []any
	tx    *sql.Tx
}

// shape is what the text of a statement depends on; fields is made of the indexes of those
// that it names.
type shape struct {
	do        model.Verb
	set, rows int
	fields    uint64
}

// Close does nothing: connections are of the pool.
func (k *client) Close() {}

// Begin begins a transaction.
func (k *client) Begin(ctx context.Context) (err error) {
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

// mostArgs is how many placeholders a statement has at most.
const mostArgs = 30_000

// Do carries out a call.
func (k *client) Do(ctx context.Context, c *model.Call) error {
	if c.Do == model.Statement {
		return k.statement(ctx, c)
	}
	s := &k.sets[c.Set]
	columns := s.columns
	if c.Fields != nil {
		columns = make([]string, len(c.Fields))
		for i, f := range c.Fields {
			columns[i] = s.columns[f]
		}
	}
	switch c.Do {
	case model.Get:
		return k.get(ctx, s, c, columns)
	case model.Put, model.Insert:
		most := max(mostArgs/(len(columns)+1), 1)
		for from := 0; from < len(c.Rows); from += most {
			rows := c.Rows[from:min(from+most, len(c.Rows))]
			put := func() error { return k.put(ctx, s, c, rows, columns) }
			if k.tx != nil || len(rows) == 1 {
				if err := put(); err != nil {
					return err
				}
				continue
			}
			// Others that write some of the same rows in another order may have to give way.
			if err := sqlstore.Retry(ctx, k.conn, k.again, put); err != nil {
				return err
			}
		}
		return nil
	case model.Update:
		return k.update(ctx, s, c, columns)
	case model.Add:
		return k.each(ctx, c, "UPDATE %"+s.table+" SET n = n + ? WHERE k = ?", func(row *model.Row) { k.args = append(k.args, c.By, string(row.Key)) })
	case model.Delete:
		return k.each(ctx, c, "DELETE FROM %"+s.table+" WHERE k = ?", func(row *model.Row) { k.args = append(k.args, string(row.Key)) })
	}
	return k.scan(ctx, s, c, columns)
}

// exec carries out a statement without rows, and returns how many it has changed.
func (k *client) exec(ctx context.Context, text string) (int64, error) {
	var res sql.Result
	var err error
	if k.tx != nil {
		res, err = k.tx.ExecContext(ctx, k.tables.Text(text), k.args...)
	} else {
		var p *sql.Stmt
		if p, err = k.tables.Stmt(ctx, text); err == nil {
			res, err = p.ExecContext(ctx, k.args...)
		}
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query carries out a statement with rows, and calls each for every one, whose columns are
// in k.raw.
func (k *client) query(ctx context.Context, text string, columns int, each func()) error {
	var rows *sql.Rows
	var err error
	if k.tx != nil {
		rows, err = k.tx.QueryContext(ctx, k.tables.Text(text), k.args...)
	} else {
		var p *sql.Stmt
		if p, err = k.tables.Stmt(ctx, text); err == nil {
			rows, err = p.QueryContext(ctx, k.args...)
		}
	}
	if err != nil {
		return err
	}
	return k.walk(rows, columns, each)
}

func (k *client) walk(rows *sql.Rows, columns int, each func()) error {
	defer rows.Close() // Err reports what went wrong
	for len(k.raw) < columns {
		k.raw = append(k.raw, nil)
	}
	k.dest = k.dest[:0]
	for i := range columns {
		k.dest = append(k.dest, &k.raw[i])
	}
	for rows.Next() {
		if err := rows.Scan(k.dest...); err != nil {
			return err
		}
		each()
	}
	return rows.Err()
}

// text returns the text of a statement of a shape, which write writes the first time.
func (k *client) text(c *model.Call, rows int, write func() string) string {
	sh := shape{do: c.Do, set: c.Set, rows: rows}
	for _, f := range c.Fields {
		sh.fields = (sh.fields ^ uint64(f+1)) * 1099511628211
	}
	if t, ok := k.texts[sh]; ok {
		return t
	}
	if k.texts == nil {
		k.texts = map[shape]string{}
	}
	t := write()
	k.texts[sh] = t
	return t
}

// keep appends a value to the memory of a call.
func keep(c *model.Call, val []byte) []byte {
	from := len(c.Buf)
	c.Buf = append(c.Buf, val...)
	return c.Buf[from:]
}

// vals takes over the values of the row that was read, from column on.
func (k *client) vals(c *model.Call, row *model.Row, column, n int) {
	row.Vals, row.Found = row.Vals[:0], true
	for i := range n {
		if val := k.raw[column+i]; val != nil {
			row.Vals = append(row.Vals, keep(c, val))
		} else {
			row.Vals = append(row.Vals, nil)
		}
	}
}

func (k *client) get(ctx context.Context, s *set, c *model.Call, columns []string) error {
	c.Buf, k.args = c.Buf[:0], k.args[:0]
	for i := range c.Rows {
		c.Rows[i].Found, c.Rows[i].Vals = false, c.Rows[i].Vals[:0]
		k.args = append(k.args, string(c.Rows[i].Key))
	}
	if len(c.Rows) == 1 {
		text := k.text(c, 1, func() string { return "SELECT " + list(columns) + " FROM %" + s.table + " WHERE k = ?" })
		return k.query(ctx, text, len(columns), func() { k.vals(c, &c.Rows[0], 0, len(columns)) })
	}
	text := k.text(c, len(c.Rows), func() string {
		return "SELECT k, " + list(columns) + " FROM %" + s.table + " WHERE k IN " + marks(len(c.Rows))
	})
	return k.query(ctx, text, len(columns)+1, func() {
		for i := range c.Rows { // the same key may be there twice
			if string(c.Rows[i].Key) == string(k.raw[0]) {
				k.vals(c, &c.Rows[i], 1, len(columns))
			}
		}
	})
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

// put writes rows. PostgreSQL does not take the same key twice in one statement.
func (k *client) put(ctx context.Context, s *set, c *model.Call, rows []model.Row, columns []string) error {
	k.args = k.args[:0]
	n := 0
	for i := range rows {
		if twice(rows, i) {
			continue
		}
		n++
		k.args = append(k.args, string(rows[i].Key))
		for _, val := range rows[i].Vals {
			k.args = append(k.args, s.value(val))
		}
	}
	text := k.text(c, n, func() string {
		t := "INSERT INTO %" + s.table + " (k, " + list(columns) + ") VALUES " + strings.TrimSuffix(strings.Repeat(marks(len(columns)+1)+", ", n), ", ")
		if c.Do == model.Put {
			t += "{replace k: " + list(columns) + "}"
		}
		return t
	})
	_, err := k.exec(ctx, text)
	return err
}

// twice reports whether the key of a row comes again later.
func twice(rows []model.Row, i int) bool {
	if len(rows) > 64 {
		return false // of a load, which has no key twice
	}
	for j := i + 1; j < len(rows); j++ {
		if string(rows[j].Key) == string(rows[i].Key) {
			return true
		}
	}
	return false
}

func (k *client) update(ctx context.Context, s *set, c *model.Call, columns []string) error {
	text := k.text(c, 1, func() string {
		return "UPDATE %" + s.table + " SET " + strings.Join(columns, " = ?, ") + " = ? WHERE k = ?"
	})
	return k.each(ctx, c, text, func(row *model.Row) {
		for _, val := range row.Vals {
			k.args = append(k.args, s.value(val))
		}
		k.args = append(k.args, string(row.Key))
	})
}

// each carries out a statement for each row.
func (k *client) each(ctx context.Context, c *model.Call, text string, args func(row *model.Row)) error {
	for i := range c.Rows {
		k.args = k.args[:0]
		args(&c.Rows[i])
		n, err := k.exec(ctx, text)
		if err != nil {
			return err
		}
		c.Rows[i].Found = n > 0
	}
	return nil
}

func (k *client) scan(ctx context.Context, s *set, c *model.Call, columns []string) error {
	text := k.text(c, 1, func() string {
		return "SELECT k, " + list(columns) + " FROM %" + s.table + " WHERE k >= ? ORDER BY k LIMIT ?"
	})
	c.Buf, c.Got, k.args = c.Buf[:0], c.Got[:0], append(k.args[:0], string(c.Rows[0].Key), c.Count)
	return k.query(ctx, text, len(columns)+1, func() {
		n := len(c.Got)
		if n == cap(c.Got) {
			c.Got = append(c.Got, model.Row{})
		}
		c.Got = c.Got[:n+1]
		c.Got[n].Key = append(c.Got[n].Key[:0], k.raw[0]...)
		k.vals(c, &c.Got[n], 1, len(columns))
	})
}

// statement carries out one of the user's own. Its answer is how many rows it has returned,
// or changed.
func (k *client) statement(ctx context.Context, c *model.Call) error {
	st := &k.statements[c.Statement]
	k.args = k.args[:0]
	for i, arg := range c.Args {
		switch st.Args[i].Kind {
		case model.ArgNumber, model.ArgRecord:
			n, _ := strconv.ParseInt(string(arg), 10, 64) // of ours
			k.args = append(k.args, n)
		case model.ArgValue:
			k.args = append(k.args, arg)
		default:
			k.args = append(k.args, string(arg))
		}
	}
	c.N = 0
	var q interface {
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	} = k.conn.SQL()
	if k.tx != nil {
		q = k.tx
	}
	if !st.rows {
		res, err := q.ExecContext(ctx, st.text, k.args...)
		if err == nil {
			c.N, err = res.RowsAffected()
		}
		return err
	}
	rows, err := q.QueryContext(ctx, st.text, k.args...)
	if err != nil {
		return err
	}
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	return k.walk(rows, len(names), func() { c.N++ })
}

// again is called when the database took a batch back because of another client.
func (k *client) again(time.Duration) { k.retried.Add(1) }

var _ model.Transactor = (*client)(nil)
