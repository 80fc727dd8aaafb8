package sqlstore_test

import (
	"net/url"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/watch"
)

func target(t testing.TB, url string) store.Target {
	t.Helper()
	got, err := store.ParseTarget(url)
	require.NoError(t, err)
	return got
}

// dial opens a target for 8 workers.
func dial(t testing.TB, url string) *sqlstore.Conn {
	t.Helper()
	c, err := sqlstore.Open(t.Context(), target(t, url), store.OpenOptions{Threads: 8})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func conformance(t *testing.T, url string) {
	storetest.Run(t, func(t *testing.T) store.Conn { return dial(t, url) })
}

func fenced(t *testing.T, d store.Driver, url string) {
	t.Run("fence", func(t *testing.T) { storetest.Fence(t, d, url) })
	t.Run("proxy", func(t *testing.T) { storetest.Proxy(t, d, url) })
}

func TestMariaDBKeepsThePromises(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	url := labtest.MariaDB(t, "--performance-schema=ON").URL()
	conformance(t, url)
	fenced(t, sqlstore.MySQL, url)
	tellsUsage(t, url, "SELECT BENCHMARK(500000, MD5('a'))", "statements")
	told := tellsReadings(t, url, "statements_per_s", "net_out_bytes_per_s")
	assert.True(t, slices.ContainsFunc(told, func(r store.Reading) bool { return r.Name == "data_file_ms_per_s" }))
	hidesReadings(t, url)
	ownCallsLeftOut(t, url)
}

func TestPostgresKeepsThePromises(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	url := labtest.Postgres(t, "--shared_preload_libraries=pg_stat_statements").URL()
	conformance(t, url)
	fenced(t, sqlstore.Postgres, url)
	tellsUsage(t, url, "SELECT SUM(LENGTH(md5(n::text))) FROM generate_series(1, 200000) n", "")
	told := tellsReadings(t, url)
	for _, name := range []string{"wal_syncs_per_s", "wal_sync_ms_per_s", "checkpoint_sync_ms_per_s"} {
		assert.True(t, slices.ContainsFunc(told, func(r store.Reading) bool { return r.Name == name }), name)
	}
	_, err := dial(t, url).SQL().ExecContext(t.Context(), "CREATE EXTENSION pg_stat_statements")
	require.NoError(t, err)
	ownCallsLeftOut(t, url)
}

func ownCallsLeftOut(t *testing.T, url string) {
	t.Helper()
	c := dial(t, url)
	storetest.OwnCallsLeftOut(t, c, func() error { return c.SQL().QueryRowContext(t.Context(), "SELECT 1").Scan(new(int)) })
}

// tellsUsage checks that a server on this machine tells what it has used, and that
// what it does shows.
func tellsUsage(t *testing.T, url, busy, kind string) {
	t.Helper()
	if _, ok := watch.StatOf(os.Getpid()); !ok {
		t.Skip("there is no /proc here")
	}
	c := dial(t, url)
	before := c.Meter.Usage(t.Context())
	require.GreaterOrEqual(t, before.CPU, 0.0)
	assert.True(t, before.Here)
	assert.Equal(t, kind, before.Kind)
	var n any
	require.NoError(t, c.SQL().QueryRowContext(t.Context(), busy).Scan(&n))
	after := c.Meter.Usage(t.Context())
	assert.Greater(t, after.CPU, before.CPU)
	if kind == "" {
		assert.Negative(t, after.Calls, "nobody counts them")
		return
	}
	assert.EqualValues(t, 1, after.Calls-before.Calls)
}

// tellsReadings checks what a server tells every second, while the pool has no
// connection left.
func tellsReadings(t *testing.T, url string, grow ...string) []store.Reading {
	t.Helper()
	c := dial(t, storetest.With(url, "connections=1"))
	held, err := c.SQL().Conn(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, held.Close()) }()
	list := storetest.Readings(t, c.Meter, func() {
		_, err := held.ExecContext(t.Context(), "SELECT 1")
		require.NoError(t, err)
	}, grow...)
	assert.True(t, slices.ContainsFunc(list, func(r store.Reading) bool { return r.Name == "lock_waiters" }))
	assert.True(t, slices.ContainsFunc(list, func(r store.Reading) bool { return r.Name == store.Uptime && r.Value < 1e6 }))
	assert.True(t, slices.ContainsFunc(list, func(r store.Reading) bool { return r.Name == "clients" && r.Value >= 2 }))
	return list
}

// hidesReadings checks that what a server does not let everybody see is named, and that the
// rest is told.
func hidesReadings(t *testing.T, address string) {
	t.Helper()
	admin := dial(t, address)
	for _, statement := range []string{"CREATE DATABASE clerks", "CREATE USER clerk IDENTIFIED BY 'pw-clerk'", "GRANT ALL ON clerks.* TO clerk"} {
		_, err := admin.SQL().ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User, u.Path = url.UserPassword("clerk", "pw-clerk"), "/clerks"
	c := dial(t, u.String())
	for range 2 {
		told, err := c.Meter.Readings(t.Context())
		require.ErrorContains(t, err, "read its performance schema: ")
		assert.True(t, slices.ContainsFunc(told, func(r store.Reading) bool { return r.Name == "clients" }))
	}
}

func TestSQLiteKeepsThePromises(t *testing.T) {
	tier.Slow(t, tier.Computes)
	t.Parallel()
	assert.Equal(t, store.Untold(), dial(t, "sqlite:").Meter.Usage(t.Context()), "it has no process of its own")
	t.Run("temporary", func(t *testing.T) { conformance(t, "sqlite:") })
	t.Run("file with several connections", func(t *testing.T) {
		conformance(t, "sqlite:"+t.TempDir()+"/a b%3F%25.db?connections=4")
	})
}
