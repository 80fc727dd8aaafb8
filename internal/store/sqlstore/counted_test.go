package sqlstore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// What was carried out between two readings is told, how often and with how many rows; a server that
// does not count is told apart.
func TestStatementsThatPostgreSQLCounts(t *testing.T) {
	t.Parallel()
	open := func(args ...string) *sqlstore.Conn {
		c, err := sqlstore.Open(t.Context(), target(t, labtest.Postgres(t, args...).Patient()), store.OpenOptions{Threads: 1})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, c.Close()) })
		return c
	}
	_, err := open().StatementsCounted(t.Context())
	require.ErrorContains(t, err, "has no pg_stat_statements in this database")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))

	c := open("--shared_preload_libraries", "pg_stat_statements")
	run(t, c, "CREATE EXTENSION pg_stat_statements", "CREATE TABLE shop (id int)", "INSERT INTO shop VALUES (1)")
	earlier, err := c.StatementsCounted(t.Context())
	require.NoError(t, err)
	run(t, c, "INSERT INTO shop VALUES (2)", "INSERT INTO shop VALUES (3)", "UPDATE shop SET id = id + 1")
	later, err := c.StatementsCounted(t.Context())
	require.NoError(t, err)
	found := map[string][2]int64{}
	for _, s := range sqlstore.CountedSince(earlier, later) {
		found[s.Text] = [2]int64{s.Calls, s.Rows}
	}
	assert.Equal(t, [2]int64{2, 2}, found["INSERT INTO shop VALUES ($1)"], "%v", found)
	assert.Equal(t, [2]int64{1, 3}, found["UPDATE shop SET id = id + $1"], "%v", found)
	assert.NotContains(t, found, "CREATE TABLE shop (id int)", "that was before")
}
