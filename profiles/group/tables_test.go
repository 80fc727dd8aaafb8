package group

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/group/northwind"
)

// TestATableOfOthersIsNotAltered aims objects at tables that others have made, with
// leave to write there: those with other columns are refused, and none is altered.
func TestATableOfOthersIsNotAltered(t *testing.T) {
	full := make([]string, 0, 20)
	customers, _ := northwind.EntityOfClass("customer")
	for _, c := range northwind.ColumnsOf(customers.RowType()) {
		kind := "VARCHAR(100)"
		switch c {
		case "createdOn", "updatedOn":
			kind = "TIMESTAMP NULL"
		case "customerId":
			kind = "VARCHAR(20) NOT NULL PRIMARY KEY"
		}
		full = append(full, `"`+c+`" `+kind)
	}
	unkeyed := slices.Clone(full)
	unkeyed[0] = `"customerId" VARCHAR(20) NOT NULL`
	tables := map[string]struct {
		columns []string
		reads   bool
		want    string // of the refusal, "" none
	}{
		"other":   {columns: []string{"id INTEGER PRIMARY KEY", "note VARCHAR(40)"}, want: "_customers already exists and was not made by perfbench, and it has no column customerId"},
		"read":    {columns: full[:6], reads: true, want: "_customers already exists and was not made by perfbench, and it has no column region"},
		"unkeyed": {columns: unkeyed, want: "_customers already exists and was not made by perfbench, and its primary key is not (customerId), see column customerId"},
		"must":    {columns: append(slices.Clone(full), "vip INTEGER NOT NULL"), want: "_customers already exists and was not made by perfbench, and it has a column vip that must be filled"},
		"fits":    {columns: append(slices.Clone(full), "note VARCHAR(40)", "vip INTEGER NOT NULL DEFAULT 1")},
	}
	for name, target := range databases(t) {
		quoted := func(s string) string {
			if name == "mariadb" {
				return strings.ReplaceAll(s, `"`, "`")
			}
			return s
		}
		for ns, table := range tables {
			t.Run(name+" "+ns, func(t *testing.T) {
				db, act := dbOf(t, target), "put"
				if table.reads {
					act = "get"
				}
				for _, s := range []string{"DROP TABLE IF EXISTS " + ns + "_customers", "CREATE TABLE " + ns + "_customers (" + strings.Join(table.columns, ", ") + ")"} {
					_, err := db.Exec(quoted(s))
					require.NoError(t, err)
				}
				path := write(t, "g.yaml", "groupNames: g1\ng1: {operations: put1, threadCount: 1, totalInvocationCount: 4}\nput1: {map: customers, testCase: "+act+", totalEntryCount: 4, factory.class: customer}\n")
				o, err := try(t, target, []string{path}, "namespace", ns, "allow-existing", "on")
				if table.want == "" {
					require.NoError(t, err)
					errorless(t, o)
				} else {
					require.ErrorContains(t, err, table.want)
					assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
				}
				rows, err := db.Query("SELECT * FROM " + ns + "_customers")
				require.NoError(t, err)
				defer rows.Close()
				columns, err := rows.Columns()
				require.NoError(t, err)
				assert.Len(t, columns, len(table.columns), "the table has other columns now: %v", columns)
				require.NoError(t, rows.Err())
			})
		}
	}
}

func TestAMissingTableThatIsReadIsRecorded(t *testing.T) {
	target := "sqlite:" + t.TempDir() + "/x.db"
	path := write(t, "g.yaml", "groupNames: g1\ng1: {operations: get1, threadCount: 1, totalInvocationCount: 4}\nget1: {map: customers, testCase: get, totalEntryCount: 4, factory.class: customer}\n")
	runs(t, target, []string{path}, "load", "never", "cleanup", "on")
	var n int
	require.NoError(t, dbOf(t, target).QueryRow("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'").Scan(&n))
	assert.Zero(t, n, "--cleanup leaves a table that the run has made")
}
