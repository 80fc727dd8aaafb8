package sqlstore_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// PostgreSQL has several words for a table that somebody else has just made: it depends on
// which of its catalogs it is found in first, the table, its type or an index.
func TestWhatOthersHaveJustMadeExists(t *testing.T) {
	for _, code := range []string{"42P07", "42710", "23505"} {
		assert.True(t, sqlstore.Exists(&pgconn.PgError{Code: code}), code)
	}
	assert.False(t, sqlstore.Exists(&pgconn.PgError{Code: "42P01"}))
}

// A table that somebody is making at this moment, such as the server for a client that
// has died, is there for who makes it too; and a table of others whose columns are not
// ours says which.
func TestTablesOfSomebodyElse(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	c := dial(t, labtest.Postgres(t).URL())
	const create = "CREATE TABLE IF NOT EXISTS slow (k INT PRIMARY KEY)"
	tx, err := c.SQL().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), create)
	require.NoError(t, err)
	tries, made := 0, make(chan error, 1)
	go func() {
		made <- sqlstore.Make(func() error {
			tries++
			_, err := c.SQL().ExecContext(t.Context(), create)
			return err
		})
	}()
	require.Eventually(t, func() bool {
		return ask(t, c, "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query = '"+create+"'") == "1"
	}, limit, tick)
	require.NoError(t, tx.Commit())
	require.NoError(t, <-made)
	assert.Equal(t, 2, tries)

	for name, tt := range map[string]struct{ columns, read, write string }{
		"fits":     {columns: "k BYTEA PRIMARY KEY, v BYTEA, note TEXT, day DATE NOT NULL DEFAULT now(), n SERIAL"},
		"other":    {columns: "k BYTEA PRIMARY KEY, note TEXT", read: "it has no column v"},
		"upper":    {columns: `k BYTEA PRIMARY KEY, "V" BYTEA`, read: "it has no column v"},
		"unkeyed":  {columns: "k BYTEA, v BYTEA", write: "its primary key is not (k), see column k"},
		"keyed":    {columns: "k BYTEA, v BYTEA, w INT, PRIMARY KEY (k, w)", write: "its primary key is not (k), see column w"},
		"mandates": {columns: "k BYTEA PRIMARY KEY, v BYTEA, w INT NOT NULL", write: "it has a column w that must be filled and is not in our rows"},
	} {
		_, err := c.SQL().ExecContext(t.Context(), "CREATE TABLE ns_"+name+" ("+tt.columns+")")
		require.NoError(t, err)
		got, err := c.Records.Misfit(t.Context(), store.Space{Namespace: "ns", Name: name, Shape: store.Map}, "", store.Table{})
		require.NoError(t, err)
		assert.Equal(t, store.Misfit{Table: "ns_" + name, Read: tt.read, Write: tt.write}, got, name)
	}
}
