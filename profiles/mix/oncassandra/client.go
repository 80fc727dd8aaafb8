package oncassandra

import (
	"context"
	"errors"
	"strconv"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	texts model.Statements[*text]
	lines []*line
	args  []any // of a statement of the user's own
}

// text is a statement, and how many values it reads or writes. The driver prepares it the
// first time.
type text struct {
	is string
	n  int
}

// line is what one statement needs while it is under way.
type line struct {
	args, dest []any
	number     int64
}

// Close does nothing: the session is shared.
func (k *client) Close() {}

// Do carries out a call with a statement for each row, several at a time: the records are on
// different replicas.
func (k *client) Do(ctx context.Context, c *model.Call) error {
	if c.Do == model.Statement {
		return k.statement(ctx, c)
	}
	s := &k.sets[c.Set]
	t := k.text(s, c)
	for len(k.lines) < len(c.Rows) {
		k.lines = append(k.lines, &line{})
	}
	if c.Do == model.Scan {
		return k.scan(ctx, t, c)
	}
	if len(c.Rows) == 1 {
		return k.row(ctx, s, t, c, 0)
	}
	return store.Each(ctx, len(c.Rows), func(ctx context.Context, i int) error { return k.row(ctx, s, t, c, i) })
}

// text returns the statement of a call.
func (k *client) text(s *set, c *model.Call) *text {
	sh := model.Shape{Do: c.Do, Set: c.Set}
	if c.TTL > 0 {
		sh.Variant = 1
	}
	if t, ok := k.texts.Of(sh, c.Fields); ok {
		return t
	}
	columns := c.Picked(s.columns)
	ttl := ""
	if c.TTL > 0 {
		ttl = " USING TTL ?"
	}
	t := &text{n: len(columns)}
	switch {
	case c.Do == model.Get:
		t.is = "SELECT " + list(columns) + " FROM " + s.name + " WHERE k = ?"
	case c.Do == model.Scan:
		t.is = "SELECT k, " + list(columns) + " FROM " + s.name + " WHERE token(k) >= token(?) LIMIT ?"
	case c.Do == model.Delete:
		t.is = "DELETE FROM " + s.name + " WHERE k = ?"
	case s.Type == model.Counter:
		t.is = "UPDATE " + s.name + " SET n = n + ? WHERE k = ?"
	case c.Do == model.Update:
		t.is = "UPDATE " + s.name + ttl + " SET " + strings.Join(columns, " = ?, ") + " = ? WHERE k = ?"
	default:
		t.is = "INSERT INTO " + s.name + " (k, " + list(columns) + ") VALUES (?" + strings.Repeat(", ?", len(columns)) + ")" + ttl
	}
	k.texts.Keep(sh, c.Fields, t)
	return t
}

// row carries out a call on one record.
func (k *client) row(ctx context.Context, s *set, t *text, c *model.Call, i int) error {
	l, row := k.lines[i], &c.Rows[i]
	l.args = l.args[:0]
	switch {
	case c.Do == model.Get:
		return k.get(ctx, s, t, l, row)
	case c.Do == model.Delete:
		l.args = append(l.args, row.Key)
	case c.Do == model.Add:
		return k.add(ctx, t, l, c.By, row)
	case s.Type == model.Counter:
		return k.begin(ctx, s, t, l, row)
	case c.Do == model.Update:
		if c.TTL > 0 {
			l.args = append(l.args, seconds(c.TTL))
		}
		l.args = append(l.values(row), row.Key)
	default:
		l.args = append(l.args, row.Key)
		l.args = l.values(row)
		if c.TTL > 0 {
			l.args = append(l.args, seconds(c.TTL))
		}
	}
	row.Found = true
	return k.conn.Query(t.is, l.args...).ExecContext(ctx)
}

// values appends the values of a row. An empty one must not be taken for null, which would
// delete.
func (l *line) values(row *model.Row) []any {
	for _, val := range row.Vals {
		if val == nil {
			val = []byte{}
		}
		l.args = append(l.args, val)
	}
	return l.args
}

// seconds is what Cassandra counts the lives of rows in.
func seconds(ttl int64) int { return int(max((ttl+999_999_999)/1_000_000_000, 1)) }

// add adds to a counter. It is never sent twice.
func (k *client) add(ctx context.Context, t *text, l *line, by int64, row *model.Row) error {
	l.args = append(l.args[:0], by, row.Key)
	row.Found = true
	return k.conn.Query(t.is, l.args...).Idempotent(false).ExecContext(ctx)
}

// begin makes a counter what it begins with, by adding what it lacks: it cannot be set.
func (k *client) begin(ctx context.Context, s *set, t *text, l *line, row *model.Row) error {
	to, err := strconv.ParseInt(string(row.Vals[0]), 10, 64)
	if err != nil {
		return err
	}
	l.number = 0
	err = k.conn.Query("SELECT n FROM "+s.name+" WHERE k = ?", row.Key).ScanContext(ctx, &l.number)
	if err != nil && !errors.Is(err, gocql.ErrNotFound) {
		return err
	}
	return k.add(ctx, t, l, to-l.number, row)
}

// get reads a record into the memory of its row.
func (k *client) get(ctx context.Context, s *set, t *text, l *line, row *model.Row) (err error) {
	l.args = append(l.args, row.Key)
	row.Room(t.n)
	q := k.conn.Query(t.is, l.args...)
	if s.Type == model.Counter {
		l.number = 0
		if err = q.ScanContext(ctx, &l.number); err == nil {
			row.Vals[0] = strconv.AppendInt(row.Vals[0][:0], l.number, 10)
		}
	} else {
		err = q.ScanContext(ctx, l.into(row, nil)...)
	}
	if row.Found = err == nil; !row.Found {
		row.Vals = row.Vals[:0]
	}
	if errors.Is(err, gocql.ErrNotFound) {
		return nil
	}
	return err
}

// into returns where the columns of a row are read to, after another one; the driver uses
// their memory again.
func (l *line) into(row *model.Row, first any) []any {
	l.dest = l.dest[:0]
	if first != nil {
		l.dest = append(l.dest, first)
	}
	for i := range row.Vals {
		l.dest = append(l.dest, &row.Vals[i])
	}
	return l.dest
}

// scan reads the records that follow one by the hash of their keys.
func (k *client) scan(ctx context.Context, t *text, c *model.Call) error {
	l := k.lines[0]
	l.args = append(l.args[:0], c.Rows[0].Key, c.Count)
	rows := k.conn.Query(t.is, l.args...).IterContext(ctx)
	for c.Got = c.Got[:0]; ; {
		got := c.More()
		got.Room(t.n)
		if !rows.Scan(l.into(got, &got.Key)...) {
			c.Got = c.Got[:len(c.Got)-1]
			return rows.Close()
		}
	}
}
