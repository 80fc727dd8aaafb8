package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqlerror"
)

// Make calls create, which makes a table or an index unless it is there, again when it
// was made meanwhile: PostgreSQL looks and makes in two steps, and still does what a
// client asked for that has died.
func Make(create func() error) error {
	err := create()
	for try := 1; try < 5 && sqlerror.Exists(err); try++ {
		err = create()
	}
	return err
}

// ErrUndo has Transact roll back and return no error.
var ErrUndo = errors.New("roll back")

// Transact runs f in a transaction, which is rolled back when f fails.
func Transact(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		undone := tx.Rollback()
		if errors.Is(err, ErrUndo) {
			return undone
		}
		return err
	}
	return tx.Commit()
}

// Tries is how often Retry calls at most.
const Tries = 50

// Retry calls f, again when the database undid it for the sake of another transaction:
// of that undone is told, with how long it took. It rests a little before it calls again.
func Retry(ctx context.Context, c store.Conn, undone func(took time.Duration), f func() error) error {
	for try := 1; ; try++ {
		began := time.Now()
		err := f()
		if err == nil || try == Tries || c.Classify(err) != store.Conflict {
			return err
		}
		undone(time.Since(began))
		if err := store.Rest(ctx, time.Duration(rand.Int64N(int64(min(try, 20))*int64(time.Millisecond)))); err != nil { //nolint:gosec // no secret
			return err
		}
	}
}
