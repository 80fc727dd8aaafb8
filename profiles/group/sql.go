package group

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

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// openDatabase returns the SQL connection of a plan that writes tables: its own, or a
// SQLite of its own for the embedded store.
func openDatabase(ctx context.Context, s *spec, conn store.Conn) (sqlstore.Typed, func() error, error) {
	if t, ok := conn.(sqlstore.Typed); ok {
		return t, func() error { return nil }, nil
	}
	if s.driver != "embedded" {
		return nil, nil, fault.Input(fmt.Errorf("database=on: %s has no tables", s.driver), "use mysql://, postgres://, sqlite: or embedded:")
	}
	c, err := sqlstore.SQLite.Open(ctx, store.Target{Scheme: "sqlite"}, store.OpenOptions{Threads: 1})
	if err != nil {
		return nil, nil, err
	}
	t, err := store.As[sqlstore.Typed](c)
	return t, c.Close, err
}

// sqlRoom writes objects into tables, through gorm or without. All else is for the
// shapes of the store.
type sqlRoom struct {
	*mapRoom
	db   sqlstore.Typed
	done func() error
	// apart says that the database is another than the run's store.
	apart bool

	mu    sync.Mutex
	texts map[string]*sqlTexts
}

func newSQLRoom(ctx context.Context, s *spec, c store.Conn) (engineRoom, error) {
	db, done, err := openDatabase(ctx, s, c)
	if err != nil {
		return nil, err
	}
	return &sqlRoom{mapRoom: newMapRoom(s, db), db: db, done: done, apart: store.Conn(db) != c}, nil
}

// own returns a database that is not the run's: an embedded one.
func (r *sqlRoom) own() store.Conn {
	if !r.apart {
		return nil
	}
	r.done = func() error { return nil }
	return r.db
}

func (r *sqlRoom) close() error { return r.done() }

func (r *sqlRoom) hand(o *opSpec) (hand, error) {
	if !o.table {
		return r.mapRoom.hand(o)
	}
	e := o.factory.entity
	if o.act == actQuery && e.search() == "" {
		err := fmt.Errorf("query: the table %s has no column to search by", e.name)
		if e.object != nil {
			err = fault.Hint(err, "say  index: on  of a field of "+e.object.Name)
		}
		return nil, err
	}
	t := r.textsOf(o)
	if r.s.mapper == "raw" && !o.direct { // what is compared is read into structs
		return &rawHand{db: r.db.SQL(), t: t, id: r.id(o), sought: soughtBy(o), stmts: map[int]*sql.Stmt{}}, nil
	}
	return &gormHand{db: r.db.DB(), e: e, t: t, id: r.id(o), sought: soughtBy(o)}, nil
}

func (r *sqlRoom) size(ctx context.Context, o *opSpec) (int64, error) {
	if !o.table {
		return r.mapRoom.size(ctx, o)
	}
	var n int64
	err := r.db.SQL().QueryRowContext(ctx, "SELECT COUNT(*) FROM "+r.textsOf(o).table).Scan(&n)
	return n, err
}

// id is the column by which an object is found: the first of the primary key or,
// of children with a key of two columns, which begins with the parent's, the last.
func (r *sqlRoom) id(o *opSpec) string {
	pk := o.factory.entity.pk
	for _, other := range r.s.order {
		if other.parent != nil && other.space == o.space {
			return pk[len(pk)-1]
		}
	}
	return pk[0]
}

// sqlTexts are the statements about the table of one entity.
type sqlTexts struct {
	e                          *entity
	name, table                string // as it is, and quoted
	columns                    []string
	insert, upsert, pick, find string
	sqltext.Dialect
}

func (r *sqlRoom) textsOf(o *opSpec) *sqlTexts {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := o.factory.entity
	if t := r.texts[e.name]; t != nil {
		return t
	}
	t := newTexts(e, sqltext.TableName(o.space.Namespace, o.space.Name), r.db.Dialect())
	if r.texts == nil {
		r.texts = map[string]*sqlTexts{}
	}
	r.texts[e.name] = t
	return t
}

func newTexts(e *entity, name string, d sqltext.Dialect) *sqlTexts {
	t := &sqlTexts{e: e, name: name, table: d.Quote(name), columns: columnsOf(e.typ()), Dialect: d}
	var list, keys, sets []string
	for _, c := range t.columns {
		list = append(list, d.Quote(c))
		switch {
		case slices.Contains(e.pk, c):
			keys = append(keys, d.Quote(c))
		case c == "createdOn" && e.object == nil:
		default:
			sets = append(sets, d.Quote(c))
		}
	}
	t.insert = "INSERT INTO " + t.table + " (" + strings.Join(list, ",") + ") VALUES "
	t.upsert = d.Replace(keys, sets)
	t.pick = "SELECT " + strings.Join(list, ",") + " FROM " + t.table + " WHERE "
	t.find = t.pick + d.Quote(e.search()) + " = " + d.Mark(1) + " LIMIT "
	return t
}

// queryLimit is the most rows that a query returns.
func queryLimit(c *call) int { return max(c.o.batch, 1) }

// gormHand works on one table through gorm, for one worker.
type gormHand struct {
	db     *gorm.DB
	e      *entity
	t      *sqlTexts
	id     string // the column that holds the key
	sought func(c *call) any
}

var upsert = clause.OnConflict{UpdateAll: true}

func (h *gormHand) do(ctx context.Context, c *call) (result, error) {
	r, err := h.route(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.act, h.t.name, err)
	}
	return r, nil
}

func (h *gormHand) route(ctx context.Context, c *call) (result, error) {
	db := h.db.WithContext(ctx).Table(h.t.name)
	n := int64(len(c.entries))
	switch c.act {
	case actPut:
		return result{entries: 1}, db.Clauses(upsert).Create(rowOf(c.objects[0])).Error
	case actPutAll:
		rows := reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(h.e.typ())), len(c.objects), len(c.objects))
		for i, o := range c.objects {
			rows.Index(i).Set(reflect.ValueOf(rowOf(o)))
		}
		return result{entries: n}, db.Clauses(upsert).Create(rows.Interface()).Error
	case actGet:
		c.row = reflect.New(h.e.typ()).Interface()
		err := db.Where(map[string]any{h.id: string(c.entries[0].Key)}).Take(c.row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return result{misses: 1}, nil
		}
		return result{entries: 1}, err
	}
	rows := reflect.New(reflect.SliceOf(h.e.typ()))
	if c.act == actQuery {
		db = db.Where(map[string]any{h.e.search(): h.sought(c)}).Limit(queryLimit(c))
		err := db.Find(rows.Interface()).Error
		return found(int64(rows.Elem().Len()), rows.Elem().Len() > 0), err
	}
	keys := make([]string, n)
	for i, e := range c.entries {
		keys[i] = string(e.Key)
	}
	err := db.Where(map[string]any{h.id: keys}).Find(rows.Interface()).Error
	got := int64(rows.Elem().Len())
	return result{entries: got, misses: max(n-got, 0)}, err
}

// rawHand works on one table with statements of its own, for one worker.
type rawHand struct {
	db     *sql.DB
	t      *sqlTexts
	id     string // the column that holds the key
	sought func(c *call) any
	stmts  map[int]*sql.Stmt // upserts by the number of their rows
	args   []any
}

func (h *rawHand) do(ctx context.Context, c *call) (result, error) {
	r, err := h.route(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", c.act, h.t.name, err)
	}
	return r, nil
}

func (h *rawHand) route(ctx context.Context, c *call) (result, error) {
	n := int64(len(c.entries))
	switch c.act {
	case actPut, actPutAll:
		return result{entries: n}, h.write(ctx, c.objects)
	case actGet:
		got, err := h.read(ctx, h.t.pick+h.t.Quote(h.id)+" = "+h.t.Mark(1), string(c.entries[0].Key))
		return found(1, got > 0), err
	case actGetAll:
		h.args = h.args[:0]
		for _, e := range c.entries {
			h.args = append(h.args, string(e.Key))
		}
		got, err := h.read(ctx, h.t.pick+h.t.Quote(h.id)+" IN "+h.t.Rows(1, len(h.args)), h.args...)
		return result{entries: got, misses: max(n-got, 0)}, err
	case actQuery:
		got, err := h.read(ctx, h.t.find+strconv.Itoa(queryLimit(c)), h.sought(c))
		return found(got, got > 0), err
	}
	return result{}, store.ErrUnsupported
}

// write upserts rows with one statement, prepared once for each number of rows.
func (h *rawHand) write(ctx context.Context, rows []record) error {
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
		h.args = r.args(h.args)
	}
	_, err := stmt.ExecContext(ctx, h.args...)
	return err
}

// insertion is the statement that upserts so many rows.
func (t *sqlTexts) insertion(rows int) string {
	return t.insert + t.Rows(rows, len(t.columns)) + t.upsert
}

// read counts the rows of a statement, each read in full.
func (h *rawHand) read(ctx context.Context, text string, args ...any) (int64, error) {
	rows, err := h.db.QueryContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close() // closing twice is nothing; what went wrong Err tells
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

// soughtBy returns what tells the value whose rows a query asks for: of Northwind's
// tables a state, of others what the object of the call's number has.
func soughtBy(o *opSpec) func(c *call) any {
	d := o.object()
	if d == nil || o.act != actQuery {
		return func(c *call) any { return objects.StateOf(c.numbers[0]) }
	}
	m, at := o.maker(), slices.Index(d.Columns(), d.Search().Name)
	return func(c *call) any {
		m.Make(c.numbers[0], objects.None, "", 0)
		return m.Arg(at)
	}
}
