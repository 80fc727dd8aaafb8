package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// Make calls create, which creates a table or an index if it does not exist, and calls
// it again if it was created in the meantime: PostgreSQL looks and creates in two
// steps, and still carries out the requests of a client that has died.
func Make(create func() error) error {
	err := create()
	for try := 1; try < 5 && Exists(err); try++ {
		err = create()
	}
	return err
}

// ErrUndo, returned by Transact's f, makes Transact roll back and return nil.
var ErrUndo = errors.New("roll back")

// Transact runs f in a transaction, which is rolled back if f fails.
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

// Tries is how often Retry calls f at most.
const Tries = 50

// Retry calls f, and again if the database rolled it back because of another
// transaction. It pauses briefly before each retry. undone is called for each rollback,
// with the time that the attempt took.
func Retry(ctx context.Context, c store.Conn, undone func(took time.Duration), f func() error) error {
	for try := 1; ; try++ {
		began := time.Now()
		err := f()
		if err == nil || try == Tries || c.Classify(err) != store.Conflict {
			return err
		}
		undone(time.Since(began))
		if err := store.Pause(ctx, time.Duration(rand.Int64N(int64(min(try, 20))*int64(time.Millisecond)))); err != nil { //nolint:gosec // no secret
			return err
		}
	}
}
