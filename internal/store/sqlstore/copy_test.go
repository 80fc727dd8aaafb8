package sqlstore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// A copy is what may be written to in place of the original. What leads from it to data of somebody
// else's is not copied: views of and defaults from another schema, and tables that stand for others.
func TestCopiesLeadToNobodyElse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		server func(testing.TB, ...string) *labtest.Server
		// made is there, wrote is what a replay writes, and other asks for what is somebody else's.
		made, wrote, left []string
		other             string
	}{
		"postgres": {
			labtest.Postgres,
			[]string{
				"CREATE SCHEMA other", "CREATE TABLE other.t (id int)", "INSERT INTO other.t VALUES (1)", "CREATE SEQUENCE other.s",
				"CREATE TABLE own (id int DEFAULT nextval('other.s'), n int DEFAULT 7)", "INSERT INTO own (n) VALUES (5)",
				"CREATE VIEW ours AS SELECT id, n FROM own", "CREATE VIEW theirs AS SELECT id FROM other.t", "CREATE VIEW onviews AS SELECT id FROM theirs",
				"CREATE SCHEMA copied",
			},
			[]string{"INSERT INTO own (id) VALUES (9)", "UPDATE ours SET n = 8 WHERE id = 9", "INSERT INTO own (n) VALUES (4)"},
			[]string{"the view theirs is not copied: it is of another schema, too", "the view onviews is not copied: it is of another schema, too", "the default of own.id is not copied: it is of another schema, too"},
			"SELECT (SELECT count(*) FROM other.t) + (SELECT last_value FROM other.s)", // 1 + 1
		},
		"mariadb": {
			labtest.MariaDB,
			[]string{
				"CREATE TABLE own (id int, n int DEFAULT 7)", "INSERT INTO own VALUES (1, 5)", "CREATE TABLE below (id int) ENGINE=MyISAM", "INSERT INTO below VALUES (1), (2)",
				"CREATE TABLE theirs (id int) ENGINE=MERGE UNION=(below) INSERT_METHOD=LAST", "CREATE DATABASE copied",
			},
			[]string{"INSERT INTO own (id) VALUES (9)", "UPDATE own SET n = 8 WHERE id = 9"},
			[]string{"the table theirs is not copied: its engine MRG_MyISAM keeps rows elsewhere, where a replay would write, too"},
			"SELECT count(*) FROM below",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := sqlstore.Open(t.Context(), target(t, tt.server(t).Patient()), store.OpenOptions{Threads: 2})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, c.Close()) })
			run(t, c, tt.made...)
			to := sqlstore.NewSession(c, "copied")
			defer to.Close()
			done, err := sqlstore.Copy(t.Context(), c, to, func(name string) bool { return name != "below" && name != "t" }, func(int64) {})
			require.NoError(t, err)
			assert.ElementsMatch(t, tt.left, done.Left)
			assert.EqualValues(t, 1, done.Rows)
			for _, text := range tt.wrote {
				_, err := to.Do(t.Context(), text, nil, false, nil)
				require.NoError(t, err, text)
			}
			var n, others int
			require.NoError(t, c.SQL().QueryRowContext(t.Context(), "SELECT n FROM copied.own WHERE id = 9").Scan(&n))
			assert.Equal(t, 8, n)
			require.NoError(t, c.SQL().QueryRowContext(t.Context(), tt.other).Scan(&others))
			assert.Equal(t, 2, others, "what is somebody else's is as it was")
			_, err = to.Do(t.Context(), "SELECT * FROM theirs", nil, true, nil)
			require.Error(t, err)
			assert.Contains(t, strings.ToLower(err.Error()), "exist")
		})
	}
}
