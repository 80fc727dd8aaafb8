package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// Errors of a database about a branch of a two-phase transaction.
var (
	// ErrNoBranch means that no branch with that name is prepared, or none that other
	// connections may finish.
	ErrNoBranch = errors.New("no branch of that name is prepared")
	// ErrBranchThere means that a branch with that name is already active or prepared.
	ErrBranchThere = errors.New("a branch of that name already exists")
)

// Transactions are the two-phase transactions of one namespace: XA in MariaDB and
// MySQL, PREPARE TRANSACTION in PostgreSQL. The names of branches contain the
// namespace, so that those of others are never touched. It is safe for use by several
// goroutines.
type Transactions struct {
	db       *sql.DB
	mysql    bool
	database string
	mark     string
}

// New returns the transactions of a namespace in the current database.
func New(ctx context.Context, db *sql.DB, d sqltext.Dialect, namespace string) (*Transactions, error) {
	x := &Transactions{db: db, mysql: d == sqltext.MySQL}
	question := "SELECT current_database()"
	if x.mysql {
		question = "SELECT COALESCE(DATABASE(), '')"
	}
	if err := x.db.QueryRowContext(ctx, question).Scan(&x.database); err != nil {
		return nil, fmt.Errorf("ask for the database: %w", err)
	}
	// XA names are shared by the whole server, and have at most 64 characters.
	sum := sha256.Sum256([]byte(x.database + "\x00" + namespace))
	x.mark = ":perfbench:" + hex.EncodeToString(sum[:8])
	return x, nil
}

// CanPrepare says why a database cannot keep that many branches prepared at once, with
// a hint and fault.CodeStore; nil if it can.
func CanPrepare(ctx context.Context, db *sql.DB, d sqltext.Dialect, branches int) error {
	switch d {
	case sqltext.Postgres:
		var most int
		if err := db.QueryRowContext(ctx, "SELECT current_setting('max_prepared_transactions')::int").Scan(&most); err != nil {
			return fmt.Errorf("ask for max_prepared_transactions: %w", err)
		}
		if most < branches {
			return fault.Store(fmt.Errorf("the server allows %d prepared transactions, and there may be up to %d at once", most, branches),
				fmt.Sprintf("set max_prepared_transactions = %d in postgresql.conf and restart the server, or use fewer threads", branches))
		}
		return nil
	case sqltext.MySQL:
		return canPrepareMySQL(ctx, db, branches)
	}
	return fault.Store(errors.New("SQLite cannot prepare a transaction and commit it later"), "use mysql: or postgres:")
}

// canPrepareMySQL checks the number of connections: each prepared branch keeps its own.
func canPrepareMySQL(ctx context.Context, db *sql.DB, branches int) error {
	var version string
	var most int
	if err := db.QueryRowContext(ctx, "SELECT CONCAT(VERSION(), ' ', @@version_comment), @@max_connections").Scan(&version, &most); err != nil {
		return fmt.Errorf("ask for max_connections: %w", err)
	}
	used, err := connected(ctx, db, threadsConnected)
	if err != nil {
		return fmt.Errorf("ask for the connections in use: %w", err)
	}
	if forgetsPrepared(version) {
		return fault.Store(errors.New("MariaDB before 10.5 rolls a prepared transaction back when its connection ends"), "use MariaDB 10.5 or later")
	}
	if free := room(most, used); free < branches {
		return fault.Store(fmt.Errorf("a prepared branch keeps its connection: up to %d are needed, and the server has %d left of %d", branches, free, most),
			"use fewer threads, or raise max_connections of the server")
	}
	// With a smaller pool, clients would wait for each other forever.
	if s := db.Stats(); s.MaxOpenConnections > 0 && s.MaxOpenConnections < branches {
		db.SetMaxOpenConns(0)
		db.SetMaxIdleConns(branches)
	}
	return nil
}

// forgetsPrepared reports whether a server with a version, as reported by itself, loses
// prepared branches along with their connection: MariaDB did before 10.5.
func forgetsPrepared(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 || !strings.Contains(strings.ToLower(version), "mariadb") {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major < 10 || major == 10 && minor < 5)
}

// name returns a branch's name in the form used by statements.
func (x *Transactions) name(gid, branch string) string {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	if x.mysql {
		return quote(gid) + "," + quote(branch+x.mark)
	}
	return quote(gid + "/" + branch + x.mark)
}

// Branch is a branch of a transaction, on a connection of its own. It belongs to one
// goroutine.
type Branch struct {
	x    *Transactions
	name string
	// Conn runs the branch's statements; nil once it is released.
	Conn *sql.Conn
}

// begin makes a connection wait for locks no longer than wait, which MySQL and MariaDB
// count in whole seconds. On PostgreSQL this also begins a transaction.
func (x *Transactions) begin(ctx context.Context, conn *sql.Conn, wait time.Duration) error {
	text := "SET SESSION innodb_lock_wait_timeout = " + strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)
	if !x.mysql {
		// Several statements without arguments go in one request. 0 would mean no
		// limit.
		text = "BEGIN; SET LOCAL lock_timeout = '" + strconv.FormatInt(max(wait.Milliseconds(), 1), 10) + "ms'"
	}
	_, err := conn.ExecContext(ctx, text)
	return err
}

// Exec runs a single statement that waits for locks no longer than wait, and returns
// how many rows it changed.
func (x *Transactions) Exec(ctx context.Context, wait time.Duration, text string, args ...any) (n int64, err error) {
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	b := &Branch{x: x, Conn: conn}
	if err = x.begin(ctx, conn, wait); err == nil {
		var r sql.Result
		if r, err = conn.ExecContext(ctx, text, args...); err == nil {
			n, err = r.RowsAffected()
		}
	}
	if !x.mysql {
		end := "COMMIT"
		if err != nil {
			end = "ROLLBACK"
		}
		if _, e := conn.ExecContext(ctx, end); e != nil {
			b.Detach()
			return 0, errors.Join(err, e)
		}
	}
	b.release()
	return n, err
}

// Begin begins a branch, whose statements wait for locks no longer than wait.
func (x *Transactions) Begin(ctx context.Context, gid, branch string, wait time.Duration) (*Branch, error) {
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	b := &Branch{x: x, name: x.name(gid, branch), Conn: conn}
	if err = x.begin(ctx, conn, wait); err == nil && x.mysql {
		_, err = conn.ExecContext(ctx, "XA START "+b.name)
	}
	if err != nil {
		b.Detach()
		return nil, explain(err)
	}
	return b, nil
}

// Prepare ends the first phase: from now on the branch outlives its connection. On
// MariaDB and MySQL the connection is kept, because as long as it lives only it can
// finish the branch.
func (b *Branch) Prepare(ctx context.Context) error {
	if !b.x.mysql {
		_, err := b.Conn.ExecContext(ctx, "PREPARE TRANSACTION "+b.name)
		if err != nil {
			b.Detach()
			return explain(err)
		}
		b.release()
		return nil
	}
	_, err := b.Conn.ExecContext(ctx, "XA END "+b.name)
	if err == nil {
		_, err = b.Conn.ExecContext(ctx, "XA PREPARE "+b.name)
	}
	if err != nil {
		b.Detach()
		return explain(err)
	}
	return nil
}

// Undo rolls back a branch that is not prepared.
func (b *Branch) Undo(ctx context.Context) error {
	texts := []string{"ROLLBACK"}
	if b.x.mysql {
		texts = []string{"XA END " + b.name, "XA ROLLBACK " + b.name}
	}
	var err error
	for _, text := range texts { // the first one fails if the server has already rolled back
		_, err = b.Conn.ExecContext(ctx, text)
	}
	if err != nil {
		b.Detach()
		return explain(err)
	}
	b.release()
	return nil
}

// Detach ends the branch's connection: a prepared branch is left to others, anything
// else is rolled back by the server.
func (b *Branch) Detach() {
	if b == nil || b.Conn == nil {
		return
	}
	_ = b.Conn.Raw(func(any) error { return driver.ErrBadConn }) // which makes the pool close it
	b.release()
}

func (b *Branch) release() {
	_ = b.Conn.Close() // returns it to the pool
	b.Conn = nil
}

// Commit commits a prepared branch, on its own connection if b still has one.
func (x *Transactions) Commit(ctx context.Context, gid, branch string, b *Branch) error {
	return x.finish(ctx, "COMMIT", gid, branch, b)
}

// Rollback is like Commit, but rolls back.
func (x *Transactions) Rollback(ctx context.Context, gid, branch string, b *Branch) error {
	return x.finish(ctx, "ROLLBACK", gid, branch, b)
}

func (x *Transactions) finish(ctx context.Context, how, gid, branch string, b *Branch) error {
	text := how + " PREPARED " + x.name(gid, branch)
	if x.mysql {
		text = "XA " + how + " " + x.name(gid, branch)
	}
	if b == nil || b.Conn == nil {
		_, err := x.db.ExecContext(ctx, text)
		return explain(err)
	}
	if _, err := b.Conn.ExecContext(ctx, text); err != nil {
		b.Detach()
		return explain(err)
	}
	b.release()
	return nil
}

// explain maps errors to those that callers have to know.
func explain(err error) error {
	if my, ok := errors.AsType[*mysql.MySQLError](err); ok {
		switch my.Number {
		case 1397: // XAER_NOTA
			return ErrNoBranch
		case 1440: // XAER_DUPID
			return ErrBranchThere
		}
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case "42704": // undefined object
			return ErrNoBranch
		case "42710": // duplicate object
			return ErrBranchThere
		}
	}
	return err
}

// Prepared lists the namespace's prepared branches, named as in statements.
func (x *Transactions) Prepared(ctx context.Context) (names []string, err error) {
	text, args := "XA RECOVER", []any(nil)
	if !x.mysql {
		text, args = "SELECT gid FROM pg_prepared_xacts WHERE database = $1", []any{x.database}
	}
	rows, err := x.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err reports what matters
	for rows.Next() {
		var gid string
		if !x.mysql {
			err = rows.Scan(&gid)
			if whole, ours := strings.CutSuffix(gid, x.mark); err == nil && ours {
				global, branch, _ := strings.Cut(whole, "/")
				names = append(names, x.name(global, branch))
			}
		} else {
			var format, global, qualifier int
			err = rows.Scan(&format, &global, &qualifier, &gid)
			if whole, ours := strings.CutSuffix(gid, x.mark); err == nil && ours && len(gid) == global+qualifier {
				names = append(names, x.name(whole[:global], whole[global:]))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return names, rows.Err()
}

// RollbackAll rolls back the branches that runs of the namespace have left prepared,
// whose locks would keep its tables from being dropped.
func (x *Transactions) RollbackAll(ctx context.Context) error {
	text := "ROLLBACK PREPARED "
	if x.mysql {
		text = "XA ROLLBACK "
	}
	for range endTries {
		names, err := x.Prepared(ctx)
		if err != nil || len(names) == 0 {
			return nil //nolint:nilerr // a server that does not tell, or not us, is asked for nothing
		}
		for _, name := range names {
			if _, err := x.db.ExecContext(ctx, text+name); err != nil && !errors.Is(explain(err), ErrNoBranch) {
				return fmt.Errorf("roll back what is prepared: %w", err)
			}
		}
		select { // a branch that still has a connection is free when that has ended
		case <-time.After(endRest):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fault.Store(errors.New("a run has transactions prepared that only its own connections can end"), "end that run first")
}

// How often, and at what interval, to look for branches whose connection is just
// ending.
const (
	endTries = 100
	endRest  = 20 * time.Millisecond
)
