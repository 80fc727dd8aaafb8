package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

const (
	limit = 30 * time.Second
	tick  = 20 * time.Millisecond
)

// ask returns the only value that a question is answered with.
func ask(t *testing.T, c *sqlstore.Conn, question string) (answer string) {
	t.Helper()
	require.NoError(t, c.SQL().QueryRowContext(t.Context(), question).Scan(&answer), question)
	return answer
}

// inPlace says what make test has in place of what needs one of these servers.
const inPlace = "a run of each profile on MariaDB and PostgreSQL, and TestSQLiteKeepsThePromises"

// each runs a test against both servers.
func each(t *testing.T, f func(t *testing.T, start func(args ...string) *labtest.Server)) {
	t.Helper()
	for name, start := range map[string]func(testing.TB, ...string) *labtest.Server{"mariadb": labtest.MariaDB, "postgres": labtest.Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tier.Full(t, inPlace)
			f(t, func(args ...string) *labtest.Server { return start(t, args...) })
		})
	}
}

func TestKilledServerComesBackWithWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(...string) *labtest.Server) {
		srv := start()
		c, hasty := dial(t, srv.URL()), dial(t, with(srv.URL(), "read_timeout=2s"))
		s := store.Space{Namespace: "n", Name: "a", Shape: store.Map}
		k := []byte("k")
		require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
		require.NoError(t, c.Maps.Put(t.Context(), s, k, []byte("before")))

		srv.Pause()
		err := hasty.Maps.Set(t.Context(), s, k, []byte("lost"))
		assert.Equal(t, store.Timeout, hasty.Classify(err), "%v", err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err = c.Maps.Set(ctx, s, k, []byte("lost"))
		assert.Equal(t, store.Timeout, c.Classify(err), "%v", err)
		srv.Resume()

		require.NoError(t, c.Warm(t.Context(), 4))
		srv.Kill()
		for range 8 {
			err := c.Maps.Set(t.Context(), s, k, []byte("lost"))
			assert.Equal(t, store.Unreachable, c.Classify(err), "%v", err)
		}
		srv.Restart()
		require.NoError(t, c.Maps.Put(t.Context(), s, []byte("k2"), []byte("after")))
		got, ok, err := c.Maps.Get(t.Context(), s, []byte("k2"), nil)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, "after", string(got))
		n, err := c.Maps.Count(t.Context(), s)
		require.NoError(t, err)
		assert.EqualValues(t, 2, n, "what was acknowledged before is there, too")
	})
}

func TestDatabaseNamedAsTheNamespace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(...string) *labtest.Server) {
		url := in(start().URL(), "")
		c := dial(t, url)
		s := store.Space{Namespace: `odd "name`, Name: "a`b", Shape: store.Map}
		found, err := c.Records.Inspect(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, store.Found{}, found)
		list, err := c.Records.Made(t.Context(), s.Namespace)
		require.NoError(t, err)
		assert.Empty(t, list)
		_, err = c.Records.Drop(t.Context(), s, nil)
		require.Error(t, err)
		assert.Empty(t, c.Database(), "looking makes nothing")

		require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
		require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
		assert.Equal(t, s.Namespace, c.Database())
		require.NoError(t, c.EnsureDatabase(t.Context(), "other"), "one is enough")
		assert.Equal(t, s.Namespace, c.Database())

		again := dial(t, url)
		found, err = again.Records.Inspect(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, store.Found{Exists: true, Kind: "table", Size: 1}, found)
		require.NoError(t, again.EnsureDatabase(t.Context(), s.Namespace))

		bare := dial(t, url)
		assert.ErrorContains(t, bare.EnsureDatabase(t.Context(), ""), "names no database")
	})
}

func TestPoolKeepsWithinTheServersLimit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(...string) *labtest.Server) {
		srv := start("--max_connections", "10")
		c, err := sqlstore.Open(t.Context(), target(t, srv.URL()), store.OpenOptions{Threads: 50})
		require.NoError(t, err)
		defer func() { assert.NoError(t, c.Close()) }()
		assert.LessOrEqual(t, c.Pool().Size, 10)
		info, err := c.Info(t.Context())
		require.NoError(t, err)
		assert.Contains(t, strings.Join(info.Warnings, "\n"), "52 were wanted")
		require.NoError(t, c.Warm(t.Context(), 50))
		assert.Equal(t, c.Pool().Size, c.Pool().Idle)
		held := make([]*sql.Conn, c.Pool().Size)
		for i := range held {
			held[i], err = c.SQL().Conn(t.Context())
			require.NoError(t, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.Error(t, c.SQL().PingContext(ctx))
		assert.Positive(t, c.Pool().Waits)
		for _, h := range held {
			require.NoError(t, h.Close())
		}
	})
}

func TestInfoTellsWhatSpoilsAComparison(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	check := func(t *testing.T, url, name, warning, isolation string) {
		t.Helper()
		c := dial(t, url)
		info, err := c.Info(t.Context())
		require.NoError(t, err)
		assert.Equal(t, name, info.Name)
		assert.Regexp(t, `^\d+\.\d+`, info.Version)
		assert.Contains(t, strings.Join(info.Warnings, "\n"), warning)
		assert.Equal(t, isolation, info.Details["transaction_isolation"])
	}
	my, pg := labtest.MariaDB(t).URL(), labtest.Postgres(t).URL()
	check(t, my, "mariadb", "innodb_flush_log_at_trx_commit is 2", "REPEATABLE-READ")
	check(t, with(my, "isolation=read-committed"), "mariadb", "", "READ-COMMITTED")
	check(t, pg, "postgresql", "fsync is off", "READ-COMMITTED")
	check(t, with(pg, "isolation=serializable&synchronous_commit=off"), "postgresql", "synchronous_commit is off", "SERIALIZABLE")
	check(t, with(pg, "sslmode=disable"), "postgresql", "", "READ-COMMITTED")
	check(t, "sqlite:", "sqlite", "one writer at a time", "")
	for _, url := range []string{strings.Replace(my, "mysql:", "mariadb:", 1), strings.Replace(pg, "postgres:", "postgresql:", 1)} {
		require.NoError(t, try(t, url))
	}
}

// Conflicts, missing tables and foreign tables, as profiles will meet them through
// gorm as well.
func TestClassesOfWhatServersAnswer(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	for name, url := range map[string]string{"mariadb": labtest.MariaDB(t).URL(), "postgres": labtest.Postgres(t).URL(), "sqlite": "sqlite:"} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, url)
			type thing struct {
				ID   int64 `gorm:"primaryKey"`
				Name string
			}
			require.NoError(t, c.DB().WithContext(t.Context()).AutoMigrate(&thing{}))
			require.NoError(t, c.DB().WithContext(t.Context()).Create(&thing{ID: 7, Name: "a"}).Error)
			err := c.DB().WithContext(t.Context()).Create(&thing{ID: 7, Name: "b"}).Error
			assert.Equal(t, store.Conflict, c.Classify(err), "%v", err)
			err = c.DB().WithContext(t.Context()).Take(&thing{}, 8).Error
			assert.Equal(t, store.Missing, c.Classify(err), "%v", err)
			_, err = c.SQL().ExecContext(t.Context(), "INSERT INTO nowhere VALUES (1)")
			assert.Equal(t, store.Missing, c.Classify(err), "%v", err)
			err = c.Maps.Set(t.Context(), store.Space{Name: "nowhere", Shape: store.Map}, []byte("k"), nil)
			assert.Equal(t, store.Missing, c.Classify(err), "%v", err)

			theirs := store.Space{Name: "things", Shape: store.Map}
			found, err := c.Records.Inspect(t.Context(), theirs)
			require.NoError(t, err)
			assert.Equal(t, store.Found{Exists: true, Kind: "table with other columns", Size: 1}, found)
			refused(t, c.Prober.Probe(t.Context(), theirs), "has other columns", "--namespace")
			err = c.Maps.Set(t.Context(), theirs, []byte("k"), nil)
			assert.Equal(t, store.WrongType, c.Classify(err), "%v", err)
			_, err = c.Records.Drop(t.Context(), theirs, nil)
			assert.ErrorContains(t, err, "was not made by perfbench")
			err = c.Records.Record(t.Context(), store.Made{Space: store.Space{Namespace: "n", Name: "made"}})
			assert.ErrorContains(t, err, "perfbench's own table")
			err = c.Records.Record(t.Context(), store.Made{Space: store.Space{Namespace: "n", Name: strings.Repeat("x", 300)}})
			assert.ErrorContains(t, err, "cannot be the name of a table")
		})
	}
}

func TestDeadlockIsAConflict(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, start func(...string) *labtest.Server) {
		c := dial(t, start().URL())
		run(t, c, "CREATE TABLE d (id INT PRIMARY KEY, n INT)", "INSERT INTO d VALUES (1, 0), (2, 0)")
		lock := func(tx *sql.Tx, id int) error {
			_, err := tx.ExecContext(t.Context(), fmt.Sprintf("UPDATE d SET n = n + 1 WHERE id = %d", id))
			return err
		}
		a, err := c.SQL().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		b, err := c.SQL().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, lock(a, 1))
		require.NoError(t, lock(b, 2))
		other := make(chan error, 1)
		go func() {
			err := lock(b, 1)
			_ = b.Rollback() // the one that lost is rolled back already
			other <- err
		}()
		first := lock(a, 2)
		_ = a.Rollback() // as above
		second := <-other
		classes := []store.Class{c.Classify(first), c.Classify(second)}
		assert.ElementsMatch(t, []store.Class{store.Worked, store.Conflict}, classes, "%v, %v", first, second)
	})
}

// A batch beyond what one statement may carry is stored whole, the last of equal
// keys counting.
func TestLargeBatches(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	for name, url := range map[string]string{"mariadb": labtest.MariaDB(t, "--max-allowed-packet", "1M").URL(), "postgres": labtest.Postgres(t).URL(), "sqlite": "sqlite:"} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, url)
			s := store.Space{Namespace: "n", Name: "a", Shape: store.Map}
			require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
			const n = 40000
			es, keys := make([]store.Entry, n), make([][]byte, n)
			for i := range es {
				keys[i] = fmt.Appendf(nil, "k%d", (i*7919)%n)
				es[i] = store.Entry{Key: keys[i], Val: fmt.Appendf(nil, "%0100d", i)}
			}
			require.NoError(t, c.Maps.PutAll(t.Context(), s, append([]store.Entry{{Key: keys[5], Val: []byte("old")}}, es...)))
			count, err := c.Maps.Count(t.Context(), s)
			require.NoError(t, err)
			assert.EqualValues(t, n, count)
			got, err := c.Maps.GetAll(t.Context(), s, keys)
			require.NoError(t, err)
			for i := range got {
				require.Equal(t, string(es[i].Val), string(got[i]))
			}
		})
	}
}
