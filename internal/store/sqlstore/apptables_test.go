package sqlstore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

var ofApplication = []sqlstore.Table{
	{
		Name: "edges", Key: "a, b", Unique: "b", Index: sqlstore.Index{Name: "by_role", Columns: "role, a"}, Later: []string{"seen"}, Packed: "body",
		Columns: "a {name 100} NOT NULL, b {string 100} NOT NULL, role VARCHAR(20), body {blob}, seen BIGINT NOT NULL DEFAULT 0",
	},
	{Name: "counts", Key: "id", Columns: "id {serial}, note {text}"},
}

func opened(t *testing.T, url string) *sqlstore.Conn {
	t.Helper()
	target, err := store.ParseTarget(url)
	require.NoError(t, err)
	c, err := sqlstore.Open(t.Context(), target, store.OpenOptions{Threads: 2})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func eachServer(t *testing.T, f func(t *testing.T, c *sqlstore.Conn)) {
	t.Helper()
	for name, url := range map[string]func(t *testing.T) string{
		"mariadb":  func(t *testing.T) string { return labtest.Shared(t, "mariadb").URL() },
		"postgres": func(t *testing.T) string { return labtest.Shared(t, "postgres").URL() },
		"sqlite":   func(t *testing.T) string { return "sqlite:" + t.TempDir() + "/x.db" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, opened(t, url(t)))
		})
	}
}

// Tables are made once, take rows, get the columns that later versions added, and are
// refused when their columns are others.
func TestTables(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, c *sqlstore.Conn) {
		run := func(text string) {
			t.Helper()
			_, err := c.SQL().ExecContext(t.Context(), text)
			require.NoError(t, err, text)
		}
		s := sqlstore.NewTables(c, "kit", "x_", ofApplication)
		defer func() {
			run(s.Text("DROP TABLE %edges"))
			run(s.Text("DROP TABLE %counts"))
		}()
		for range 2 {
			require.NoError(t, s.Create(t.Context()))
		}
		put, err := s.Stmt(t.Context(), "INSERT INTO %edges (a, b, role) VALUES (?, ?, 'what?'){replace a, b: role}")
		require.NoError(t, err)
		for range 2 {
			_, err = put.ExecContext(t.Context(), "a", "A")
			require.NoError(t, err)
		}
		run(s.Text("INSERT INTO %counts (note) VALUES ('x')"))
		var id, seen int
		require.NoError(t, c.SQL().QueryRowContext(t.Context(), s.Text("SELECT c.id, e.seen FROM %counts c, %edges e WHERE e.b = ?"), "A").Scan(&id, &seen))
		assert.Equal(t, 1, id)

		run(s.Text("ALTER TABLE %edges DROP COLUMN seen"))
		require.NoError(t, s.Create(t.Context()))
		run(s.Text("UPDATE %edges SET seen = 1"))
		run(s.Text("ALTER TABLE %edges DROP COLUMN body"))
		err = s.Create(t.Context())
		require.ErrorContains(t, err, "the table kit_x_edges has columns other than this version's: an older version made it")
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	})
}

// A table of others is written into when that is allowed, and never altered; one of ours
// of another version is refused before anything is written.
func TestTablesThatAreThere(t *testing.T) {
	t.Parallel()
	c := opened(t, "sqlite:"+t.TempDir()+"/x.db")
	claim := func(s *sqlstore.Tables, spaces []ownership.Space) error {
		got, err := ownership.Take(t.Context(), c, ownership.Want{Namespace: "kit", Run: "r", Allow: true, Spaces: spaces, Admit: s.Check})
		if err == nil {
			require.NoError(t, got.Release(t.Context()))
		}
		return err
	}
	const theirs = "CREATE TABLE kit_x_edges (a TEXT, b TEXT, role TEXT, body BLOB, seen INT, more TEXT, PRIMARY KEY (a, b))"
	_, err := c.SQL().ExecContext(t.Context(), theirs)
	require.NoError(t, err)
	s := sqlstore.NewTables(c, "kit", "x_", ofApplication)
	require.NoError(t, claim(s, s.Spaces(nil)))
	require.NoError(t, s.Create(t.Context()))
	var n int
	require.NoError(t, c.SQL().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM sqlite_master WHERE tbl_name = 'kit_x_edges' AND sql IS NOT NULL AND sql <> ?", theirs).Scan(&n))
	assert.Zero(t, n, "it has neither changed nor an index")

	next := sqlstore.NewTables(c, "kit", "x_", []sqlstore.Table{{Name: "counts", Key: "id", Columns: "id {serial}, remark {text}"}})
	err = claim(next, next.Spaces(nil))
	require.ErrorContains(t, err, "the table kit_x_counts has columns other than this version's")
	assert.Contains(t, fault.HintOf(err), "perfbench data delete")
}

// A table of ours in whose place others have put one stays, whatever is told to delete: it
// has a column too many, lacks one, or has another key. One of an older version is ours.
func TestApplicationTablesThatOthersPutInOurPlaceStay(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, c *sqlstore.Conn) {
		run := func(text string) {
			t.Helper()
			_, err := c.SQL().ExecContext(t.Context(), text)
			require.NoError(t, err, text)
		}
		for name, theirs := range map[string]string{
			"wide":    "a VARCHAR(90) NOT NULL, b VARCHAR(90) NOT NULL, role VARCHAR(20), body VARCHAR(90), seen BIGINT, note VARCHAR(9), PRIMARY KEY (a, b)",
			"narrow":  "a VARCHAR(90) NOT NULL, b VARCHAR(90) NOT NULL, PRIMARY KEY (a, b)",
			"unkeyed": "a VARCHAR(90) NOT NULL, b VARCHAR(90), role VARCHAR(20), body VARCHAR(90), seen BIGINT, PRIMARY KEY (a)",
			"":        "",
		} {
			namespace := "place" + name
			s := sqlstore.NewTables(c, namespace, "x_", ofApplication)
			claim, err := ownership.Take(t.Context(), c, ownership.Want{Namespace: namespace, Run: "r", Spaces: s.Spaces(nil), Admit: s.Check})
			require.NoError(t, err)
			require.NoError(t, s.Create(t.Context()))
			require.NoError(t, claim.Release(t.Context()))
			if theirs != "" {
				run(s.Text("DROP TABLE %edges"))
				run(s.Text("CREATE TABLE %edges (" + theirs + ")"))
			} else {
				run(s.Text("ALTER TABLE %edges DROP COLUMN seen"))
			}
			for _, x := range s.Spaces(nil) {
				_, err := c.Records.Drop(t.Context(), x.Space, nil)
				require.NoError(t, err, name)
			}
			_, err = c.SQL().ExecContext(t.Context(), s.Text("DROP TABLE %edges"))
			assert.Equal(t, theirs != "", err == nil, "%s: %v", name, err)
			_, err = c.SQL().ExecContext(t.Context(), s.Text("DROP TABLE %counts"))
			require.Error(t, err, "it was ours")
			made, err := c.Records.Made(t.Context(), namespace)
			require.NoError(t, err)
			assert.Empty(t, made)
		}
	})
}
