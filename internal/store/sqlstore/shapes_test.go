package sqlstore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/storetest"
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

func TestMariaDBKeepsThePromises(t *testing.T) {
	t.Parallel()
	conformance(t, labtest.MariaDB(t).URL())
}

func TestPostgresKeepsThePromises(t *testing.T) {
	t.Parallel()
	conformance(t, labtest.Postgres(t).URL())
}

func TestSQLiteKeepsThePromises(t *testing.T) {
	t.Parallel()
	t.Run("temporary", func(t *testing.T) { conformance(t, "sqlite:") })
	t.Run("file with several connections", func(t *testing.T) {
		conformance(t, "sqlite:"+t.TempDir()+"/a b%3F%25.db?connections=4")
	})
}
