package sqldial

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5/stdlib"
)

// unprepared is a connection behind a pooler, on which what was prepared for one transaction
// is not there for the next: a statement is its text.
type unprepared struct{ *stdlib.Conn }

var (
	_ driver.ConnPrepareContext = unprepared{}
	_ driver.ExecerContext      = unprepared{}
	_ driver.QueryerContext     = unprepared{}
	_ driver.ConnBeginTx        = unprepared{}
	_ driver.StmtExecContext    = statement{}
	_ driver.StmtQueryContext   = statement{}
)

// Prepare implements driver.Conn.
func (c unprepared) Prepare(query string) (driver.Stmt, error) { return statement{c.Conn, query}, nil }

// PrepareContext implements driver.ConnPrepareContext.
func (c unprepared) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return statement{c.Conn, query}, nil
}

// statement is a statement on such a connection.
type statement struct {
	conn  *stdlib.Conn
	query string
}

// Close does nothing, since the server knows nothing of it.
func (statement) Close() error { return nil }

// NumInput says that the number of arguments is not known.
func (statement) NumInput() int { return -1 }

// errNoContext means that a method was called that database/sql does not call.
var errNoContext = errors.New("a statement takes a context")

// Exec implements driver.Stmt.
func (statement) Exec([]driver.Value) (driver.Result, error) { return nil, errNoContext }

// Query implements driver.Stmt.
func (statement) Query([]driver.Value) (driver.Rows, error) { return nil, errNoContext }

// ExecContext implements driver.StmtExecContext.
func (s statement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s statement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.query, args)
}
