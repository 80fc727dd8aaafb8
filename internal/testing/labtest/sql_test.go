package labtest_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// sqlOpen opens what a URL of the lab without TLS names.
func sqlOpen(t *testing.T, target string) *sql.DB {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	var db *sql.DB
	if u.Scheme == "mysql" {
		c := mysql.NewConfig()
		c.User, c.Net, c.Addr, c.DBName, c.Logger = u.User.Username(), "tcp", u.Host, strings.Trim(u.Path, "/"), &mysql.NopLogger{}
		connector, err := mysql.NewConnector(c)
		require.NoError(t, err)
		db = sql.OpenDB(connector)
	} else {
		c, err := pgx.ParseConfig(target + "?sslmode=disable")
		require.NoError(t, err)
		db = stdlib.OpenDB(*c)
	}
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func TestSQLServerIsKilledPausedAndBack(t *testing.T) {
	t.Parallel()
	tier.Full(t, "what every test of a server does with it")
	for _, tt := range []struct {
		name  string
		start func(t testing.TB, args ...string) *labtest.Server
		arg   string
	}{
		{"mariadb", labtest.MariaDB, "--max-connections"},
		{"postgres", labtest.Postgres, "--max_connections"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := tt.start(t, tt.arg, "77")
			all, err := lab.Status(srv.Dir())
			require.NoError(t, err)
			require.Len(t, all, 1)
			assert.Equal(t, lab.Running, all[0].Condition)
			assert.NotEmpty(t, srv.Version())
			ctx, db := t.Context(), sqlOpen(t, srv.URL())
			var limit string
			if tt.name == "mariadb" {
				require.NoError(t, db.QueryRowContext(ctx, "SELECT @@max_connections").Scan(&limit))
			} else {
				require.NoError(t, db.QueryRowContext(ctx, "SHOW max_connections").Scan(&limit))
			}
			assert.Equal(t, "77", limit)
			_, err = db.ExecContext(ctx, "CREATE TABLE t (a int)")
			require.NoError(t, err)
			_, err = db.ExecContext(ctx, "INSERT INTO t VALUES (1)")
			require.NoError(t, err)

			srv.Pause()
			short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			defer cancel()
			_, err = db.ExecContext(short, "INSERT INTO t VALUES (3)")
			require.ErrorIs(t, err, context.DeadlineExceeded, "a connection that is open gets no answer either")
			srv.Resume()
			require.NoError(t, db.PingContext(ctx))

			srv.Kill()
			require.Error(t, db.PingContext(ctx))
			srv.Restart()
			var n int
			require.NoError(t, db.QueryRowContext(ctx, "SELECT count(*) FROM t WHERE a = 1").Scan(&n))
			assert.Equal(t, 1, n, "what was acknowledged is there")
		})
	}
}

// Servers that are made at the same time do not take each other's temporary files.
func TestMariaDBsAtOnce(t *testing.T) {
	t.Parallel()
	tier.Full(t, "what every test of a server does with it")
	for i := range 6 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, labtest.MariaDB(t).URL(), "mysql://")
		})
	}
}
