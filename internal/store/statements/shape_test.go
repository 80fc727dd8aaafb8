package statements

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestShapesOfStatements(t *testing.T) {
	for sql, want := range map[string]Shape{
		"SELECT abalance FROM pgbench_accounts WHERE aid = $1":           {Verb: "SELECT", Table: "pgbench_accounts"},
		"SELECT * FROM ONLY public.\"Orders\" o WHERE o.id = $1":         {Verb: "SELECT", Table: "orders"},
		"SELECT * FROM t WHERE id = ANY($1)":                             {Verb: "SELECT", Table: "t", List: true},
		"SELECT * FROM t WHERE id > $1 ORDER BY id LIMIT $2":             {Verb: "SELECT", Table: "t", Range: true},
		"INSERT INTO t (id, \"Name\") VALUES ($1, $2)":                   {Verb: "INSERT", Table: "t", Columns: []string{"id", "name"}},
		"INSERT INTO t VALUES ($1) ON CONFLICT (id) DO UPDATE SET a = 1": {Verb: "INSERT", Table: "t", Upsert: true},
		"UPDATE t SET a = a + $1, b = coalesce(b, $2) WHERE id = $3":     {Verb: "UPDATE", Table: "t", Columns: []string{"a", "b"}},
		"DELETE FROM t WHERE id IN ($1, $2)":                             {Verb: "DELETE", Table: "t", List: true},
	} {
		got, ok := ShapeOf(Postgres, sql)
		assert.True(t, ok, sql)
		assert.Equal(t, want, got, sql)
	}
	for _, sql := range []string{
		"SELECT 1", "SELECT count(*) FROM t", "SELECT * FROM a, b WHERE a.x = b.x", "SELECT * FROM a JOIN b ON a.x = b.x", "SELECT * FROM f($1)", "SELECT * FROM (SELECT 1) x",
		"INSERT INTO t SELECT * FROM u", "UPDATE t SET a = (SELECT 1) WHERE b = $1", "DELETE FROM t", "DELETE FROM t WHERE a < $1", "UPDATE t SET a = 1", "BEGIN", "DROP TABLE t", "SELECT * FROM pg_class WHERE a = $1",
		"SELECT * FROM a WHERE x = $1; SELECT 2", "WITH a AS (SELECT 1) SELECT * FROM a", "UPDATE", "INSERT INTO", "SELECT FROM", "DELETE FROM", "",
	} {
		_, ok := ShapeOf(Postgres, sql)
		assert.False(t, ok, sql)
	}
}
