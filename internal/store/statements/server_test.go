package statements

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// logOf waits until a log has a text, behind which the server has written nothing that is asked for.
func logOf(t *testing.T, path, until string) string {
	t.Helper()
	var text string
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(path)
		text = string(data)
		return err == nil && strings.Contains(text, until)
	}, 2*time.Minute, 10*time.Millisecond)
	return text[:strings.LastIndexByte(text, '\n')+1]
}

func TestLogsOfARealPostgreSQL(t *testing.T) {
	tier.Full(t, "TestLogsBecomeCalls has the lines of a real server")
	for mode, set := range map[string][]string{"log_statement": {"--log_statement", "all"}, "log_min_duration_statement": {"--log_min_duration_statement", "0"}} {
		t.Run(mode, func(t *testing.T) {
			srv := labtest.Postgres(t, append(set, "--logging_collector", "on", "--log_destination", "csvlog,jsonlog", "--log_filename", "a.log", "--log_directory", "log")...)
			c, err := pgx.Connect(t.Context(), srv.URL())
			require.NoError(t, err)
			defer c.Close(t.Context()) //nolint:errcheck // the server ends
			run := func(sql string, args ...any) error {
				_, err := c.Exec(t.Context(), sql, args...)
				return err
			}
			var dir string
			require.NoError(t, c.QueryRow(t.Context(), "SHOW data_directory").Scan(&dir))
			require.NoError(t, run("CREATE TABLE shop (id int PRIMARY KEY, name text)"))
			require.NoError(t, run("INSERT INTO shop VALUES ($1, $2)", 7, "two\nlines, 'q' \"d\""))
			require.NoError(t, run("INSERT INTO shop VALUES ($1, $2)", 8, nil))
			require.Error(t, run("INSERT INTO shop VALUES ($1, $2)", 8, "again"))
			require.Error(t, run("SELECT 2/0 FROM shop"))
			require.NoError(t, run("UPDATE shop SET name = 'it''s' WHERE id = 7; SELECT 'done'"))
			require.NoError(t, run("SELECT 'the end' FROM shop"))
			for _, name := range []string{"a.csv", "a.json"} {
				path, _, err := converted(t, logOf(t, filepath.Join(dir, "log", name), "the end"), capture.Options{Values: true})
				require.NoError(t, err)
				all, r := calls(t, path)
				assert.Contains(t, r.Header.Server, "PostgreSQL 1")
				var got []string
				for _, line := range all {
					if _, call, _ := strings.Cut(line, "/"); strings.Contains(call, "shop") {
						got = append(got, call[strings.IndexByte(call, ' '):])
					}
				}
				last, failed := " ok", "" // of what fails, the server does not log what was bound
				if mode == "log_statement" {
					last, failed = "", " | 8 | again" // nothing follows the last one
				}
				assert.Equal(t, []string{
					" ok | CREATE TABLE shop (id int PRIMARY KEY, name text)",
					" ok | INSERT INTO shop VALUES ($1, $2) | 7 | two\nlines, 'q' \"d\"",
					" ok | INSERT INTO shop VALUES ($1, $2) | 8 | null",
					" failed | INSERT INTO shop VALUES ($1, $2)" + failed,
					" failed | SELECT ?/? FROM shop | 2 | 0",
					" ok | UPDATE shop SET name = '?' WHERE id = ?; SELECT '?' | it's | 7 | done",
					last + " | SELECT '?' FROM shop | the end",
				}, got, name)
			}
		})
	}
}

func TestLogsOfARealMariaDB(t *testing.T) {
	tier.Full(t, "TestLogsBecomeCalls has the lines of a real server")
	srv := labtest.MariaDB(t, "--slow-query-log", "1", "--long-query-time", "0", "--slow-query-log-file", "slow.log", "--general-log", "1", "--general-log-file", "general.log")
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "pb", "tcp", srv.Addr(), "perfbench"
	db, err := sql.Open("mysql", cfg.FormatDSN())
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // the server ends
	db.SetMaxOpenConns(1)
	run := func(sql string, args ...any) error {
		_, err := db.ExecContext(t.Context(), sql, args...)
		return err
	}
	var dir string
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT @@datadir").Scan(&dir))
	require.NoError(t, run("CREATE TABLE shop (id int PRIMARY KEY, name text)"))
	require.NoError(t, run("INSERT INTO shop VALUES (?, ?)", 7, "two\nlines;\n# 'q' \"d\""))
	require.NoError(t, run("INSERT INTO shop VALUES (?, ?)", 8, nil))
	require.Error(t, run("SELECT * FROM shop_nowhere"))
	require.NoError(t, run("UPDATE shop SET name = \"it's\" WHERE id = 7"))
	require.NoError(t, run("SELECT 'the end' FROM shop"))
	require.NoError(t, run("SELECT 1"))
	for _, name := range []string{"general.log", "slow.log"} {
		path, _, err := converted(t, logOf(t, filepath.Join(dir, name), "the end"), capture.Options{Values: true})
		require.NoError(t, err, name)
		all, r := calls(t, path)
		assert.Contains(t, r.Header.Server, "MariaDB 1")
		var got []string
		for _, line := range all {
			if _, call, _ := strings.Cut(line, " | "); strings.Contains(call, "shop") {
				got = append(got, call)
			}
		}
		assert.Equal(t, []string{
			"CREATE TABLE shop (id int PRIMARY KEY, name text)",
			"INSERT INTO shop VALUES (?, '?') | 7 | two\nlines;\n# 'q' \"d\"",
			"INSERT INTO shop VALUES (?, NULL) | 8",
			"SELECT * FROM shop_nowhere",
			"UPDATE shop SET name = '?' WHERE id = ? | it's | 7",
			"SELECT '?' FROM shop | the end",
		}, got, name)
	}
}
