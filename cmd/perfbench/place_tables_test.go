package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// sqlGround is a database of SQL.
type sqlGround struct {
	db                 *sql.DB
	quote, url, tables string
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
			all[name] = lines
		}
	}
	return all
}

func (g *sqlGround) list(t *testing.T) []string {
	t.Helper()
	rows, err := g.db.QueryContext(t.Context(), g.tables)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	return names
}

func (g *sqlGround) plant(t *testing.T, name string, full bool) bool {
	t.Helper()
	g.exec(t, "CREATE TABLE "+g.named(name)+" (id INTEGER PRIMARY KEY, note VARCHAR(40))")
	if full {
		g.exec(t, "INSERT INTO "+g.named(name)+" VALUES (1, 'of others'), (2, 'too')")
	}
	return true
}

func (g *sqlGround) hollow(t *testing.T, name string) bool {
	t.Helper()
	g.exec(t, "DELETE FROM "+g.named(name))
	return true
}

func (g *sqlGround) remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		g.exec(t, "DROP TABLE "+g.named(name))
	}
}

func (g *sqlGround) neighbours() []string {
	return []string{"invoices", "acme", "acme_invoices", "acme_events_invoices", "events_invoices", "acme_authz_invoices", "authz_invoices", "acme_saga_invoices", "acme2_eligibility", "acme_eligibility2"}
}

func (g *sqlGround) most() int { return 10 }

func (g *sqlGround) keys() bool { return false }

func (g *sqlGround) record(name string) bool {
	return slices.Contains([]string{"acme_made", "acme_probe", "_perfbench_made"}, name)
}
