package saga

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/onsql"
)

// twoAccounts is a database with the accounts of sagas.
func twoAccounts(t *testing.T, url string) *onsql.Tables {
	t.Helper()
	p, conn := ready(t, url, alone(given("mode=saga", "accountCount=2", "balance=1000")))
	return onsql.New(common.New(conn.(sqlstore.Typed)), p.Binder.(Binding).Spec)
}

func pay(ctx context.Context, s *onsql.Tables, tx *sql.Tx, account, amount int64) error {
	_, err := tx.ExecContext(ctx, s.Texts.Pay, amount, account)
	return err
}

// Two transactions that take two accounts in opposite order wait for each other: the
// database undoes one (MariaDB's 1213, PostgreSQL's 40P01), which is counted, timed
// and done again, and no money is made or lost.
func TestAccountsInOppositeOrder(t *testing.T) {
	for _, name := range []string{"mariadb", "postgres"} {
		t.Run(name, func(t *testing.T) {
			s := twoAccounts(t, labtest.Shared(t, name).URL())
			var inside sync.WaitGroup
			inside.Add(2)
			var mu sync.Mutex
			var undone common.Lost
			var done sync.WaitGroup
			for from := range int64(2) {
				done.Go(func() {
					var mine common.Lost
					first := true
					assert.NoError(t, s.Within(t.Context(), &mine, func(tx *sql.Tx) error {
						if err := pay(t.Context(), s, tx, from, -10); err != nil {
							return err
						}
						if first { // each has one row before it asks for the other's
							first = false
							inside.Done()
							inside.Wait()
						}
						return pay(t.Context(), s, tx, 1-from, 10)
					}))
					mu.Lock()
					defer mu.Unlock()
					undone = append(undone, mine...)
				})
			}
			done.Wait()
			assert.Positive(t, s.Conflicts.Load())
			assert.Len(t, undone, int(s.Conflicts.Load()))
			for _, d := range undone {
				assert.Positive(t, d)
			}
			require.NoError(t, s.Balances(t.Context(), func(_, n, _ int64) { assert.Equal(t, int64(1000), n) }))
		})
	}
}

// A transaction that waits for a row longer than MariaDB lets it (1205) is undone as
// a whole, counted, and done again.
func TestWaitingForARowTooLong(t *testing.T) {
	s := twoAccounts(t, labtest.Shared(t, "mariadb").URL())
	holding, let := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		assert.NoError(t, s.Within(t.Context(), nil, func(tx *sql.Tx) error {
			if err := pay(t.Context(), s, tx, 0, 5); err != nil {
				return err
			}
			close(holding)
			<-let
			return nil
		}))
	})
	<-holding
	var mine common.Lost
	var tried atomic.Int64
	require.NoError(t, s.Within(t.Context(), &mine, func(tx *sql.Tx) error {
		if tried.Add(1) == 2 {
			close(let)
		}
		if _, err := tx.ExecContext(t.Context(), "SET SESSION innodb_lock_wait_timeout = 1"); err != nil {
			return err
		}
		if err := pay(t.Context(), s, tx, 1, -7); err != nil {
			return err
		}
		return pay(t.Context(), s, tx, 0, 7)
	}))
	holder.Wait()
	require.NotEmpty(t, mine)
	assert.Len(t, mine, int(s.Conflicts.Load()))
	assert.Positive(t, mine[0], "what it waited is timed")
	got := map[int64]int64{}
	require.NoError(t, s.Balances(t.Context(), func(a, n, _ int64) { got[a] = n }))
	assert.Equal(t, map[int64]int64{0: 1012, 1: 993}, got, "what it had done before it waited was undone too, and done once")
}

// What PostgreSQL cannot serialise (40001) is undone, counted, and done again: each
// of the clients reads the sum of both accounts and writes one.
func TestSumsThatCannotBeSerialised(t *testing.T) {
	s := twoAccounts(t, at(labtest.Shared(t, "postgres").URL(), "serializable"))
	var read sync.WaitGroup
	read.Add(2)
	var done sync.WaitGroup
	for a := range int64(2) {
		done.Go(func() {
			first := true
			assert.NoError(t, s.Within(t.Context(), nil, func(tx *sql.Tx) error {
				var sum int64
				if err := tx.QueryRowContext(t.Context(), "SELECT SUM(balance) FROM "+s.Account).Scan(&sum); err != nil {
					return err
				}
				if first {
					first = false
					read.Done()
					read.Wait()
				}
				return pay(t.Context(), s, tx, a, sum)
			}))
		})
	}
	done.Wait()
	assert.Positive(t, s.Conflicts.Load())
	var sum int64
	require.NoError(t, s.Balances(t.Context(), func(_, n, _ int64) { sum += n }))
	assert.Equal(t, int64(8000), sum, "one of them saw what the other had written: 2000 and 2000, then 4000 and 4000")
}
