package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// byGroup is the suffix of the table of a grouped space, which has an additional
// column.
const byGroup = "_by_group"

// tableName returns the name of a space's table: "perfbench_eligibility", or
// "eligibility" without a namespace.
func tableName(s store.Space) string {
	name := s.Name
	if s.Grouped {
		name += byGroup
	}
	return sqltext.TableName(s.Namespace, name)
}

// madeName returns the name of the table with the records of what was made under
// a namespace.
func madeName(namespace string) string { return own(namespace) + "_made" }

// probeName draws the name of the temporary table of a probe, of at most limit bytes.
func probeName(namespace string, limit int) string {
	drawn := "_probe_" + store.Unlikely()[:16]
	begin := own(namespace)
	return begin[:min(len(begin), limit-len(drawn))] + drawn
}

func own(namespace string) string {
	if namespace == "" {
		return "_perfbench"
	}
	return namespace
}

// tableKey identifies a table.
type tableKey struct {
	name    string
	grouped bool
}

// keptTexts is how many different statements of a table are kept prepared. Servers
// limit their number over all connections; further statements are sent as text.
const keptTexts = 48

// table is one table with its statements.
type table struct {
	texts
	key   tableKey
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

// tables are those that were used over a connection, each with its prepared statements.
type tables struct {
	server *server
	d      *dialect
	db     *sql.DB
	gorm   *gorm.DB // once the server has answered
	beside beside   // for what is not part of the work
	known  sync.Map // tableKey → *table
}

// tableOf returns the table of a space. Names that the product does not allow are
// refused.
func (ts *tables) tableOf(s store.Space) (*table, error) {
	name := tableName(s)
	if name == madeName(s.Namespace) {
		return nil, fault.Input(fmt.Errorf("%s: the name %s is taken by perfbench's own table", ts.d.Dialect, name), "choose another name or --namespace")
	}
	return ts.table(name, s.Grouped)
}

// groupedTable returns the table of a space that is kept by groups.
func (ts *tables) groupedTable(s store.Space) (*table, error) {
	s.Grouped = true
	return ts.tableOf(s)
}

func (ts *tables) table(name string, grouped bool) (*table, error) {
	key := tableKey{name, grouped}
	if t, ok := ts.known.Load(key); ok {
		return t.(*table), nil
	}
	if len(name) > ts.d.nameLimit || name == "" || strings.ContainsRune(name, 0) || strings.HasSuffix(name, " ") {
		return nil, fault.Input(fmt.Errorf("%s: %q cannot be the name of a table", ts.d.Dialect, name),
			fmt.Sprintf("names have 1 to %d bytes and do not end with a space", ts.d.nameLimit))
	}
	keys := []string{"k"}
	if grouped {
		keys = []string{"g", "k"}
	}
	t, _ := ts.known.LoadOrStore(key, &table{texts: ts.d.texts(name, keys...), key: key, stmts: map[string]*sql.Stmt{}})
	return t.(*table), nil
}

// prepared returns a prepared statement for the table, or nil if it is to be sent as
// text because the driver caches statements itself, or because there are too many of
// them.
func (ts *tables) prepared(ctx context.Context, t *table, text string) (*sql.Stmt, error) {
	if ts.d.auto {
		return nil, nil
	}
	t.mu.RLock()
	s, full := t.stmts[text], len(t.stmts) >= keptTexts
	t.mu.RUnlock()
	if s != nil || full {
		return s, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.stmts[text]; s != nil {
		return s, nil
	}
	s, err := ts.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	t.stmts[text] = s
	return s, nil
}

// forget closes the prepared statements of a table, or of all tables if only is nil.
func (ts *tables) forget(only *table) {
	ts.known.Range(func(_, v any) bool {
		t := v.(*table)
		if only != nil && only != t {
			return true
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		for text, s := range t.stmts {
			_ = s.Close() // the server discards them with the connection at the latest
			delete(t.stmts, text)
		}
		return true
	})
}

// exec runs a statement on a table that returns nothing.
func (ts *tables) exec(ctx context.Context, t *table, text string, args ...any) error {
	s, err := ts.prepared(ctx, t, text)
	if err != nil {
		return err
	}
	if s == nil {
		_, err = ts.db.ExecContext(ctx, text, args...)
	} else {
		_, err = s.ExecContext(ctx, args...)
	}
	return err
}

// query runs a statement on a table and calls each for every row.
func (ts *tables) query(ctx context.Context, t *table, each func(*sql.Rows) error, text string, args ...any) error {
	s, err := ts.prepared(ctx, t, text)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	if s == nil {
		rows, err = ts.db.QueryContext(ctx, text, args...)
	} else {
		rows, err = s.QueryContext(ctx, args...)
	}
	if err != nil {
		return err
	}
	return walk(rows, each)
}

func walk(rows *sql.Rows, each func(*sql.Rows) error) error {
	defer rows.Close() // closing twice is harmless; Err reports what went wrong
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return rows.Close()
}

// exists reports whether there is a table, or something that can be read like one.
func (ts *tables) exists(ctx context.Context, t *table) (bool, error) {
	var n int
	err := ts.beside.QueryRowContext(ctx, ts.d.tables, t.key.name).Scan(&n)
	return n > 0, wrap("look for", t, err)
}

// create creates a table if it does not exist. It looks first, because a user who may
// use a table may still not be allowed to create one.
func (ts *tables) create(ctx context.Context, t *table) error {
	if there, err := ts.exists(ctx, t); there || err != nil {
		return err
	}
	if _, err := ts.beside.ExecContext(ctx, t.create); err != nil && !Exists(err) {
		return wrap("create table", t, err)
	}
	return nil
}

// inMade calls f with the table of records in place, and again if somebody else dropped
// it in the meantime along with their last record.
func (ts *tables) inMade(ctx context.Context, made *table, f func() error) error {
	return store.InPlace(func() error { return ts.create(ctx, made) }, f, func(err error) bool {
		gone := Absent(err)
		if gone {
			ts.forget(made)
		}
		return gone
	})
}

// fits reports whether a table has our columns.
func (ts *tables) fits(ctx context.Context, t *table) bool {
	columns := "k, v"
	if t.key.grouped {
		columns = "g, k, v"
	}
	rows, err := ts.beside.QueryContext(ctx, "SELECT "+columns+" FROM "+ts.d.Quote(t.key.name)+" WHERE 1 = 0")
	if err != nil {
		return Classify(err) != store.WrongType
	}
	return walk(rows, func(*sql.Rows) error { return nil }) == nil
}

// columns returns the columns of a table, as the server describes them.
func (ts *tables) columns(ctx context.Context, t *table) ([]gorm.ColumnType, error) {
	columns, err := ts.gorm.WithContext(ctx).Migrator().ColumnTypes(t.key.name)
	return columns, wrap("look at", t, err)
}

// exact reports whether a table has these columns and this primary key, and nothing else.
func (ts *tables) exact(ctx context.Context, t *table, want store.Table) (bool, error) {
	columns, err := ts.columns(ctx, t)
	if err != nil {
		return false, err
	}
	for _, col := range columns {
		named := func(name string) bool { return strings.EqualFold(name, col.Name()) }
		if !slices.ContainsFunc(want.Columns, func(w store.Column) bool { return named(w.Name) }) {
			return false, nil
		}
		if isKey, known := col.PrimaryKey(); known && isKey != slices.ContainsFunc(want.Key, named) {
			return false, nil
		}
	}
	for _, w := range want.Columns {
		if !w.Later && !slices.ContainsFunc(columns, func(col gorm.ColumnType) bool { return strings.EqualFold(w.Name, col.Name()) }) {
			return false, nil
		}
	}
	return true, nil
}

func (ts *tables) count(ctx context.Context, t *table) (n int64, err error) {
	err = ts.db.QueryRowContext(ctx, t.count).Scan(&n)
	return n, err
}
