package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// madeKey returns the key of a space in the records, as a column has it.
func madeKey(s store.Space) []byte { return []byte(store.RecordKey(s)) }

// Records are what was made under each namespace, in a table next to the data.
type Records struct {
	tables *tables
	choice *choice
}

// Inspect looks at the table of a space. If it has columns other than those of a map,
// the kind says so.
func (r *Records) Inspect(ctx context.Context, s store.Space, _ ...string) (store.Found, error) {
	return r.inspect(ctx, s, r.tables.count)
}

// Peek is like Inspect, without counting the rows.
func (r *Records) Peek(ctx context.Context, s store.Space, _ ...string) (store.Found, error) {
	return r.inspect(ctx, s, func(ctx context.Context, t *table) (int64, error) {
		var one int
		err := r.tables.beside.QueryRowContext(ctx, "SELECT 1 FROM "+r.tables.d.Quote(t.key.name)+" LIMIT 1").Scan(&one)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, nil
		}
		return -1, err
	})
}

// inspect is Inspect with a function that determines the size.
func (r *Records) inspect(ctx context.Context, s store.Space, size func(context.Context, *table) (int64, error)) (store.Found, error) {
	t, err := r.tables.tableOf(s)
	if err != nil {
		return store.Found{}, err
	}
	if chosen, err := r.choice.choose(ctx, s.Namespace, false); !chosen {
		return store.Found{}, err
	}
	if s.Shape == store.Schema {
		return r.inspectSchema(ctx, t)
	}
	if there, err := r.tables.exists(ctx, t); !there || err != nil {
		return store.Found{}, err
	}
	found := store.Found{Exists: true, Kind: "table"}
	if found.Size, err = size(ctx, t); err != nil {
		return store.Found{}, wrap("count", t, err)
	}
	if !r.tables.fits(ctx, t) {
		found.Kind = "table with other columns"
	}
	return found, nil
}

// own returns what our table of a map has.
func (t *table) own() store.Table {
	if t.key.grouped {
		return store.Table{Columns: []store.Column{{Name: "g"}, {Name: "k"}, {Name: "v"}}, Key: []string{"g", "k"}}
	}
	return store.Table{Columns: []store.Column{{Name: "k"}, {Name: "v"}}, Key: []string{"k"}}
}

// recorded returns the record of a space, false if it is not recorded as ours.
func (r *Records) recorded(ctx context.Context, s store.Space) (m store.Made, ok bool, err error) {
	made, err := r.tables.table(madeName(s.Namespace), false)
	if err != nil {
		return m, false, err
	}
	var text []byte
	switch err := r.tables.beside.QueryRowContext(ctx, made.get, madeKey(s)).Scan(&text); {
	case Absent(err), Classify(err) == store.Missing:
		return m, false, nil
	case err != nil:
		return m, false, wrap("read", made, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, false, store.NotOurs(fmt.Sprintf("%q in %s", madeKey(s), made.key.name), "record")
	}
	return m, true, nil
}

// Record records that we made a space, and creates the table of a map if it does not
// exist. Before that, if the target names no database, it selects the one named after
// the namespace.
func (r *Records) Record(ctx context.Context, m store.Made) error {
	t, err := r.tables.tableOf(m.Space)
	if err != nil {
		return err
	}
	made, err := r.tables.table(madeName(m.Namespace), false)
	if err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("record of %s: %w", m.Name, err)
	}
	if err := r.choice.ensure(ctx, m.Namespace); err != nil {
		return err
	}
	err = r.tables.inMade(ctx, made, func() error {
		_, err := r.tables.beside.ExecContext(ctx, made.set, madeKey(m.Space), text)
		return err
	})
	if err != nil {
		return r.tables.server.refusal(ctx, wrap("write", made, err))
	}
	if m.Shape != store.Map {
		return nil
	}
	return r.tables.server.refusal(ctx, r.tables.create(ctx, t))
}

// Made lists what is recorded under a namespace, by name.
func (r *Records) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	made, err := r.tables.table(madeName(namespace), false)
	if err != nil {
		return nil, err
	}
	if chosen, err := r.choice.choose(ctx, namespace, false); !chosen {
		return nil, err
	}
	rows, err := r.tables.beside.QueryContext(ctx, "SELECT k, v FROM "+r.tables.d.Quote(made.key.name))
	if Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, wrap("read", made, err)
	}
	texts := map[string][]byte{}
	err = walk(rows, func(rows *sql.Rows) error {
		var key string
		var text []byte
		if err := rows.Scan(&key, &text); err != nil {
			return err
		}
		texts[key] = text
		return nil
	})
	if err != nil {
		return nil, wrap("read", made, err)
	}
	out, wrong := store.AppendRecords(nil, namespace, texts, store.RecordKey)
	if wrong != "" {
		return nil, wrap("read", made, store.NotOurs(fmt.Sprintf("%q", wrong), "record"))
	}
	return out, nil
}

// Drop removes the table of a space recorded as ours, and its record, and returns how
// many rows were removed. Transactions of the namespace that were left prepared are
// rolled back.
func (r *Records) Drop(ctx context.Context, s store.Space, progress func(done int64)) (int64, error) {
	t, err := r.tables.tableOf(s)
	if err != nil {
		return 0, err
	}
	made, err := r.tables.table(madeName(s.Namespace), false)
	if err != nil {
		return 0, err
	}
	var record store.Made
	recorded, err := r.choice.choose(ctx, s.Namespace, false)
	if recorded && err == nil {
		record, recorded, err = r.recorded(ctx, s)
	}
	if err != nil {
		return 0, err
	}
	if !recorded {
		return 0, fault.Input(fmt.Errorf("%s: the table %s was not made by perfbench", r.tables.d.Dialect, t.key.name), "only what perfbench made is deleted")
	}
	if s.Shape == store.Schema {
		return r.dropSchema(ctx, t, made, s, progress)
	}
	if r.tables.d.Dialect != sqltext.SQLite {
		left, err := New(ctx, r.tables.db, r.tables.d.Dialect, s.Namespace)
		if err == nil {
			err = left.RollbackAll(ctx)
		}
		if err != nil {
			return 0, wrap("drop", t, err)
		}
	}
	n, err := r.tables.count(ctx, t)
	if err != nil && !Absent(err) {
		return 0, wrap("count", t, err)
	}
	want := record.Table
	if s.Shape == store.Map {
		own := t.own()
		want = &own
	}
	if want != nil && err == nil {
		ours, err := r.tables.exact(ctx, t, *want)
		if err != nil {
			return 0, err
		}
		if !ours { // others have made one in its place: it stays
			return 0, r.unrecord(ctx, made, s)
		}
	}
	r.tables.forget(t)
	if _, err := r.tables.beside.ExecContext(ctx, t.drop); err != nil {
		return 0, wrap("drop", t, err)
	}
	if progress != nil {
		progress(n)
	}
	return n, r.unrecord(ctx, made, s)
}

// inspectSchema looks at a schema of PostgreSQL, or a database of MySQL. Its size is how many tables
// it has.
func (r *Records) inspectSchema(ctx context.Context, t *table) (store.Found, error) {
	question := "SELECT (SELECT count(*) FROM information_schema.schemata WHERE schema_name = ?), (SELECT count(*) FROM information_schema.tables WHERE table_schema = ?)"
	switch r.tables.d.Dialect {
	case sqltext.SQLite:
		return store.Found{}, nil // there are none
	case sqltext.Postgres: // whose information_schema shows only one's own
		question = "SELECT (SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1), (SELECT count(*) FROM pg_catalog.pg_class c" +
			" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $2 AND c.relkind IN ('r','p','v','m','f'))"
	}
	var there, tables int64
	if err := r.tables.beside.QueryRowContext(ctx, question, t.key.name, t.key.name).Scan(&there, &tables); err != nil {
		return store.Found{}, wrap("look for", t, err)
	}
	if there == 0 {
		return store.Found{}, nil
	}
	return store.Found{Exists: true, Kind: "schema", Size: tables}, nil
}

// dropSchema removes a schema that is recorded as ours, with everything in it.
func (r *Records) dropSchema(ctx context.Context, t, made *table, s store.Space, progress func(done int64)) (int64, error) {
	found, err := r.inspectSchema(ctx, t)
	if err != nil {
		return 0, err
	}
	if found.Exists {
		text := "DROP DATABASE IF EXISTS " + r.tables.d.Quote(t.key.name)
		if r.tables.d.Dialect == sqltext.Postgres {
			text = "DROP SCHEMA IF EXISTS " + r.tables.d.Quote(t.key.name) + " CASCADE"
		}
		if _, err := r.tables.beside.ExecContext(ctx, text); err != nil {
			return 0, wrap("drop", t, err)
		}
	}
	if progress != nil {
		progress(found.Size)
	}
	return found.Size, r.unrecord(ctx, made, s)
}

// unrecord removes a record, and the table of records along with the last one.
func (r *Records) unrecord(ctx context.Context, made *table, s store.Space) error {
	if _, err := r.tables.beside.ExecContext(ctx, made.remove, madeKey(s)); err != nil {
		return wrap("write", made, err)
	}
	left, err := r.tables.count(ctx, made)
	if Absent(err) {
		return nil
	}
	if err == nil && left == 0 {
		r.tables.forget(made)
		_, err = r.tables.beside.ExecContext(ctx, made.drop)
	}
	return wrap("drop", made, err)
}

// Misfit says why our rows cannot be read from the table of a space, or written into
// it. Types are not compared.
func (r *Records) Misfit(ctx context.Context, s store.Space, _ string, want store.Table) (store.Misfit, error) {
	t, err := r.tables.tableOf(s)
	if err != nil {
		return store.Misfit{}, err
	}
	if s.Shape == store.Map {
		want = t.own()
	}
	columns, err := r.tables.columns(ctx, t)
	if err != nil {
		return store.Misfit{}, err
	}
	same := strings.EqualFold
	if r.tables.d.Dialect == sqltext.Postgres {
		same = func(a, b string) bool { return a == b }
	}
	m := store.Misfit{Table: t.key.name}
	m.Read, m.Write = misfit(columns, same, want)
	return m, nil
}

// misfit names the column because of which rows cannot be read from a table with these
// columns, and the one because of which they cannot be written into it.
func misfit(columns []gorm.ColumnType, same func(a, b string) bool, want store.Table) (read, write string) {
	for _, w := range want.Columns {
		if !slices.ContainsFunc(columns, func(c gorm.ColumnType) bool { return same(c.Name(), w.Name) }) {
			read = "it has no column " + w.Name
			break
		}
	}
	for _, c := range columns {
		name := c.Name()
		isKey, known := c.PrimaryKey()
		wanted := slices.ContainsFunc(want.Key, func(s string) bool { return same(s, name) })
		if known && isKey != wanted && len(want.Key) > 0 {
			return read, fmt.Sprintf("its primary key is not (%s), see column %s", strings.Join(want.Key, ", "), name)
		}
		ours := slices.ContainsFunc(want.Columns, func(w store.Column) bool { return same(w.Name, name) })
		nullable, told := c.Nullable()
		_, filled := c.DefaultValue()
		if counts, _ := c.AutoIncrement(); told && !nullable && !filled && !counts && !ours {
			return read, fmt.Sprintf("it has a column %s that must be filled and is not in our rows", name)
		}
	}
	return read, ""
}
