package sqlstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// What was carried out between two readings is told, how often and with how many rows; a server that
// does not count is told apart.
func TestStatementsThatPostgreSQLCounts(t *testing.T) {
	t.Parallel()
	bare := labtest.Postgres(t)
	_, _, err := sqlstore.CountedWithin(t.Context(), target(t, bare.Patient()), time.Millisecond, func() { t.Error("nothing is counted") })
	require.ErrorContains(t, err, "has no pg_stat_statements in this database")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))

	srv := labtest.Postgres(t, "--shared_preload_libraries", "pg_stat_statements")
	c := dial(t, srv.Patient())
	run(t, c, "CREATE EXTENSION pg_stat_statements", "CREATE TABLE shop (id int)", "INSERT INTO shop VALUES (1)")
	counted, _, err := sqlstore.CountedWithin(t.Context(), target(t, srv.Patient()), time.Millisecond, func() {
		run(t, c, "INSERT INTO shop VALUES (2)", "INSERT INTO shop VALUES (3)", "UPDATE shop SET id = id + 1")
	})
	require.NoError(t, err)
	found := map[string][2]int64{}
	for _, s := range counted {
		found[s.Text] = [2]int64{s.Calls, s.Rows}
	}
	assert.Equal(t, [2]int64{2, 2}, found["INSERT INTO shop VALUES ($1)"], "%v", found)
	assert.Equal(t, [2]int64{1, 3}, found["UPDATE shop SET id = id + $1"], "%v", found)
	assert.NotContains(t, found, "CREATE TABLE shop (id int)", "that was before")
}
