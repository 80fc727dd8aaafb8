package statements

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
)

func TestStatementsWithoutTheirValues(t *testing.T) {
	for _, tt := range []struct {
		d         Dialect
		sql, text string
		values    []string
	}{
		{Postgres, "SELECT *  FROM t\n WHERE id = 42;", "SELECT * FROM t WHERE id = ?", []string{"42"}},
		{Postgres, "SELECT 'it''s', E'a\\'b\\n', $1, $2::int, \"a col\", t1.x2", "SELECT '?', E'?', $1, $2::int, \"a col\", t1.x2", []string{"it's", "a'b\n"}},
		{Postgres, "INSERT INTO t VALUES (-1.5e-3, .5, 0xff, $$do 'it'$$, $x$a$$b$x$) -- 7\n/* 8 /* 9 */ */", "INSERT INTO t VALUES (-?, ?, ?, '?', '?')", []string{"1.5e-3", ".5", "0xff", "do 'it'", "a$$b"}},
		{Postgres, `SELECT data ? 'k', data ?| $1`, `SELECT data ?? '?', data ??| $1`, []string{"k"}},
		{Postgres, "BEGIN; SELECT 1;; COMMIT;", "BEGIN; SELECT ?; COMMIT", []string{"1"}},
		{MySQL, "select \"it\\\"s\", 'a''b\\\\', `a col`, 5-3 # 9\n, @x -- 8", "select '?', '?', `a col`, ?-? , @x", []string{`it"s`, `a'b\`, "5", "3"}},
		{MySQL, "SELECT /*+ MAX_EXECUTION_TIME(1000) */ /*!50003 STRAIGHT_JOIN */ 1 /* 2 */", "SELECT /*+ MAX_EXECUTION_TIME(?) */ /*!? STRAIGHT_JOIN */ ?", []string{"1000", "50003", "1"}},
		{MySQL, "SELECT 'a\\_b' 'c', x'4a', 1--1", "SELECT '?' '?', x'?', ?--?", []string{`a\_b`, "c", "4a", "1", "1"}},
		{CQL, "SELECT * FROM ks.t WHERE id = 123e4567-e89b-12d3-a456-426614174000 AND d = 1h30m AND p = P1Y2M AND x = ? AND y = :name // c", "SELECT * FROM ks.t WHERE id = ? AND d = ? AND p = ? AND x = $1 AND y = $2", []string{"123e4567-e89b-12d3-a456-426614174000", "1h30m", "P1Y2M"}},
		{CQL, `INSERT INTO t (a) VALUES ({'k': 0xCAFE, 'C:\': 1})`, `INSERT INTO t (a) VALUES ({'?': ?, '?': ?})`, []string{"k", "0xCAFE", `C:\`, "1"}},
	} {
		got, err := takeApart(tt.d, tt.sql)
		require.NoError(t, err, tt.sql)
		assert.Equal(t, tt.text, got.text)
		assert.Equal(t, tt.values, got.values, tt.sql)
	}
	for _, sql := range []string{"", ";", "?", "+ 1", "\x00", strings.Repeat("x", 50) + " 1", "-- SELECT 1"} {
		_, err := takeApart(Postgres, sql)
		assert.ErrorIs(t, err, errStrange, sql)
	}
	for _, sql := range []string{"SELECT 'x", "SELECT $$x", `SELECT 'a\'b'`, `SELECT 'a\', 'b'`} {
		_, err := takeApart(Postgres, sql)
		assert.ErrorIs(t, err, errDoubtful, sql)
	}
}

func TestVerbs(t *testing.T) {
	for sql, want := range map[string]string{
		"select 1": "SELECT", "(select 1) union (select 2)": "SELECT", "/* x */ Update t set a=1": "UPDATE",
		"WITH a AS (SELECT 1), b AS (DELETE FROM t RETURNING *) INSERT INTO c SELECT * FROM a": "INSERT",
	} {
		s, err := takeApart(Postgres, sql)
		require.NoError(t, err, sql)
		assert.Equal(t, want, s.verb, sql)
	}
}

func TestStatementsThatAReplayLeavesOut(t *testing.T) {
	for _, tt := range []struct {
		store, sql, want string
	}{
		{postgresStore, "SELECT * FROM orders WHERE id = 1", ""},
		{postgresStore, "BEGIN ISOLATION LEVEL SERIALIZABLE", ""},
		{postgresStore, "SET TRANSACTION READ ONLY", ""},
		{postgresStore, "INSERT INTO a SELECT * FROM b RETURNING id", ""},
		{postgresStore, "SELECT pg_sleep(1)", ""},
		{postgresStore, "SET search_path = x", ofSession},
		{postgresStore, "DROP TABLE t", ofTables},
		{postgresStore, "TRUNCATE t", ofTables},
		{postgresStore, "CREATE UNIQUE INDEX i ON t (a)", ofTables},
		{postgresStore, "ALTER TABLE t ALTER a SET DEFAULT 1", ofTables},
		{postgresStore, "SELECT a INTO b FROM c", ofTables},
		{postgresStore, "DROP SCHEMA public CASCADE", ofServer},
		{postgresStore, "drop database shop", ofServer},
		{postgresStore, "ALTER SYSTEM SET a = 1", ofServer},
		{postgresStore, "SELECT 1; DROP DATABASE x", ofServer},
		{postgresStore, "SELECT pg_terminate_backend(7)", ofServer},
		{postgresStore, "SELECT * FROM information_schema.tables", ofServer},
		{postgresStore, "SELECT * FROM \"pg_catalog\".pg_class", ofServer},
		{postgresStore, "COMMIT PREPARED 'x'", ofServer},
		{postgresStore, "COPY t FROM STDIN", ofFiles},
		{postgresStore, "EXECUTE p(1)", ofOthers},
		{postgresStore, "NOTIFY c", ofMessages},
		{postgresStore, "FROBNICATE t", ofStranger},
		{mysqlStore, "SET GLOBAL max_connections = 1", ofServer},
		{mysqlStore, "SET NAMES utf8", ofSession},
		{mysqlStore, "SELECT * FROM t INTO OUTFILE '/tmp/x'", ofFiles},
		{mysqlStore, "SELECT a INTO @x FROM t", ""},
		{mysqlStore, "SELECT * FROM `mysql`.user", ofServer},
		{mysqlStore, "KILL 7", ofServer},
		{mysqlStore, "START TRANSACTION", ""},
		{mysqlStore, "START REPLICA", ofServer},
		{mysqlStore, "LOAD DATA INFILE 'x' INTO TABLE t", ofFiles},
		{cassandraStore, "BATCH; INSERT INTO t (a) VALUES (1); UPDATE t SET a = 2", ""},
		{cassandraStore, "SELECT * FROM system.local", ofServer},
		{cassandraStore, "DROP KEYSPACE k", ofServer},
		{cassandraStore, "TRUNCATE t", ofTables},
	} {
		s, err := takeApart(DialectOf(tt.store), tt.sql)
		require.NoError(t, err, tt.sql)
		m := Mean(&capture.Header{Store: tt.store})(&capture.Call{Args: []capture.Arg{capture.TextArg(s.verb), capture.TextArg(s.text)}})
		assert.Equal(t, tt.want, m.LeftOut, tt.sql)
	}
}

func TestStatementsWithSecrets(t *testing.T) {
	for sql, want := range map[string]bool{
		"CREATE USER x PASSWORD 'hunter2'": true, "ALTER ROLE x WITH ENCRYPTED PASSWORD 'y'": true, "SET PASSWORD FOR x = PASSWORD('y')": true,
		"GRANT ALL ON *.* TO x IDENTIFIED BY 'y'": true, "CHANGE MASTER TO MASTER_PASSWORD='y'": true, "SELECT dblink('password=y', 'SELECT 1')": true,
		"CREATE USER MAPPING FOR x SERVER y OPTIONS (password 'z')": true, "SELECT 1; ALTER USER x PASSWORD 'y'": true,
		"CREATE TABLE users (password text)": false, "SELECT password FROM users": false, "SET ROLE x": false,
	} {
		s, err := takeApart(MySQL, sql)
		require.NoError(t, err, sql)
		assert.Equal(t, want, s.secret, sql)
	}
}

func TestForms(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM t WHERE id IN (?, ?,?)":          "SELECT * FROM t WHERE id IN (?, …)",
		"INSERT INTO t VALUES (?, '?'), ($1, ?), (?,?)": "INSERT INTO t VALUES (?, …), …",
		"SELECT ?": "SELECT ?",
	} {
		assert.Equal(t, want, formOf(text))
	}
}

// Whatever the text is, what is in quotes is no part of what is left of it.
func FuzzTakeApart(f *testing.F) {
	f.Add(uint8(0), "SELECT 'x', $$y$$ -- z")
	f.Add(uint8(1), "SELECT \"x\\\"\" /* z")
	f.Add(uint8(2), "SELECT {'a': 123e4567-e89b-12d3-a456-426614174000}")
	f.Fuzz(func(t *testing.T, d uint8, sql string) {
		s, err := takeApart(Dialect(d%3), sql)
		if err != nil {
			return
		}
		again, err := takeApart(Dialect(d%3), "SELECT '4711aa4711', "+strings.ReplaceAll(sql, "4711aa4711", ""))
		if err == nil {
			assert.NotContains(t, again.text, "4711aa4711")
		}
		assert.NotEmpty(t, s.verb)
		Mean(&capture.Header{})(&capture.Call{Args: []capture.Arg{capture.TextArg(s.verb), capture.TextArg(s.text)}})
	})
}
