package tx

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
)

// database runs the profile's statements on a SQL store. Statements are written
// with question marks. It is safe for use by several goroutines.
type database struct {
	conn    sqlstore.Typed
	db      *sql.DB
	dialect string
	quote   string
	// conflicts counts transactions that the database undid and that were repeated.
	conflicts atomic.Int64
	// extra counts statements beside those of transactions.
	extra atomic.Int64
}

func newDatabase(c sqlstore.Typed) *database {
	d := &database{conn: c, db: c.SQL(), dialect: c.Dialect(), quote: `"`}
	if d.dialect == sqlstore.DialectMySQL {
		d.quote = "`"
	}
	return d
}

// make carries out a statement that makes a table or an index.
func (d *database) make(ctx context.Context, create string) error {
	return sqlstore.Make(func() error {
		_, err := d.db.ExecContext(ctx, create)
		return err
	})
}

// table is the quoted name of a space's table.
func (d *database) table(namespace, name string) string {
	if namespace != "" {
		name = namespace + "_" + name
	}
	return d.quote + strings.ReplaceAll(name, d.quote, d.quote+d.quote) + d.quote
}

// text writes a statement as the dialect has it: its placeholders, and the words
// {ignore KEY} for leaving a row alone that is there, {lock} for locking what is read.
func (d *database) text(s string) string {
	lock := " FOR UPDATE"
	if d.dialect == sqlstore.DialectSQLite {
		lock = "" // a writer has the whole file to itself
	}
	s = strings.ReplaceAll(s, "{lock}", lock)
	for {
		from := strings.Index(s, "{ignore ")
		if from < 0 {
			break
		}
		to := from + strings.IndexByte(s[from:], '}')
		key := s[from+len("{ignore ") : to]
		how := " ON CONFLICT DO NOTHING"
		if d.dialect == sqlstore.DialectMySQL {
			how = " ON DUPLICATE KEY UPDATE " + key + " = " + key
		}
		s = s[:from] + how + s[to+1:]
	}
	if d.dialect != sqlstore.DialectPostgres {
		return s
	}
	var b strings.Builder
	n := 0
	for _, c := range s {
		if c != '?' {
			b.WriteRune(c)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

// marks are n question marks in brackets.
func marks(n int) string { return "(" + strings.TrimSuffix(strings.Repeat("?,", n), ",") + ")" }

// tries is how often a transaction is tried that the database undid.
const tries = 50

// errUndo makes within roll back without an error of its own.
var errUndo = errors.New("roll back")

// lost is the attempts of one client that the database undid, by how long each took.
type lost []time.Duration

// within runs f in a transaction, again when the database undid it for the sake of
// another one: what that cost is noted in l, which may be nil.
func (d *database) within(ctx context.Context, l *lost, f func(tx *sql.Tx) error) error {
	for try := 1; ; try++ {
		began := time.Now()
		err := d.once(ctx, f)
		if err == nil || try == tries || d.conn.Classify(err) != store.Conflict {
			return err
		}
		d.undone(l, time.Since(began))
		if err := store.Rest(ctx, time.Duration(rand.Int64N(int64(min(try, 20))*int64(time.Millisecond)))); err != nil { //nolint:gosec // no secret
			return err
		}
	}
}

func (d *database) undone(l *lost, took time.Duration) {
	d.conflicts.Add(1)
	if l != nil {
		*l = append(*l, took)
	}
}

// once runs f in a transaction.
func (d *database) once(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		undone := tx.Rollback()
		if errors.Is(err, errUndo) {
			return undone
		}
		return err
	}
	return tx.Commit()
}

// affected runs a statement and tells how many rows it changed.
func affected(ctx context.Context, tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, text string, args ...any,
) (int64, error) {
	r, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// each calls f for every row of a query.
func (d *database) each(ctx context.Context, text string, args []any, f func(scan func(...any) error) error) error {
	rows, err := d.db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err tells what matters
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
