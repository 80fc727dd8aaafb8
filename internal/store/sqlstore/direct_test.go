package sqlstore_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// The direct way to PostgreSQL has the answers of database/sql, and its connections go on after an
// error; other databases have no such way.
func TestDirect(t *testing.T) {
	t.Parallel()
	c := dial(t, labtest.Shared(t, "postgres").URL())
	run(t, c, "DROP TABLE IF EXISTS ns_direct")
	run(t, c, "CREATE TABLE ns_direct (k TEXT PRIMARY KEY, v BYTEA, n BIGINT)")
	d := sqlstore.NewDirect(c)
	const put = "INSERT INTO ns_direct (k, v, n) VALUES ($1, $2, $3)"
	for key, args := range map[string][]any{"a": {"a", []byte{0, 255}, int64(-7)}, "b": {"b", []byte{}, int64(1)}} {
		n, done, err := d.Do(t.Context(), put, args, nil)
		require.NoError(t, err, key)
		assert.True(t, done)
		assert.Equal(t, int64(1), n)
	}
	_, done, err := d.Do(t.Context(), put, []any{"a", []byte("x"), int64(0)}, nil)
	twice, is := err.(*pgconn.PgError) //nolint:errorlint // it is not wrapped
	require.True(t, is, "%v", err)
	assert.Equal(t, "23505", twice.Code)
	assert.True(t, done)
	var got []string
	_, _, err = d.Do(t.Context(), "SELECT k, v, n FROM ns_direct WHERE k >= $1 ORDER BY k", []any{"a"}, func(vals [][]byte) {
		for _, v := range vals {
			got = append(got, string(v))
		}
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "\x00\xff", "-7", "b", "", "1"}, got)
	run(t, c, "DROP TABLE ns_direct")

	_, done, err = sqlstore.NewDirect(dial(t, "sqlite:"+t.TempDir()+"/x.db")).Do(t.Context(), "SELECT 1", nil, nil)
	require.NoError(t, err)
	assert.False(t, done)
}
