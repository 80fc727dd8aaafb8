// Package onsql writes the objects of a group run into tables, with one column per
// field.
package onsql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// openDatabase returns the SQL connection of a plan that writes tables: that of the run
// or, for the embedded store, an SQLite database of its own.
func openDatabase(ctx context.Context, s *model.Spec, conn store.Conn) (sqlstore.Typed, func() error, error) {
	if t, ok := conn.(sqlstore.Typed); ok {
		return t, func() error { return nil }, nil
	}
	if s.Driver != "embedded" {
		return nil, nil, fault.Input(fmt.Errorf("database=on: %s has no tables", s.Driver), "use mysql://, postgres://, sqlite: or embedded:")
	}
	c, err := sqlstore.SQLite.Open(ctx, store.Target{Scheme: "sqlite"}, store.OpenOptions{Threads: 1})
	if err != nil {
		return nil, nil, err
	}
	t, err := store.As[sqlstore.Typed](c)
	return t, c.Close, err
}

// Adapter writes objects into tables, with or without gorm. Everything else is left to
// the shapes of the store.
type Adapter struct {
	*model.Maps
	db   sqlstore.Typed
	done func() error
	// apart means that the database is not the run's store.
	apart bool

	mu    sync.Mutex
	texts map[string]*sqlTexts
}

// New returns the layer for a plan whose objects are rows of tables.
func New(ctx context.Context, s *model.Spec, c store.Conn) (model.Adapter, error) {
	db, done, err := openDatabase(ctx, s, c)
	if err != nil {
		return nil, err
	}
	return &Adapter{Maps: model.NewMaps(s, db), db: db, done: done, apart: store.Conn(db) != c}, nil
}

// Own returns a database that is not the run's: an embedded one.
func (r *Adapter) Own() store.Conn {
	if !r.apart {
		return nil
	}
	r.done = func() error { return nil }
	return r.db
}

// Close releases what the layer has opened.
func (r *Adapter) Close() error { return r.done() }

// Caller returns what carries out the calls of an operation.
func (r *Adapter) Caller(o *model.Op) (model.Caller, error) {
	if !o.Table {
		return r.Maps.Caller(o)
	}
	e := o.Factory.Entity
	if o.Action == model.ActQuery && e.Search() == "" {
		err := fmt.Errorf("query: the table %s has no column to search by", e.Name)
		if e.Object != nil {
			err = fault.Hint(err, "write  index: on  in a field of "+e.Object.Name)
		}
		return nil, err
	}
	t := r.textsOf(o)
	if r.Spec.Mapper == "raw" && !o.Direct { // what is to be compared is read into structs
		return &rawCaller{db: r.db.SQL(), t: t, id: r.ID(o), sought: soughtBy(o), stmts: map[int]*sql.Stmt{}}, nil
	}
	return &gormCaller{db: r.db.DB(), e: e, t: t, id: r.ID(o), sought: soughtBy(o)}, nil
}

// Size returns how many elements a structure has.
func (r *Adapter) Size(ctx context.Context, o *model.Op) (int64, error) {
	if !o.Table {
		return r.Maps.Size(ctx, o)
	}
	var n int64
	err := r.db.SQL().QueryRowContext(ctx, "SELECT COUNT(*) FROM "+r.textsOf(o).table).Scan(&n)
	return n, err
}

// ID returns the column by which an object is found: the first of the primary key or,
// for children whose key has two columns, beginning with the parent's, the last.
func (r *Adapter) ID(o *model.Op) string {
	pk := o.Factory.Entity.PK
	for _, other := range r.Spec.Order {
		if other.Parent != nil && other.Space == o.Space {
			return pk[len(pk)-1]
		}
	}
	return pk[0]
}

// sqlTexts are the statements on the table of one entity.
type sqlTexts struct {
	e                          *northwind.Entity
	name, table                string // as it is, and quoted
	columns                    []string
	insert, upsert, pick, find string
	sqltext.Dialect
}

func (r *Adapter) textsOf(o *model.Op) *sqlTexts {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := o.Factory.Entity
	if t := r.texts[e.Name]; t != nil {
		return t
	}
	t := newTexts(e, sqltext.TableName(o.Space.Namespace, o.Space.Name), r.db.Dialect())
	if r.texts == nil {
		r.texts = map[string]*sqlTexts{}
	}
	r.texts[e.Name] = t
	return t
}

func newTexts(e *northwind.Entity, name string, d sqltext.Dialect) *sqlTexts {
	t := &sqlTexts{e: e, name: name, table: d.Quote(name), columns: northwind.ColumnsOf(e.RowType()), Dialect: d}
	var list, keys, sets []string
	for _, c := range t.columns {
		list = append(list, d.Quote(c))
		switch {
		case slices.Contains(e.PK, c):
			keys = append(keys, d.Quote(c))
		case c == "createdOn" && e.Object == nil:
		default:
			sets = append(sets, d.Quote(c))
		}
	}
	t.insert = "INSERT INTO " + t.table + " (" + strings.Join(list, ",") + ") VALUES "
	t.upsert = d.Replace(keys, sets)
	t.pick = "SELECT " + strings.Join(list, ",") + " FROM " + t.table + " WHERE "
	t.find = t.pick + d.Quote(e.Search()) + " = " + d.Mark(1) + " LIMIT "
	return t
}

// queryLimit returns the largest number of rows that a query returns.
func queryLimit(c *model.Call) int { return max(c.Op.Batch, 1) }

// gormCaller works on one table through gorm, for one worker.
type gormCaller struct {
	db     *gorm.DB
	e      *northwind.Entity
	t      *sqlTexts
	id     string // the column that holds the key
	sought func(c *model.Call) any
}

var upsert = clause.OnConflict{UpdateAll: true}

// Do carries out a call.
func (h *gormCaller) Do(ctx context.Context, c *model.Call) (model.Result, error) {
	r, err := h.route(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.Action, h.t.name, err)
	}
	return r, nil
}

func (h *gormCaller) route(ctx context.Context, c *model.Call) (model.Result, error) {
	db := h.db.WithContext(ctx).Table(h.t.name)
	n := int64(len(c.Entries))
	switch c.Action {
	case model.ActPut:
		return model.Result{Entries: 1}, db.Clauses(upsert).Create(northwind.RowOf(c.Objects[0])).Error
	case model.ActPutAll:
		rows := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(h.e.RowType())), len(c.Objects), len(c.Objects))
		for i, o := range c.Objects {
			rows.Index(i).Set(reflect.ValueOf(northwind.RowOf(o)))
		}
		return model.Result{Entries: n}, db.Clauses(upsert).Create(rows.Interface()).Error
	case model.ActGet:
		c.Row = reflect.New(h.e.RowType()).Interface()
		err := db.Where(map[string]any{h.id: string(c.Entries[0].Key)}).Take(c.Row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return model.Result{Misses: 1}, nil
		}
		return model.Result{Entries: 1}, err
	}
	rows := reflect.New(reflect.SliceOf(h.e.RowType()))
	if c.Action == model.ActQuery {
		db = db.Where(map[string]any{h.e.Search(): h.sought(c)}).Limit(queryLimit(c))
		err := db.Find(rows.Interface()).Error
		return model.Found(int64(rows.Elem().Len()), rows.Elem().Len() > 0), err
	}
	keys := make([]string, n)
	for i, e := range c.Entries {
		keys[i] = string(e.Key)
	}
	err := db.Where(map[string]any{h.id: keys}).Find(rows.Interface()).Error
	got := int64(rows.Elem().Len())
	return model.Result{Entries: got, Misses: max(n-got, 0)}, err
}

// rawCaller works on one table with its own statements, for one worker.
type rawCaller struct {
	db     *sql.DB
	t      *sqlTexts
	id     string // the column that holds the key
	sought func(c *model.Call) any
	stmts  map[int]*sql.Stmt // upserts by the number of their rows
	args   []any
}

// Do carries out a call.
func (h *rawCaller) Do(ctx context.Context, c *model.Call) (model.Result, error) {
	r, err := h.route(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.Action, h.t.name, err)
	}
	return r, nil
}

func (h *rawCaller) route(ctx context.Context, c *model.Call) (model.Result, error) {
	n := int64(len(c.Entries))
	switch c.Action {
	case model.ActPut, model.ActPutAll:
		return model.Result{Entries: n}, h.write(ctx, c.Objects)
	case model.ActGet:
		got, err := h.read(ctx, h.t.pick+h.t.Quote(h.id)+" = "+h.t.Mark(1), string(c.Entries[0].Key))
		return model.Found(1, got > 0), err
	case model.ActGetAll:
		h.args = h.args[:0]
		for _, e := range c.Entries {
			h.args = append(h.args, string(e.Key))
		}
		got, err := h.read(ctx, h.t.pick+h.t.Quote(h.id)+" IN "+h.t.Rows(1, len(h.args)), h.args...)
		return model.Result{Entries: got, Misses: max(n-got, 0)}, err
	case model.ActQuery:
		got, err := h.read(ctx, h.t.find+strconv.Itoa(queryLimit(c)), h.sought(c))
		return model.Found(got, got > 0), err
	}
	return model.Result{}, store.ErrUnsupported
}

// write upserts rows with one statement, prepared once for each number of rows.
func (h *rawCaller) write(ctx context.Context, rows []northwind.Record) error {
	stmt := h.stmts[len(rows)]
	if stmt == nil {
		var err error
		if stmt, err = h.db.PrepareContext(ctx, h.t.insertion(len(rows))); err != nil {
			return err
		}
		h.stmts[len(rows)] = stmt
	}
	h.args = h.args[:0]
	for _, r := range rows {
		h.args = r.Args(h.args)
	}
	_, err := stmt.ExecContext(ctx, h.args...)
	return err
}

// insertion returns the statement that upserts that many rows.
func (t *sqlTexts) insertion(rows int) string {
	return t.insert + t.Rows(rows, len(t.columns)) + t.upsert
}

// read counts the rows that a statement returns, reading each in full.
func (h *rawCaller) read(ctx context.Context, text string, args ...any) (int64, error) {
	rows, err := h.db.QueryContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close() // closing twice is harmless; Err reports what went wrong
	cells := make([]sql.RawBytes, len(h.t.columns))
	to := make([]any, len(cells))
	for i := range cells {
		to[i] = &cells[i]
	}
	var n int64
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}

// soughtBy returns a function that gives the value that a query searches for: in
// Northwind's tables a state, in others that of the object with the call's number.
func soughtBy(o *model.Op) func(c *model.Call) any {
	d := o.Object()
	if d == nil || o.Action != model.ActQuery {
		return func(c *model.Call) any { return datagen.StateOf(c.Numbers[0]) }
	}
	m, at := o.Maker(), slices.Index(d.Columns(), d.Search().Name)
	return func(c *model.Call) any {
		m.Make(c.Numbers[0], datagen.None, "", 0)
		return m.Arg(at)
	}
}
