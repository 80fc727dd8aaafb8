package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// tableGround is what stores of tables have in common.
type tableGround struct {
	execute func(t *testing.T, statement string)
	name    func(name string) string
	empty   string // begins the statement that takes all rows out of a table
}

func (g *tableGround) plant(t *testing.T, name string, full bool) bool {
	t.Helper()
	g.execute(t, "CREATE TABLE "+g.name(name)+" (id int PRIMARY KEY, note text)")
	if full {
		g.execute(t, "INSERT INTO "+g.name(name)+" (id, note) VALUES (1, 'of others')")
	}
	return true
}

func (g *tableGround) hollow(t *testing.T, name string) bool {
	t.Helper()
	g.execute(t, g.empty+g.name(name))
	return true
}

func (g *tableGround) remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		g.execute(t, "DROP TABLE "+g.name(name))
	}
}

func (g *tableGround) tabular() bool { return true }

func (g *tableGround) keys() bool { return false }

// sqlGround is a database of SQL.
type sqlGround struct {
	tableGround
	db         *sql.DB
	quote, url string
	// tables and indexes are the queries that list them, of a table those by which
	// nothing must be unique.
	tables, indexes string
}

// newSQLGround is a database in which there is nothing yet.
func newSQLGround(g sqlGround) *sqlGround {
	g.tableGround = tableGround{g.exec, g.named, "DELETE FROM "}
	return &g
}

func openSQL(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func (g *sqlGround) target() string { return g.url }

func (g *sqlGround) exec(t *testing.T, statement string) {
	t.Helper()
	_, err := g.db.ExecContext(t.Context(), statement)
	require.NoError(t, err, statement)
}

func (g *sqlGround) named(name string) string { return g.quote + name + g.quote }

// rows reads all rows of a query as text; false when there is no such table (any more).
func (g *sqlGround) rows(t *testing.T, query string) (lines []string, ok bool) {
	t.Helper()
	rows, err := g.db.QueryContext(t.Context(), query)
	if err != nil {
		return nil, false
	}
	defer func() { require.NoError(t, rows.Close()) }()
	columns, err := rows.Columns()
	require.NoError(t, err)
	for rows.Next() {
		values := make([]sql.RawBytes, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(t, rows.Scan(into...))
		line := ""
		for i, c := range columns {
			line += fmt.Sprintf("%s=%q ", c, values[i])
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return append(lines, strings.Join(columns, " ")), rows.Err() == nil
}

func (g *sqlGround) dump(t *testing.T) things {
	t.Helper()
	all := things{}
	for _, name := range g.list(t) {
		if lines, ok := g.rows(t, "SELECT * FROM "+g.named(name)); ok { // else it has gone in between
			lines[len(lines)-1] += " by " + strings.Join(g.index(t, name), " ")
			all[name] = lines
		}
	}
	return all
}

func (g *sqlGround) list(t *testing.T) []string {
	t.Helper()
	return g.column(t, g.tables)
}

// index lists the indexes of a table.
func (g *sqlGround) index(t *testing.T, table string) []string {
	t.Helper()
	return g.column(t, strings.ReplaceAll(g.indexes, "%", strings.ReplaceAll(table, "'", "''"))+" ORDER BY 1")
}

// column reads the one column of a query. PostgreSQL refuses a query about its catalogue in the
// middle of which a run under way drops a table; such a query is made again.
func (g *sqlGround) column(t *testing.T, query string) (names []string) {
	t.Helper()
	var err error
	eventually(time.Minute, func() bool {
		names, err = g.read(t, query)
		return err == nil || !strings.Contains(err.Error(), "could not open relation")
	})
	require.NoError(t, err)
	return names
}

func (g *sqlGround) read(t *testing.T, query string) ([]string, error) {
	t.Helper()
	rows, err := g.db.QueryContext(t.Context(), query)
	if err != nil {
		return nil, err
	}
	defer func() { require.NoError(t, rows.Close()) }()
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	return names, rows.Err()
}

func (g *sqlGround) hollow(t *testing.T, name string) bool {
	t.Helper()
	for _, i := range g.index(t, name) { // ours, which others would not have made
		statement := "DROP INDEX " + g.named(i)
		if g.quote == "`" {
			statement += " ON " + g.named(name)
		}
		g.exec(t, statement)
	}
	return g.tableGround.hollow(t, name)
}

func (g *sqlGround) neighbours() []string {
	return []string{"invoices", "acme", "acme_invoices", "acme_events_invoices", "events_invoices", "acme_authz_invoices", "authz_invoices", "acme_saga_invoices", "acme2_eligibility", "acme_eligibility2"}
}

func (g *sqlGround) most() int { return 10 }

func (g *sqlGround) record(name string) bool {
	return slices.Contains([]string{"acme_made", "acme_probe", "_perfbench_made"}, name)
}
