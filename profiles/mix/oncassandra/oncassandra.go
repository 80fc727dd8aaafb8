// Package oncassandra keeps the data of a workload in Cassandra: a table for each data set,
// with a partition for each record and a column for each field.
package oncassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// data is what all clients share. It is safe for use by several goroutines.
type data struct {
	conn       cassandra.Typed
	sets       []set
	statements []*model.Step
}

// set is a data set: its table, the name of that in statements, and the columns of its
// values.
type set struct {
	*model.Data
	table   *cassandra.Set
	name    string
	columns []string
}

// lagging are the consistencies by which a read may miss what was acknowledged.
var lagging = []string{"ANY", "ONE", "TWO", "THREE", "LOCAL_ONE"}

// New returns the data of a workload under a namespace. It changes nothing in the store.
func New(ctx context.Context, c cassandra.Typed, w *model.Workload, namespace string) *model.Adapter {
	d := &data{conn: c}
	a := &model.Adapter{Lacks: lacks, Scattered: true, Open: func() (model.Client, error) { return &client{data: d}, nil }}
	var all tables
	for i := range w.Data {
		s := set{Data: &w.Data[i]}
		columns := "k text"
		switch {
		case s.Type == model.Counter:
			s.columns, columns = []string{"n"}, columns+", n counter"
		case s.Type == model.Hash:
			for _, f := range s.Fields {
				name := "f_" + lower(f.Name)
				s.columns, columns = append(s.columns, name), columns+", "+name+" blob"
			}
		default:
			s.columns, columns = []string{"v"}, columns+", v blob"
		}
		table := lower(s.Name)
		space := store.Space{Namespace: namespace, Name: "mix_" + table, Shape: store.Keys, Grouped: true}
		s.table = cassandra.New(c, space, "mix_", []cassandra.Table{{Name: table, Columns: columns, Key: "k"}})
		s.name = "%" + table
		d.sets, all = append(d.sets, s), append(all, s.table)
		a.Spaces = append(a.Spaces, s.table.Spaces(nil)...)
	}
	d.statements = w.Statements()
	a.Tables = all
	if info, err := c.Info(ctx); err == nil && slices.Contains(lagging, info.Details["consistency"]) {
		a.Lags, a.Why = true, "the consistency "+info.Details["consistency"]
	}
	return a
}

// lower makes a name one of a table or column.
func lower(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// tables are those of all data sets.
type tables []*cassandra.Set

// Check refuses tables that do not fit.
func (ts tables) Check(ctx context.Context, c *ownership.Claim) error {
	var errs []error
	for _, t := range ts {
		errs = append(errs, t.Check(ctx, c))
	}
	return errors.Join(errs...)
}

// Create creates those that are missing.
func (ts tables) Create(ctx context.Context) error {
	for _, t := range ts {
		if err := t.Create(ctx); err != nil {
			return err
		}
	}
	return nil
}

// can are the verbs for each type.
var can = map[model.Type][]model.Verb{
	model.Value:   {model.Get, model.Put, model.Insert, model.Modify, model.Delete, model.Scan},
	model.Hash:    {model.Get, model.Put, model.Insert, model.Update, model.Modify, model.Delete, model.Scan},
	model.Counter: {model.Get, model.Add},
}

func lacks(op *model.Operation, st *model.Step, d *model.Data) error {
	switch {
	case op.Atomic:
		return fault.Hint(errors.New("Cassandra has no transactions over several records"), "leave atomic out, or use a database or a single Redis")
	case st.Do == model.Statement, d == nil:
		return nil
	case !slices.Contains(can[d.Type], st.Do):
		return model.Unable("Cassandra", st, d, can[d.Type])
	case d.Type == model.Counter && d.TTL.Given():
		return fault.Hint(fmt.Errorf("counters of Cassandra do not expire, and %s has a ttl", d.Name), "leave ttl out")
	}
	return nil
}

// client is one client. It belongs to one goroutine.
type client struct {
	*data
	args []any
	dest []any
	vals [][]byte
}

// Close does nothing: the session is shared.
func (k *client) Close() {}

// Do carries out a call, row by row: they are on different replicas.
func (k *client) Do(ctx context.Context, c *model.Call) error {
	if c.Do == model.Statement {
		return k.statement(ctx, c)
	}
	s := &k.sets[c.Set]
	c.Buf, c.Got = c.Buf[:0], c.Got[:0]
	columns := s.columns
	if c.Fields != nil {
		columns = make([]string, len(c.Fields))
		for i, f := range c.Fields {
			columns[i] = s.columns[f]
		}
	}
	if len(c.Rows) > 1 && c.Do != model.Get {
		return cassandra.Each(ctx, len(c.Rows), func(ctx context.Context, i int) error {
			one := client{data: k.data}
			return one.row(ctx, s, c, &c.Rows[i], columns)
		})
	}
	for i := range c.Rows {
		if err := k.row(ctx, s, c, &c.Rows[i], columns); err != nil {
			return err
		}
	}
	return nil
}

// row carries out a call on one record.
func (k *client) row(ctx context.Context, s *set, c *model.Call, row *model.Row, columns []string) error {
	k.args = k.args[:0]
	key := string(row.Key)
	switch c.Do {
	case model.Get:
		return k.get(ctx, s, c, row, key, columns)
	case model.Scan:
		return k.scan(ctx, s, c, key, columns)
	case model.Add:
		return k.add(ctx, s, c.By, key)
	case model.Delete:
		return k.exec(ctx, s, "DELETE FROM "+s.name+" WHERE k = ?", key)
	}
	if s.Type == model.Counter { // of a load: counters begin with nothing
		if s.Start == 0 {
			return nil
		}
		return k.add(ctx, s, s.Start, key)
	}
	if c.Do == model.Update {
		return k.update(ctx, s, c, row, key, columns)
	}
	k.args = append(k.args, key)
	for _, val := range row.Vals {
		k.args = append(k.args, full(val))
	}
	text := "INSERT INTO " + s.name + " (k, " + strings.Join(columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(columns)) + ")"
	if c.TTL > 0 {
		text += " USING TTL ?"
		k.args = append(k.args, seconds(c.TTL))
	}
	return k.exec(ctx, s, text, k.args...)
}

// full keeps an empty value from being taken for null, which would delete.
func full(val []byte) []byte {
	if val == nil {
		return []byte{}
	}
	return val
}

// seconds is what Cassandra counts the lives of rows in.
func seconds(ttl int64) int { return int(max((ttl+999_999_999)/1_000_000_000, 1)) }

func (k *client) exec(ctx context.Context, s *set, text string, args ...any) error {
	return k.conn.Query(s.table.Text(text), args...).ExecContext(ctx)
}

// add adds to a counter. It is never sent twice.
func (k *client) add(ctx context.Context, s *set, by int64, key string) error {
	return k.conn.Query(s.table.Text("UPDATE "+s.name+" SET n = n + ? WHERE k = ?"), by, key).Idempotent(false).ExecContext(ctx)
}

func (k *client) update(ctx context.Context, s *set, c *model.Call, row *model.Row, key string, columns []string) error {
	text := "UPDATE " + s.name
	if c.TTL > 0 {
		text += " USING TTL ?"
		k.args = append(k.args, seconds(c.TTL))
	}
	for _, val := range row.Vals {
		k.args = append(k.args, full(val))
	}
	return k.exec(ctx, s, text+" SET "+strings.Join(columns, " = ?, ")+" = ? WHERE k = ?", append(k.args, key)...)
}

// into prepares the variables that columns are read into, after the first ones.
func (k *client) into(columns int, first ...any) []any {
	for len(k.vals) < columns {
		k.vals = append(k.vals, nil)
	}
	k.dest = append(k.dest[:0], first...)
	for i := range columns {
		k.vals[i] = k.vals[i][:0]
		k.dest = append(k.dest, &k.vals[i])
	}
	return k.dest
}

// take makes what was read the values of a row.
func (k *client) take(c *model.Call, row *model.Row, columns int) {
	row.Vals, row.Found = row.Vals[:0], true
	for _, val := range k.vals[:columns] {
		if val == nil {
			row.Vals = append(row.Vals, nil)
			continue
		}
		from := len(c.Buf)
		c.Buf = append(c.Buf, val...)
		row.Vals = append(row.Vals, c.Buf[from:])
	}
}

func (k *client) get(ctx context.Context, s *set, c *model.Call, row *model.Row, key string, columns []string) error {
	row.Vals, row.Found = row.Vals[:0], false
	q := k.conn.Query(s.table.Text("SELECT "+strings.Join(columns, ", ")+" FROM "+s.name+" WHERE k = ?"), key)
	var err error
	if s.Type == model.Counter {
		var n int64
		if err = q.ScanContext(ctx, &n); err == nil {
			from := len(c.Buf)
			c.Buf = fmt.Append(c.Buf, n)
			row.Vals, row.Found = append(row.Vals, c.Buf[from:]), true
		}
	} else if err = q.ScanContext(ctx, k.into(len(columns))...); err == nil {
		k.take(c, row, len(columns))
	}
	if errors.Is(err, gocql.ErrNotFound) {
		return nil
	}
	return err
}

// scan reads the partitions that follow one by the hash of their keys.
func (k *client) scan(ctx context.Context, s *set, c *model.Call, key string, columns []string) error {
	text := "SELECT k, " + strings.Join(columns, ", ") + " FROM " + s.name + " WHERE token(k) >= token(?) LIMIT ?"
	iter := k.conn.Query(s.table.Text(text), key, c.Count).IterContext(ctx)
	var found string
	for iter.Scan(k.into(len(columns), &found)...) {
		n := len(c.Got)
		if n == cap(c.Got) {
			c.Got = append(c.Got, model.Row{})
		}
		c.Got = c.Got[:n+1]
		c.Got[n].Key = append(c.Got[n].Key[:0], found...)
		k.take(c, &c.Got[n], len(columns))
	}
	return iter.Close()
}

// statement carries out one of the user's own. Its answer is how many rows it has returned.
func (k *client) statement(ctx context.Context, c *model.Call) error {
	st := k.statements[c.Statement]
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
	iter := k.conn.Query(st.Text, k.args...).IterContext(ctx)
	c.N = int64(iter.NumRows())
	return iter.Close()
}
