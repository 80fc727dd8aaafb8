package eventstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm/clause"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltable"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// onSQL keeps one row for each batch, with an index by parent, and one for each frame
// of statistics. Several batches go in one statement.
type onSQL struct {
	o *options
	*sqltable.Set
	db *sql.DB

	mu    sync.Mutex
	stmts map[int]*sql.Stmt // inserts by number of rows
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

// newSQL opens the layer on SQL databases.
func newSQL(o *options, c sqlstore.Typed) (layer, []place.Space) {
	l := &onSQL{o: o, Set: sqltable.New(c, o.Namespace, "events_", sqlTables), db: c.SQL(), stmts: map[int]*sql.Stmt{}}
	return l, l.Spaces(o.Params)
}

var sqlTables = []sqltable.Table{
	{
		Name: "batches", Key: "book, page, scope, start_ns, id", Index: sqltable.Index{Name: "by_parent", Columns: "parent_id, start_ns"}, Packed: "body",
		Columns: "book {string 128} NOT NULL, page {string 64} NOT NULL, scope {string 128} NOT NULL, start_ns BIGINT NOT NULL, id {string 128} NOT NULL, " +
			"end_ns BIGINT NOT NULL, last_start_ns BIGINT NOT NULL, parent_id {string 500} NOT NULL, ok SMALLINT NOT NULL, single SMALLINT NOT NULL, " +
			"cnt INT NOT NULL, codec SMALLINT NOT NULL, raw_size INT NOT NULL, body {blob} NOT NULL, links {blob}",
	},
	{
		Name: "statistics", Key: "book, page, frame, frame_start",
		Columns: "book {string 128} NOT NULL, page {string 64} NOT NULL, frame SMALLINT NOT NULL, frame_start BIGINT NOT NULL, cnt BIGINT NOT NULL, bytes BIGINT NOT NULL",
	},
}

// look makes sure that the tables that are there will do.
func (l *onSQL) look(ctx context.Context, c *place.Claim) error { return l.Look(ctx, c) }

// prepare makes the tables and asks when the server calls a write durable.
func (l *onSQL) prepare(ctx context.Context) (traits, error) {
	if err := l.Create(ctx); err != nil {
		return traits{}, err
	}
	t := traits{writers: 4, group: 1000, durability: l.policy(ctx)}
	if l.Dialect == sqltext.SQLite {
		t.writers = 1 // a file has one writer at a time
	}
	return t, nil
}

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
	switch l.Dialect {
	case sqltext.MySQL:
		return "committed; innodb_flush_log_at_trx_commit=" + ask("SHOW VARIABLES LIKE 'innodb_flush_log_at_trx_commit'")
	case sqltext.Postgres:
		return "committed; fsync=" + ask("SELECT '', current_setting('fsync')") + ", synchronous_commit=" + ask("SELECT '', current_setting('synchronous_commit')")
	}
	var mode, sync string
	_ = l.db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode) // empty is not told
	_ = l.db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&sync)
	return "committed; journal_mode=" + mode + ", synchronous=" + sync
}

// insertion is the statement that stores n rows; those that are there stay.
func (l *onSQL) insertion(n int) string {
	return "INSERT INTO %batches (" + sqlColumns + ") VALUES " + strings.Repeat(", "+sqltext.Marks(sqlColumnCount), n)[2:] + "{keep id}"
}

// prepared returns the statement that stores n rows.
func (l *onSQL) prepared(ctx context.Context, n int) (*sql.Stmt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.stmts[n]; s != nil {
		return s, nil
	}
	s, err := l.db.PrepareContext(ctx, l.Text(l.insertion(n)))
	if err == nil {
		l.stmts[n] = s
	}
	return s, err
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
	if l.o.Gorm {
		return l.create(ctx, rs)
	}
	st, err := l.prepared(ctx, len(rs))
	if err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	book, scope := l.o.Book, l.o.Scope
	args := make([]any, 0, sqlColumnCount*len(rs))
	for _, r := range rs {
		args = append(args, book, l.o.Page, scope, r.start, string(r.id), r.end, r.last, string(r.parent),
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
			Book: l.o.Book, Page: l.o.Page, Scope: l.o.Scope, StartNS: r.start, ID: string(r.id), EndNS: r.end, LastNS: r.last,
			Parent: string(r.parent), OK: flag(r.ok), Single: flag(r.single), Events: r.count, Codec: int(r.codec), RawSize: r.raw, Body: r.body, Links: r.links,
		}
	}
	if err := l.Conn.DB().WithContext(ctx).Table(l.Name("batches")).Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, len(rows)).Error; err != nil {
		return fmt.Errorf("insert by gorm: %w", err)
	}
	return nil
}

// flush adds to the statistics.
func (l *onSQL) flush(ctx context.Context, t *tallies) error {
	text := "INSERT INTO %statistics (book, page, frame, frame_start, cnt, bytes) VALUES (?,?,?,?,?,?)"
	if l.Dialect == sqltext.MySQL {
		text += " ON DUPLICATE KEY UPDATE cnt = cnt + VALUES(cnt), bytes = bytes + VALUES(bytes)"
	} else {
		text += " ON CONFLICT (book, page, frame, frame_start) DO UPDATE SET cnt = %statistics.cnt + excluded.cnt, bytes = %statistics.bytes + excluded.bytes"
	}
	text = l.Text(text)
	return sqlstore.Transact(ctx, l.db, func(tx *sql.Tx) error {
		for f, a := range t.frames {
			if _, err := tx.ExecContext(ctx, text, l.o.Book, l.o.Page, int(f.kind), f.start, a.count, a.bytes); err != nil {
				return err
			}
		}
		return nil
	})
}

// ask reads rows, page by page: a page ends before the next is asked for, so that a
// pool of one connection serves both.
func (l *onSQL) ask(ctx context.Context, where string, args []any, visit func(*record) error) error {
	after := record{start: -1 << 62}
	for size := 4; ; size = min(2*size, l.o.PageSize) { // rows are large, and few are often enough
		text := "SELECT " + sqlRead + " FROM %batches WHERE " + where + " AND (start_ns > ? OR start_ns = ? AND id > ?) ORDER BY start_ns, id LIMIT " + strconv.Itoa(size)
		page, err := l.page(ctx, text, append(slices.Clip(args), after.start, after.start, string(after.id)))
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

func (l *onSQL) page(ctx context.Context, text string, args []any) (out []record, err error) {
	rows, err := l.db.QueryContext(ctx, l.Text(text), args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var w record
		var ok, single, codec int
		if err := rows.Scan(&w.start, &w.id, &w.end, &w.last, &w.parent, &ok, &single, &w.count, &codec, &w.raw, &w.body, &w.links); err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		w.ok, w.single, w.codec = ok == 1, single == 1, byte(codec)
		out = append(out, w)
	}
	return out, rows.Err()
}

func (l *onSQL) scan(ctx context.Context, from, to int64, visit func(*record) error) error {
	const where = "book = ? AND page = ? AND scope = ? AND start_ns >= ? AND start_ns <= ?"
	return l.ask(ctx, where, []any{l.o.Book, l.o.Page, l.o.Scope, from, to}, visit)
}

func (l *onSQL) get(ctx context.Context, k key, visit func(*record) error) error {
	const where = "book = ? AND page = ? AND scope = ? AND start_ns = ? AND id = ?"
	page, err := l.page(ctx, "SELECT "+sqlRead+" FROM %batches WHERE "+where, []any{l.o.Book, l.o.Page, l.o.Scope, k.start, k.id})
	for i := range page {
		if err := visit(&page[i]); err != nil {
			return enough(err)
		}
	}
	return err
}

func (l *onSQL) children(ctx context.Context, parent []byte, from, to int64, visit func(*record) error) error {
	const where = "parent_id = ? AND page = ? AND start_ns >= ? AND start_ns <= ?"
	return l.ask(ctx, where, []any{string(parent), l.o.Page, from, to}, visit)
}
