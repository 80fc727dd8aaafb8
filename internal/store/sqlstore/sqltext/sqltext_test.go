package sqltext

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestText(t *testing.T) {
	for _, tt := range []struct {
		name, text             string
		mysql, postgres, light string
	}{
		{"placeholders", "a = ? AND b IN (?,?)", "a = ? AND b IN (?,?)", "a = $1 AND b IN ($2,$3)", "a = ? AND b IN (?,?)"},
		{"what is in quotes", "'it''s {lock} ?' \"a?\" `b?` ?", "'it''s {lock} ?' \"a?\" `b?` ?", "'it''s {lock} ?' \"a?\" `b?` $1", "'it''s {lock} ?' \"a?\" `b?` ?"},
		{"a quote without an end", "? 'x?", "? 'x?", "$1 'x?", "? 'x?"},
		{"locks", "SELECT 1{lock}", "SELECT 1 FOR UPDATE", "SELECT 1 FOR UPDATE", "SELECT 1"},
		{"rows that stay", "INSERT{keep gid}", "INSERT ON DUPLICATE KEY UPDATE gid = gid", "INSERT ON CONFLICT DO NOTHING", "INSERT ON CONFLICT DO NOTHING"},
		{
			"rows that are replaced", "INSERT{replace g, k: v, w}", "INSERT ON DUPLICATE KEY UPDATE v = VALUES(v), w = VALUES(w)",
			"INSERT ON CONFLICT (g,k) DO UPDATE SET v = excluded.v, w = excluded.w", "INSERT ON CONFLICT (g,k) DO UPDATE SET v = excluded.v, w = excluded.w",
		},
		{
			"types", "a {string 5}, b {name 6}, c {blob}", "a VARCHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, b VARBINARY(6), c LONGBLOB",
			`a VARCHAR(5) COLLATE "C", b VARCHAR(6) COLLATE "C", c BYTEA`, "a VARCHAR(5), b VARCHAR(6), c BLOB",
		},
		{"no such word", "{nothing x} ?", "{nothing x} ?", "{nothing x} $1", "{nothing x} ?"},
		{"braces without an end", "{lock", " FOR UPDATE", " FOR UPDATE", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.mysql, MySQL.Text(tt.text))
			assert.Equal(t, tt.postgres, Postgres.Text(tt.text))
			assert.Equal(t, tt.light, SQLite.Text(tt.text))
		})
	}
}

func TestPlaceholders(t *testing.T) {
	assert.Equal(t, 2, Placeholders("SELECT '?', \"a?\" FROM `t?` WHERE a = ? AND b = ?"))
	assert.Zero(t, Placeholders("SELECT 'a?"))
}

func TestNames(t *testing.T) {
	assert.Equal(t, "`a``b`", MySQL.Quote("a`b"))
	assert.Equal(t, `"a""b"`, Postgres.Quote(`a"b`))
	assert.Equal(t, `"n_t"`, SQLite.Table("n", "t"))
	assert.Equal(t, `"t"`, SQLite.Table("", "t"))
	assert.Equal(t, "(?,?,?)", Marks(3))
	assert.Equal(t, "($1,$2),($3,$4)", Postgres.Rows(2, 2))
	assert.Equal(t, "(?),(?)", MySQL.Rows(2, 1))
	assert.Equal(t, MySQL.Keep("k"), MySQL.Replace([]string{"k"}, nil))
}
