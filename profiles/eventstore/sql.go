package eventstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm/clause"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
)

// onSQL keeps one row for each batch, with an index by parent, and one for each frame
// of statistics. Several batches go in one statement.
type onSQL struct {
	s       *spec
	c       sqlstore.Typed
	db      *sql.DB
	prefix  string // of tables: "perfbench_"
	batches string // quoted names of tables
	stats   string
	plain   string // the name of the table of batches as it is
	durable string

	mu    sync.Mutex
	stmts map[int]*sql.Stmt // inserts by number of rows
	claim *place.Claim      // since look
}

// sqlRow is a row of the table of batches, for gorm.
type sqlRow struct {
	Book    string `gorm:"column:book;primaryKey"`
	Page    string `gorm:"column:page;primaryKey"`
	Scope   string `gorm:"column:scope;primaryKey"`
	StartNS int64  `gorm:"column:start_ns;primaryKey;autoIncrement:false"`
	ID      string `gorm:"column:id;primaryKey"`
	EndNS   int64  `gorm:"column:end_ns"`
	LastNS  int64  `gorm:"column:last_start_ns"`
	Parent  string `gorm:"column:parent_id"`
	OK      int    `gorm:"column:ok"`
	Single  int    `gorm:"column:single"`
	Events  int    `gorm:"column:cnt"`
	Codec   int    `gorm:"column:codec"`
	RawSize int    `gorm:"column:raw_size"`
	Body    []byte `gorm:"column:body"`
	Links   []byte `gorm:"column:links"`
}

const (
	sqlColumns     = "book, page, scope, start_ns, id, end_ns, last_start_ns, parent_id, ok, single, cnt, codec, raw_size, body, links"
	sqlColumnCount = 15
	sqlRead        = "start_ns, id, end_ns, last_start_ns, parent_id, ok, single, cnt, codec, raw_size, body, links"
	// sqlStatement is the most bytes of content in one statement.
	sqlStatement = 4 << 20
)

func newSQL(s *spec, c sqlstore.Typed) *onSQL {
	l := &onSQL{s: s, c: c, db: c.SQL(), stmts: map[int]*sql.Stmt{}}
	if s.namespace != "" {
		l.prefix = s.namespace + "_"
	}
	l.plain = l.prefix + "events_batches"
	l.batches, l.stats = l.quoted(l.plain), l.quoted(l.prefix+"events_statistics")
	return l
}

func (l *onSQL) quoted(name string) string {
	q := `"`
	if l.c.Dialect() == sqlstore.DialectMySQL {
		q = "`"
	}
	return q + strings.ReplaceAll(name, q, q+q) + q
}

// sqlTables are the tables, behind the namespace, and the columns that they must have.
// with the primary key.
var sqlTables = []struct{ name, columns, key string }{
	{"events_batches", sqlColumns, "book, page, scope, start_ns, id"},
	{"events_statistics", "book, page, frame, frame_start, cnt, bytes", "book, page, frame, frame_start"},
}

func (l *onSQL) space(table string) store.Space {
	return store.Space{Namespace: l.s.namespace, Name: table, Shape: store.Keys}
}

// look makes sure that the tables of ours that are there are of this version.
func (l *onSQL) look(ctx context.Context, c *place.Claim) error {
	l.claim = c
	for _, t := range sqlTables {
		if !c.Spot(l.space(t.name)).Found.Exists || c.Theirs(l.space(t.name), "") {
			continue
		}
		if err := l.fits(ctx, l.prefix+t.name, t.columns); err != nil {
			return err
		}
	}
	return nil
}

// fits makes sure that a table has columns.
func (l *onSQL) fits(ctx context.Context, table, columns string) error {
	rows, err := l.db.QueryContext(ctx, "SELECT "+columns+" FROM "+l.quoted(table)+" WHERE 1 = 0")
	if err != nil {
		return fault.Store(fmt.Errorf("the table %s has other columns than this version's: %w", table, err),
			"delete it with  perfbench data delete,  or use another --namespace")
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (l *onSQL) traits() traits {
	t := traits{writers: 4, group: 1000, durability: l.durable}
	if l.c.Dialect() == sqlstore.DialectSQLite {
		t.writers = 1 // a file has one writer at a time
	}
	return t
}

// prepare makes the tables and asks when the server calls a write durable.
func (l *onSQL) prepare(ctx context.Context) error {
	if err := l.c.EnsureDatabase(ctx, l.s.namespace); err != nil {
		return err
	}
	text, blob, index := "VARCHAR(%d)", "BLOB", ""
	switch l.c.Dialect() {
	case sqlstore.DialectMySQL:
		text, blob = "VARCHAR(%d) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "LONGBLOB"
		index = ", INDEX by_parent (parent_id, start_ns)"
	case sqlstore.DialectPostgres:
		text, blob = `VARCHAR(%d) COLLATE "C"`, "BYTEA"
	}
	t := func(n int) string { return fmt.Sprintf(text, n) + " NOT NULL" }
	create := "CREATE TABLE IF NOT EXISTS " + l.batches + " (book " + t(nameLimit) + ", page " + t(64) + ", scope " + t(nameLimit) +
		", start_ns BIGINT NOT NULL, id " + t(128) + ", end_ns BIGINT NOT NULL, last_start_ns BIGINT NOT NULL, parent_id " + t(500) +
		", ok SMALLINT NOT NULL, single SMALLINT NOT NULL, cnt INT NOT NULL, codec SMALLINT NOT NULL, raw_size INT NOT NULL, body " + blob +
		" NOT NULL, links " + blob + ", PRIMARY KEY (book, page, scope, start_ns, id)" + index + ")"
	statements, theirs := []string{create}, l.claim != nil && l.claim.Theirs(l.space("events_batches"), "")
	if index == "" && !theirs {
		statements = append(statements, "CREATE INDEX IF NOT EXISTS "+l.quoted(l.plain+"_by_parent")+" ON "+l.batches+" (parent_id, start_ns)")
	}
	if l.c.Dialect() == sqlstore.DialectPostgres && !theirs { // what is compressed is not compressed again
		statements = append(statements, "ALTER TABLE "+l.batches+" ALTER COLUMN body SET STORAGE EXTERNAL")
	}
	statements = append(statements, "CREATE TABLE IF NOT EXISTS "+l.stats+" (book "+t(nameLimit)+", page "+t(64)+
		", frame SMALLINT NOT NULL, frame_start BIGINT NOT NULL, cnt BIGINT NOT NULL, bytes BIGINT NOT NULL, PRIMARY KEY (book, page, frame, frame_start))")
	for _, s := range statements {
		err := sqlstore.Make(func() error {
			_, err := l.db.ExecContext(ctx, s)
			return err
		})
		if err != nil {
			return fmt.Errorf("create the tables of events: %w", err)
		}
	}
	if err := l.fits(ctx, l.plain, sqlColumns); err != nil {
		return err
	}
	l.durable = l.policy(ctx)
	return nil
}

// nameLimit is how long the names of a book and a scope may be.
const nameLimit = 128

// policy says in words when the server calls a write durable; what it does not tell
// is left out.
func (l *onSQL) policy(ctx context.Context) string {
	ask := func(query string) string {
		var name, v string
		if err := l.db.QueryRowContext(ctx, query).Scan(&name, &v); err != nil {
			return "unknown"
		}
		return v
	}
	switch l.c.Dialect() {
	case sqlstore.DialectMySQL:
		return "committed; innodb_flush_log_at_trx_commit=" + ask("SHOW VARIABLES LIKE 'innodb_flush_log_at_trx_commit'")
	case sqlstore.DialectPostgres:
		return "committed; fsync=" + ask("SELECT '', current_setting('fsync')") + ", synchronous_commit=" + ask("SELECT '', current_setting('synchronous_commit')")
	}
	var mode, sync string
	_ = l.db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode) // empty is not told
	_ = l.db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&sync)
	return "committed; journal_mode=" + mode + ", synchronous=" + sync
}

func (l *onSQL) marks(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if l.c.Dialect() == sqlstore.DialectPostgres {
			b.WriteString("$" + strconv.Itoa(first+i))
		} else {
			b.WriteByte('?')
		}
	}
	return b.String()
}

// insertion is the statement that stores n rows; those that are there stay.
func (l *onSQL) insertion(n int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + l.batches + " (" + sqlColumns + ") VALUES ")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("(" + l.marks(i*sqlColumnCount+1, sqlColumnCount) + ")")
	}
	if l.c.Dialect() == sqlstore.DialectMySQL {
		b.WriteString(" ON DUPLICATE KEY UPDATE id = id")
	} else {
		b.WriteString(" ON CONFLICT DO NOTHING")
	}
	return b.String()
}

// prepared returns the statement that stores n rows.
func (l *onSQL) prepared(ctx context.Context, n int) (*sql.Stmt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.stmts[n]; s != nil {
		return s, nil
	}
	s, err := l.db.PrepareContext(ctx, l.insertion(n))
	if err == nil {
		l.stmts[n] = s
	}
	return s, err
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// store writes the records with one statement, or with several in one transaction
// when they are large.
func (l *onSQL) store(ctx context.Context, rs []*record) (int, error) {
	n, size := 0, 0
	for n < len(rs) && (n == 0 || size+len(rs[n].body) <= sqlStatement) {
		size += len(rs[n].body)
		n++
	}
	if n == len(rs) {
		return 1, l.insert(ctx, rs)
	}
	first, err := 1, l.insert(ctx, rs[:n])
	if err != nil {
		return first, err
	}
	more, err := l.store(ctx, rs[n:]) // storing the first ones again does no harm
	return first + more, err
}

func (l *onSQL) insert(ctx context.Context, rs []*record) error {
	if l.s.gorm {
		return l.create(ctx, rs)
	}
	st, err := l.prepared(ctx, len(rs))
	if err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	book, scope := string(l.s.Book), string(l.s.Scope)
	args := make([]any, 0, sqlColumnCount*len(rs))
	for _, r := range rs {
		args = append(args, book, l.s.page, scope, r.start, string(r.id), r.end, r.last, string(r.parent),
			flag(r.ok), flag(r.single), r.count, int(r.codec), r.raw, r.body, r.links)
	}
	if _, err := st.ExecContext(ctx, args...); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

// create stores the records through gorm.
func (l *onSQL) create(ctx context.Context, rs []*record) error {
	rows := make([]sqlRow, len(rs))
	for i, r := range rs {
		rows[i] = sqlRow{
			Book: string(l.s.Book), Page: l.s.page, Scope: string(l.s.Scope), StartNS: r.start, ID: string(r.id), EndNS: r.end, LastNS: r.last,
			Parent: string(r.parent), OK: flag(r.ok), Single: flag(r.single), Events: r.count, Codec: int(r.codec), RawSize: r.raw, Body: r.body, Links: r.links,
		}
	}
	if err := l.c.DB().WithContext(ctx).Table(l.plain).Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, len(rows)).Error; err != nil {
		return fmt.Errorf("insert by gorm: %w", err)
	}
	return nil
}

// flush adds to the statistics.
func (l *onSQL) flush(ctx context.Context, t *tallies) error {
	query := "INSERT INTO " + l.stats + " (book, page, frame, frame_start, cnt, bytes) VALUES (" + l.marks(1, 6) + ")"
	if l.c.Dialect() == sqlstore.DialectMySQL {
		query += " ON DUPLICATE KEY UPDATE cnt = cnt + VALUES(cnt), bytes = bytes + VALUES(bytes)"
	} else {
		query += " ON CONFLICT (book, page, frame, frame_start) DO UPDATE SET cnt = " + l.stats + ".cnt + excluded.cnt, bytes = " + l.stats + ".bytes + excluded.bytes"
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for f, a := range t.frames {
		if _, err := tx.ExecContext(ctx, query, string(l.s.Book), l.s.page, int(f.kind), f.start, a.count, a.bytes); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// ask reads rows, page by page: a page ends before the next is asked for, so that a
// pool of one connection serves both.
func (l *onSQL) ask(ctx context.Context, where string, args []any, visit func(*row) error) error {
	n := len(args)
	after := row{start: -1 << 62}
	for size := 4; ; size = min(2*size, l.s.pageSize) { // rows are large, and few are often enough
		query := "SELECT " + sqlRead + " FROM " + l.batches + " WHERE " + where +
			" AND (start_ns > " + l.marks(n+1, 1) + " OR start_ns = " + l.marks(n+2, 1) + " AND id > " + l.marks(n+3, 1) + ") ORDER BY start_ns, id LIMIT " + itoa(size)
		page, err := l.page(ctx, query, append(args[:n:n], after.start, after.start, string(after.id)))
		if err != nil {
			return err
		}
		for i := range page {
			if err := visit(&page[i]); err != nil {
				return enough(err)
			}
		}
		if len(page) < size {
			return nil
		}
		after = page[len(page)-1]
	}
}

func (l *onSQL) page(ctx context.Context, query string, args []any) (out []row, err error) {
	rows, err := l.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var w row
		var ok, single, codec int
		if err := rows.Scan(&w.start, &w.id, &w.end, &w.last, &w.parent, &ok, &single, &w.count, &codec, &w.raw, &w.body, &w.links); err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		w.ok, w.single, w.codec = ok == 1, single == 1, byte(codec)
		out = append(out, w)
	}
	return out, rows.Err()
}

func (l *onSQL) scan(ctx context.Context, from, to int64, visit func(*row) error) error {
	where := "book = " + l.marks(1, 1) + " AND page = " + l.marks(2, 1) + " AND scope = " + l.marks(3, 1) + " AND start_ns >= " + l.marks(4, 1) + " AND start_ns <= " + l.marks(5, 1)
	return l.ask(ctx, where, []any{string(l.s.Book), l.s.page, string(l.s.Scope), from, to}, visit)
}

func (l *onSQL) get(ctx context.Context, k key, visit func(*row) error) error {
	page, err := l.page(ctx, "SELECT "+sqlRead+" FROM "+l.batches+" WHERE book = "+l.marks(1, 1)+" AND page = "+l.marks(2, 1)+" AND scope = "+l.marks(3, 1)+
		" AND start_ns = "+l.marks(4, 1)+" AND id = "+l.marks(5, 1), []any{string(l.s.Book), l.s.page, string(l.s.Scope), k.start, k.id})
	for i := range page {
		if err := visit(&page[i]); err != nil {
			return enough(err)
		}
	}
	return err
}

func (l *onSQL) children(ctx context.Context, parent []byte, from, to int64, visit func(*row) error) error {
	where := "parent_id = " + l.marks(1, 1) + " AND page = " + l.marks(2, 1) + " AND start_ns >= " + l.marks(3, 1) + " AND start_ns <= " + l.marks(4, 1)
	return l.ask(ctx, where, []any{string(parent), l.s.page, from, to}, visit)
}
