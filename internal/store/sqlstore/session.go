package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// mostNamed is how many statements a session has the server keep prepared; further ones are
// prepared each time.
const mostNamed = 200

// Session is a connection of the pool that one goroutine has for itself, and in which names
// without a schema are those of one schema of PostgreSQL, or of one database of MySQL. Statements
// are sent as they stand. It connects as it is used, and again after it has lost its connection.
type Session struct {
	c      Typed
	schema string
	conn   *sql.Conn // nil: not connected
	named  map[string]bool
	raw    []sql.RawBytes
	dest   []any
	vals   [][]byte
}

// NewSession returns a session in a schema, which must be there as it is used.
func NewSession(c Typed, schema string) *Session { return &Session{c: c, schema: schema} }

// Answer is what a statement has come to. Its columns belong to the session until the next one.
type Answer struct {
	Columns []string
	// Rows is how many it has answered with, Changed how many it has changed.
	Rows, Changed int64
}

// connect connects, if it is not connected.
func (s *Session) connect(ctx context.Context) error {
	if s.conn != nil {
		return nil
	}
	conn, err := s.c.SQL().Conn(ctx)
	if err != nil {
		return err
	}
	s.conn, s.named = conn, map[string]bool{}
	first := "USE " + s.c.Dialect().Quote(s.schema)
	if s.c.Dialect() == sqltext.Postgres {
		first = "SET search_path TO " + s.c.Dialect().Quote(s.schema)
	}
	if _, err := conn.ExecContext(ctx, first); err != nil {
		s.Close()
		return err
	}
	return nil
}

// Do carries out a statement, with what is bound to its parameters as text; nil is NULL. returns
// means that it may answer with rows, of which row gets each, unless it is nil, and must not keep it.
func (s *Session) Do(ctx context.Context, text string, bound [][]byte, returns bool, row func(vals [][]byte)) (a Answer, err error) {
	if err := s.connect(ctx); err != nil {
		return a, err
	}
	if s.c.Dialect() == sqltext.Postgres {
		a, err = s.postgres(ctx, text, bound, row)
	} else {
		a, err = s.other(ctx, text, returns, row)
	}
	if _, said := StateOf(err); err != nil && !said {
		s.Close() // nobody knows in which state it is
	}
	return a, err
}

// errWay means that a connection is of a kind that has no way of its own.
var errWay = errors.New("this connection of PostgreSQL cannot be used directly")

// postgres carries out a statement in PostgreSQL's own protocol.
func (s *Session) postgres(ctx context.Context, text string, bound [][]byte, row func(vals [][]byte)) (a Answer, err error) {
	failed := s.conn.Raw(func(conn any) error {
		c := direct(conn)
		if c == nil {
			return errWay
		}
		a, err = s.on(ctx, c, text, bound, row)
		if c.IsClosed() {
			return driver.ErrBadConn
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	return a, err
}

// on carries out a statement on a connection.
func (s *Session) on(ctx context.Context, c *pgx.Conn, text string, bound [][]byte, row func(vals [][]byte)) (a Answer, err error) {
	read := func(r *pgconn.ResultReader) error {
		fields := r.FieldDescriptions()
		for i := range fields {
			a.Columns = append(a.Columns, fields[i].Name)
		}
		for r.NextRow() {
			a.Rows++
			if row != nil {
				row(r.Values())
			}
		}
		tag, err := r.Close()
		if !tag.Select() {
			a.Changed += tag.RowsAffected()
		}
		return err
	}
	if len(bound) == 0 {
		m := c.PgConn().Exec(ctx, text)
		for m.NextResult() {
			if err := read(m.ResultReader()); err != nil {
				break // Close says it, too
			}
		}
		return a, m.Close()
	}
	if !s.named[text] && len(s.named) >= mostNamed {
		return a, read(c.PgConn().ExecParams(ctx, text, bound, nil, nil, nil))
	}
	d, err := c.Prepare(ctx, text, text) // which it does once
	if err != nil {
		return a, err
	}
	s.named[text] = true
	return a, read(c.PgConn().ExecPrepared(ctx, d.Name, bound, nil, nil))
}

// other carries out a statement by database/sql.
func (s *Session) other(ctx context.Context, text string, returns bool, row func(vals [][]byte)) (a Answer, err error) {
	if !returns {
		r, err := s.conn.ExecContext(ctx, text)
		if err != nil {
			return a, err
		}
		a.Changed, err = r.RowsAffected()
		return a, err
	}
	rows, err := s.conn.QueryContext(ctx, text)
	if err != nil {
		return a, err
	}
	if a.Columns, err = rows.Columns(); err != nil {
		return a, errors.Join(err, rows.Close())
	}
	n := len(a.Columns)
	if len(s.raw) < n {
		s.raw, s.dest, s.vals = make([]sql.RawBytes, n), make([]any, n), make([][]byte, n)
		for i := range s.raw {
			s.dest[i] = &s.raw[i]
		}
	}
	err = walk(rows, func(rows *sql.Rows) error {
		a.Rows++
		if row == nil {
			return nil
		}
		if err := rows.Scan(s.dest[:n]...); err != nil {
			return err
		}
		for i := range n {
			s.vals[i] = s.raw[i]
		}
		row(s.vals[:n])
		return nil
	})
	return a, err
}

// Close lets go of the connection, which nobody uses again, since it is in another schema. The
// session may be used again.
func (s *Session) Close() {
	if s.conn == nil {
		return
	}
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool closes it
	_ = s.conn.Close()                                           // it is closed already
	s.conn, s.named = nil, nil
}

// StateOf returns the SQLSTATE of an error that a server has sent, or for SQLite the number of its
// error; false: it has not.
func StateOf(err error) (string, bool) {
	if pg, is := errors.AsType[*pgconn.PgError](err); is {
		return pg.Code, true
	}
	if my, is := errors.AsType[*mysql.MySQLError](err); is {
		return string(my.SQLState[:]), true
	}
	if lite, is := errors.AsType[*sqlite.Error](err); is {
		return sqlite.ErrorCodeString[lite.Code()&0xff], true
	}
	return "", false
}
