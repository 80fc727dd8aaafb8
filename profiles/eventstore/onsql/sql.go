// Package onsql is the data layer on SQL databases: a row for each batch.
package onsql

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

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store/sqlstore"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
)

// database keeps one row per batch, with an index by parent, and one per frame of
// statistics. Several batches are stored with one statement.
type database struct {
	o *model.Options
	*sqlstore.Tables
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
	// sqlStatement is the largest size in bytes of the content in one statement.
	sqlStatement = 4 << 20
)

// New opens the layer on SQL databases.
func New(o *model.Options, c sqlstore.Typed) (model.Adapter, []ownership.Space) {
	l := &database{o: o, Tables: sqlstore.NewTables(c, o.Namespace, "events_", sqlTables), db: c.SQL(), stmts: map[int]*sql.Stmt{}}
	return l, l.Spaces(o.Params)
}

var sqlTables = []sqlstore.Table{
	{
		Name: "batches", Key: "book, page, scope, start_ns, id", Index: sqlstore.Index{Name: "by_parent", Columns: "parent_id, start_ns"}, Packed: "body",
		Columns: "book {string 128} NOT NULL, page {string 64} NOT NULL, scope {string 128} NOT NULL, start_ns BIGINT NOT NULL, id {string 128} NOT NULL, " +
			"end_ns BIGINT NOT NULL, last_start_ns BIGINT NOT NULL, parent_id {string 500} NOT NULL, ok SMALLINT NOT NULL, single SMALLINT NOT NULL, " +
			"cnt INT NOT NULL, codec SMALLINT NOT NULL, raw_size INT NOT NULL, body {blob} NOT NULL, links {blob}",
	},
	{
		Name: "statistics", Key: "book, page, frame, frame_start",
		Columns: "book {string 128} NOT NULL, page {string 64} NOT NULL, frame SMALLINT NOT NULL, frame_start BIGINT NOT NULL, cnt BIGINT NOT NULL, bytes BIGINT NOT NULL",
	},
}

// Prepare creates the tables and finds out when the server considers a write durable.
func (l *database) Prepare(ctx context.Context) (model.Traits, error) {
	if err := l.Create(ctx); err != nil {
		return model.Traits{}, err
	}
	t := model.Traits{Writers: 4, Group: 1000, Durability: l.policy(ctx)}
	if l.Dialect == sqltext.SQLite {
		t.Writers = 1 // a file has one writer at a time
	}
	return t, nil
}

// policy says when the server considers a write durable; what it does not report is
// left out.
func (l *database) policy(ctx context.Context) string {
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
	_ = l.db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode) // stays empty if it is not reported
	_ = l.db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&sync)
	return "committed; journal_mode=" + mode + ", synchronous=" + sync
}

// insertion returns the statement that stores n rows; existing rows are kept.
func (l *database) insertion(n int) string {
	return "INSERT INTO %batches (" + sqlColumns + ") VALUES " + strings.Repeat(", "+sqltext.Marks(sqlColumnCount), n)[2:] + "{keep id}"
}

// prepared returns the statement that stores n rows.
func (l *database) prepared(ctx context.Context, n int) (*sql.Stmt, error) {
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

// Store writes the records with one statement or, if they are large, with several in
// one transaction.
func (l *database) Store(ctx context.Context, rs []*model.Record) (int, error) {
	n, size := 0, 0
	for n < len(rs) && (n == 0 || size+len(rs[n].Body) <= sqlStatement) {
		size += len(rs[n].Body)
		n++
	}
	if n == len(rs) {
		return 1, l.insert(ctx, rs)
	}
	first, err := 1, l.insert(ctx, rs[:n])
	if err != nil {
		return first, err
	}
	more, err := l.Store(ctx, rs[n:]) // storing the first ones again does no harm
	return first + more, err
}

func (l *database) insert(ctx context.Context, rs []*model.Record) error {
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
		args = append(args, book, l.o.Page, scope, r.Start, string(r.ID), r.End, r.Last, string(r.Parent),
			model.Flag(r.OK), model.Flag(r.Single), r.Count, int(r.Codec), r.Raw, r.Body, r.Links)
	}
	if _, err := st.ExecContext(ctx, args...); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

// create stores the records through gorm.
func (l *database) create(ctx context.Context, rs []*model.Record) error {
	rows := make([]sqlRow, len(rs))
	for i, r := range rs {
		rows[i] = sqlRow{
			Book: l.o.Book, Page: l.o.Page, Scope: l.o.Scope, StartNS: r.Start, ID: string(r.ID), EndNS: r.End, LastNS: r.Last,
			Parent: string(r.Parent), OK: model.Flag(r.OK), Single: model.Flag(r.Single), Events: r.Count, Codec: int(r.Codec), RawSize: r.Raw, Body: r.Body, Links: r.Links,
		}
	}
	if err := l.Conn.DB().WithContext(ctx).Table(l.Name("batches")).Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(rows, len(rows)).Error; err != nil {
		return fmt.Errorf("insert by gorm: %w", err)
	}
	return nil
}

// Flush adds to the statistics.
func (l *database) Flush(ctx context.Context, t *model.Tallies) error {
	text := "INSERT INTO %statistics (book, page, frame, frame_start, cnt, bytes) VALUES (?,?,?,?,?,?)"
	if l.Dialect == sqltext.MySQL {
		text += " ON DUPLICATE KEY UPDATE cnt = cnt + VALUES(cnt), bytes = bytes + VALUES(bytes)"
	} else {
		text += " ON CONFLICT (book, page, frame, frame_start) DO UPDATE SET cnt = %statistics.cnt + excluded.cnt, bytes = %statistics.bytes + excluded.bytes"
	}
	text = l.Text(text)
	return sqlstore.Transact(ctx, l.db, func(tx *sql.Tx) error {
		for f, a := range t.Frames {
			if _, err := tx.ExecContext(ctx, text, l.o.Book, l.o.Page, int(f.Kind), f.Start, a.Count, a.Bytes); err != nil {
				return err
			}
		}
		return nil
	})
}

// ask reads rows page by page: each page ends before the next one is requested, so that
// a pool of one connection suffices.
func (l *database) ask(ctx context.Context, where string, args []any, visit func(*model.Record) error) error {
	after := model.Record{Start: -1 << 62}
	for size := 4; ; size = min(2*size, l.o.PageSize) { // rows are large, and a few are often enough
		text := "SELECT " + sqlRead + " FROM %batches WHERE " + where + " AND (start_ns > ? OR start_ns = ? AND id > ?) ORDER BY start_ns, id LIMIT " + strconv.Itoa(size)
		page, err := l.page(ctx, text, append(slices.Clip(args), after.Start, after.Start, string(after.ID)))
		if err != nil {
			return err
		}
		for i := range page {
			if err := visit(&page[i]); err != nil {
				return model.Enough(err)
			}
		}
		if len(page) < size {
			return nil
		}
		after = page[len(page)-1]
	}
}

func (l *database) page(ctx context.Context, text string, args []any) (out []model.Record, err error) {
	rows, err := l.db.QueryContext(ctx, l.Text(text), args...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var w model.Record
		var ok, single, codec int
		if err := rows.Scan(&w.Start, &w.ID, &w.End, &w.Last, &w.Parent, &ok, &single, &w.Count, &codec, &w.Raw, &w.Body, &w.Links); err != nil {
			return nil, fmt.Errorf("query: %w", err)
		}
		w.OK, w.Single, w.Codec = ok == 1, single == 1, byte(codec)
		out = append(out, w)
	}
	return out, rows.Err()
}

func (l *database) Scan(ctx context.Context, from, to int64, visit func(*model.Record) error) error {
	const where = "book = ? AND page = ? AND scope = ? AND start_ns >= ? AND start_ns <= ?"
	return l.ask(ctx, where, []any{l.o.Book, l.o.Page, l.o.Scope, from, to}, visit)
}

func (l *database) Get(ctx context.Context, k model.Key, visit func(*model.Record) error) error {
	const where = "book = ? AND page = ? AND scope = ? AND start_ns = ? AND id = ?"
	page, err := l.page(ctx, "SELECT "+sqlRead+" FROM %batches WHERE "+where, []any{l.o.Book, l.o.Page, l.o.Scope, k.Start, k.ID})
	for i := range page {
		if err := visit(&page[i]); err != nil {
			return model.Enough(err)
		}
	}
	return err
}

func (l *database) Children(ctx context.Context, parent []byte, from, to int64, visit func(*model.Record) error) error {
	const where = "parent_id = ? AND page = ? AND start_ns >= ? AND start_ns <= ?"
	return l.ask(ctx, where, []any{string(parent), l.o.Page, from, to}, visit)
}
