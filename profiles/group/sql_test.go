package group

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func databases(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"mariadb": labtest.Shared(t, "mariadb").URL(), "postgres": labtest.Shared(t, "postgres").URL(), "sqlite": "sqlite:" + t.TempDir() + "/x.db",
	}
}

func dbOf(t *testing.T, target string) *sql.DB {
	t.Helper()
	return open(t, target).(sqlstore.Typed).SQL()
}

func TestEntitiesInDatabases(t *testing.T) {
	t.Parallel()
	for name, target := range databases(t) {
		for _, mapper := range []string{"gorm", "raw"} {
			if what := name + " " + mapper; what == "mariadb gorm" || what == "postgres raw" {
				continue // TestDefinedObjectsInDatabases has these
			}
			t.Run(name+" "+mapper, func(t *testing.T) {
				tier.Full(t, "TestDefinedObjectsInDatabases and TestEmbeddedDatabase")
				ns := "n" + mapper
				for _, p := range []string{"factory", "factory-er"} {
					o, f := runs(t, target, nil, "preset", p, "mapper", mapper, "namespace", ns+p[7:min(len(p), 8)])
					errorless(t, o)
					assert.True(t, f.Database)
					for _, g := range f.Groups {
						for _, op := range g.Ops {
							assert.Zero(t, op.Misses, op.Op)
						}
					}
					if p == "factory-er" { // run again: rows are updated in place
						o, _ = runs(t, target, nil, "preset", p, "mapper", mapper, "namespace", ns+p[7:min(len(p), 8)])
						errorless(t, o)
					}
				}
				db := dbOf(t, target)
				var customers, orders, orphans int
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+ns+"_customers").Scan(&customers))
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+ns+"_orders").Scan(&orders))
				assert.Equal(t, 1000, customers)
				assert.Equal(t, 1000, orders)
				q := `"`
				if name == "mariadb" {
					q = "`"
				}
				er := q + ns + "-" + "_orders" + q
				parents := q + ns + "-" + "_customers" + q
				require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM "+er+" o LEFT JOIN "+parents+" c ON c."+q+"customerId"+q+" = o."+q+"customerId"+q+" WHERE c."+q+"customerId"+q+" IS NULL").Scan(&orphans))
				assert.Zero(t, orphans, "every order has its customer")
			})
		}
	}
}

func TestQueryAndCleanup(t *testing.T) {
	for name, target := range databases(t) {
		t.Run(name, func(t *testing.T) {
			file := "groupNames: g1,g2\ng1: {operations: put1, threadCount: 2, totalInvocationCount: 20}\ng2: {operations: 'q1,m1', threadCount: 2, totalInvocationCount: 50}\n" +
				"put1: {map: nw/customers, testCase: putall, batchSize: 50, totalEntryCount: 1000, factory.class: customer}\nq1: {ref: put1, testCase: query}\n" +
				"m1: {map: plain, testCase: put, payloadSize: 10}\n"
			for _, mapper := range []string{"gorm", "raw"} {
				_, f := driven(t, target, []string{write(t, "g.yaml", file)}, "mapper", mapper)
				assert.Greater(t, f.Groups[1].Ops[0].Entries, int64(50), "a state has some customers")
			}
		})
	}
}

// Counting a table takes as long as it has rows: only what is compared at the end is
// counted at the start.
func TestTablesThatAreOnlyReadAreNotCounted(t *testing.T) {
	p, err := designed(t, "sqlite", "groupNames: g1\ng1: {operations: 'r,w'}\nr: {map: nw/customers, testCase: get, factory.class: customer}\n"+
		"w: {map: nw/orders, testCase: put, factory.class: order}\n")
	require.NoError(t, err)
	p, err = p.Bind(t.Context(), "sqlite", open(t, "sqlite:"), "")
	require.NoError(t, err)
	counted := map[string]bool{}
	for _, c := range p.Claims {
		counted[c.Name] = c.Counted
	}
	assert.Equal(t, map[string]bool{"customers": false, "orders": true}, counted)
}

func TestEmbeddedDatabase(t *testing.T) {
	o, f := runs(t, "embedded:", nil, "preset", "factory-er", "database", "on", "cleanup", "on")
	errorless(t, o)
	assert.True(t, f.Database)
	_, err := try(t, "memory:", nil, "preset", "factory", "database", "on")
	require.ErrorContains(t, err, "has no tables")
}

func TestAUserWithoutCreateIsNamed(t *testing.T) {
	srv := labtest.Shared(t, "mariadb")
	db := dbOf(t, srv.URL())
	for _, s := range []string{"CREATE OR REPLACE USER poor@'%'", "GRANT SELECT, INSERT, UPDATE, DELETE ON perfbench.* TO poor@'%'"} {
		_, err := db.Exec(s)
		require.NoError(t, err)
	}
	tg, err := store.ParseTarget(srv.URL())
	require.NoError(t, err)
	_, err = try(t, "mysql://poor@"+tg.Hosts[0]+"/perfbench", nil, "preset", "factory")
	require.Error(t, err)
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.Contains(t, err.Error(), "CREATE")
}

// Rows are made when the run is, whatever date their orders are made up around; what
// is no row depends on the seed alone.
func TestRowsHaveTheDateOfTheRun(t *testing.T) {
	const file = "groupNames: g1\ng1: {operations: o}\no: {map: nw/customers, testCase: put, factory.class: customer}\n"
	before := time.Now().UTC().Truncate(time.Second)
	for driver, row := range map[string]bool{"sqlite": true, "redis": false} {
		p, err := designed(t, driver, file)
		require.NoError(t, err)
		s := p.Binder.(binder).s
		_, r := s.Ops["o"].Factory.Object(1, "", s.Today)
		args := r.Args(nil) // the last two tell when it was made and changed
		made, changed := args[len(args)-2].(time.Time), args[len(args)-1].(time.Time)
		if row {
			assert.False(t, made.Before(before), made)
			assert.Equal(t, made, changed)
			continue
		}
		assert.Equal(t, s.Today, made)
	}
}
