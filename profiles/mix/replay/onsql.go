package replay

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/store/statements"
	"github.com/perfbench/perfbench/internal/workload"
)

// onSQL is a database as the place of a replay: the statements are made in a schema of PostgreSQL's,
// or a database of MySQL's, that is the run's own.
type onSQL struct {
	*Run
	conn   sqlstore.Typed
	schema string
	// passes are the columns that time or chance has written into, wholes the tables that have
	// such.
	passes, wholes map[string]bool
}

// SchemaOf is the space that the statements of replays are made in.
func SchemaOf(namespace string) store.Space {
	return store.Space{Namespace: namespace, Name: "replay", Shape: store.Schema}
}

// BindSQL connects a plan to a database and puts a replay to work on it. It changes nothing.
func BindSQL(ctx context.Context, s *Spec, c sqlstore.Typed, p *workload.Bound) error {
	if err := s.ownLog(ctx, c); err != nil {
		return err
	}
	info, err := c.Info(ctx)
	if err != nil {
		return err
	}
	space := SchemaOf(s.Namespace)
	r := newRun(s, strings.TrimSpace(info.Name+" "+info.Version), ownership.Space{Space: space}, p)
	r.at = &onSQL{Run: r, conn: c, schema: sqltext.TableName(space.Namespace, space.Name)}
	return nil
}

// ownLog refuses a server that has a log of the name that was read: a log does not say which server
// wrote it.
func (s *Spec) ownLog(ctx context.Context, c sqlstore.Typed) error {
	if s.OntoSource {
		return nil
	}
	question, other := "SELECT name, '' FROM pg_catalog.pg_ls_logdir() WHERE name = $1", ""
	args := []any{s.Header.Source}
	if c.Dialect() == sqltext.MySQL {
		question, args = "SELECT @@GLOBAL.general_log_file, @@GLOBAL.slow_query_log_file", nil
	}
	var name string
	if c.SQL().QueryRowContext(ctx, question, args...).Scan(&name, &other) != nil || filepath.Base(name) != s.Header.Source && filepath.Base(other) != s.Header.Source {
		return nil // it has none, or does not say it
	}
	return fault.Input(fmt.Errorf("this server writes a log %s, as the one that %s was made from, so it may be the one that was recorded", s.Header.Source, s.Path),
		"choose another --target; or --set onto-source=on, if it is another or can bear both: the replay has a schema of its own")
}

// begin makes the schema, and has what the statements name in it.
func (r *onSQL) begin(ctx context.Context, answers bool, progress func(done, total int64)) error {
	if err := r.conn.EnsureDatabase(ctx, r.Namespace); err != nil {
		return err
	}
	text := "CREATE SCHEMA "
	if r.conn.Dialect() == sqltext.MySQL {
		text = "CREATE DATABASE "
	}
	if _, err := r.conn.SQL().ExecContext(ctx, text+r.conn.Dialect().Quote(r.schema)); err != nil {
		return fault.Store(fmt.Errorf("make the schema %s: %w", r.schema, err), "let the user of the target create it, or use another --namespace")
	}
	var err error
	switch {
	case r.Snapshot.Scheme != "":
		err = r.copySnapshot(ctx, progress)
	case r.Schema != "":
		err = r.runFile(ctx)
	}
	if err != nil || !answers {
		return err
	}
	return r.findPassing(ctx)
}

// findPassing finds the columns that time or chance writes into: what statements say, and the
// defaults of columns.
func (r *onSQL) findPassing(ctx context.Context) error {
	r.passes, r.wholes = map[string]bool{}, map[string]bool{}
	r.said.all.Range(func(_, v any) bool {
		f := v.(*statements.Form)
		for _, column := range f.Passes {
			if column != "*" {
				r.passes[column] = true
			}
			for _, t := range f.Tables {
				r.wholes[t] = true
				if column == "*" {
					r.passes[t] = true // whoever names it
				}
			}
		}
		return true
	})
	question := "SELECT table_name, column_name, concat(coalesce(column_default, ''), ' ', coalesce(extra, '')) FROM information_schema.columns WHERE table_schema = ?"
	if r.conn.Dialect() == sqltext.Postgres {
		question = "SELECT table_name, column_name, coalesce(column_default, '') FROM information_schema.columns WHERE table_schema = $1 AND column_default NOT LIKE 'nextval(%'"
	}
	rows, err := r.conn.SQL().QueryContext(ctx, question, r.schema)
	if err != nil {
		return fmt.Errorf("look at the columns of %s: %w", r.schema, err)
	}
	defer rows.Close() //nolint:errcheck // Err says what went wrong
	for rows.Next() {
		var table, column, how string
		if err := rows.Scan(&table, &column, &how); err != nil {
			return err
		}
		if statements.Passing(r.said.dialect, how) {
			r.passes[strings.ToLower(column)], r.wholes[strings.ToLower(table)] = true, true
		}
	}
	return rows.Err()
}

// vague reports whether more than the statements decides the answer to one.
func (r *onSQL) vague(f *statements.Form) bool {
	if f.Passing {
		return true
	}
	for w := range f.Words {
		if w = strings.ToLower(w); r.passes[w] || f.Whole && r.wholes[w] {
			return true
		}
	}
	return false
}

// caller returns what makes the statements of a thread.
func (r *onSQL) caller() caller {
	return &sqlCaller{on: r, session: sqlstore.NewSession(r.conn, r.schema), number: -1}
}

// sqlCaller makes the statements of a thread.
type sqlCaller struct {
	on      *onSQL
	session *sqlstore.Session
	number  int64 // of the call
	args    []capture.Arg
	form    *statements.Form
	text    []byte
	bound   [][]byte
	// forsaken means that the transaction is given up behind the call.
	forsaken bool

	got  sqlstore.Answer
	sum  uint64
	rows bool // their contents are wanted
}

// ready writes the statement, and begins the transaction that it begins without saying so.
func (k *sqlCaller) ready(ctx context.Context, in *chunk, c *call) error {
	p := &in.parts[c.from]
	k.args = in.args[p.from:p.to]
	k.form = k.on.said.of(k.args)
	if k.number != c.number {
		if c.begins {
			if _, err := k.session.Do(ctx, "BEGIN", nil, false, nil); err != nil && ctx.Err() != nil {
				return err // anything else, the statement meets, too
			}
		}
		k.number, k.forsaken = c.number, c.last
	}
	k.text, k.bound = k.form.Append(k.text[:0], k.args), k.form.Bound(k.bound[:0], k.args)
	return nil
}

// do makes the statement.
func (k *sqlCaller) do(ctx context.Context, keep bool) (err error) {
	var row func(vals [][]byte)
	k.sum, k.rows = 0, keep && !(k.form.Cut && !k.form.Ordered)
	if k.rows {
		row = k.add
	}
	k.got, err = k.session.Do(ctx, string(k.text), k.bound, k.form.Rows, row)
	return err
}

// add adds a row to the sum: in order, if the statement says one.
func (k *sqlCaller) add(vals [][]byte) {
	h := fnv.New64a()
	for _, v := range vals {
		n := int64(len(v)) << 1
		if v == nil {
			n = 1
		}
		_, _ = h.Write(binary.AppendVarint(nil, n)) // never fails
		_, _ = h.Write(v)
	}
	if k.form.Ordered {
		k.sum = k.sum*0x100000001b3 ^ h.Sum64()
	} else {
		k.sum += h.Sum64()
	}
}

// after gives a transaction up whose connection ended in it, so that nobody waits for its locks.
func (k *sqlCaller) after(ctx context.Context) {
	if !k.forsaken {
		return
	}
	if _, err := k.session.Do(ctx, "ROLLBACK", nil, false, nil); err != nil {
		k.session.Close() // which gives it up, too
	}
}

// found reports nothing: a statement does not read one value.
func (k *sqlCaller) found() (hit, is bool) { return false, false }

// answer returns what is kept of the answer: the class of an error; or the names of the columns and
// the rows, or how many rows were changed.
func (k *sqlCaller) answer(err error) (answer, bool) {
	h := fnv.New64a()
	vague := k.on.vague(k.form) || k.momentary()
	if err != nil {
		state, said := sqlstore.StateOf(err)
		_, _ = io.WriteString(h, state[:min(len(state), 2)]) // never fails
		return answer{vague: vague, kind: anError, hash: h.Sum64()}, said
	}
	for _, name := range k.got.Columns {
		_, _ = io.WriteString(h, name+"\x00") // never fails
	}
	n := k.got.Rows
	if len(k.got.Columns) == 0 {
		n = k.got.Changed
	}
	return answer{vague: vague, kind: aValue, size: uint32(min(n, math.MaxUint32)), hash: h.Sum64() + k.sum}, true
}

// momentary reports whether a value is a word for a moment.
func (k *sqlCaller) momentary() bool {
	for i := range k.args[2:] {
		switch strings.ToLower(k.args[2+i].Text) {
		case "now", "today", "tomorrow", "yesterday":
			return true
		}
	}
	return false
}

// describe says which statement it was, and what it has come to.
func (k *sqlCaller) describe(err error) (call, now string) {
	if state, said := sqlstore.StateOf(err); said {
		now = "the error " + state + ", " + short([]byte(err.Error()))
	}
	return short([]byte(k.args[1].Text)), now
}

// end lets go of the connection.
func (k *sqlCaller) end() { k.session.Close() }
