package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/oracle/coherence-go-client/v2/coherence"
	"github.com/oracle/coherence-go-client/v2/coherence/filters"
	"github.com/stretchr/testify/require"
)

// cassandraGround is a keyspace.
type cassandraGround struct {
	tableGround
	s             *gocql.Session
	keyspace, url string
}

// newCassandraGround is a keyspace in which there is nothing yet.
func newCassandraGround(g cassandraGround) *cassandraGround {
	g.tableGround = tableGround{g.exec, g.named, "TRUNCATE "}
	return &g
}

func (g *cassandraGround) target() string { return g.url }

func (g *cassandraGround) exec(t *testing.T, statement string) {
	t.Helper()
	require.NoError(t, g.s.Query(statement).ExecContext(t.Context()), statement)
}

func (g *cassandraGround) named(name string) string { return g.keyspace + `."` + name + `"` }

func (g *cassandraGround) lines(t *testing.T, query string, args ...any) (lines []string, ok bool) {
	t.Helper()
	iter := g.s.Query(query, args...).IterContext(t.Context())
	var line string
	for iter.Scan(&line) {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, iter.Close() == nil
}

func (g *cassandraGround) dump(t *testing.T) things {
	t.Helper()
	all := things{}
	names, ok := g.lines(t, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", g.keyspace)
	require.True(t, ok)
	for _, name := range names {
		if lines, ok := g.lines(t, "SELECT JSON * FROM "+g.named(name)); ok { // else it has gone in between
			columns, _ := g.lines(t, "SELECT column_name FROM system_schema.columns WHERE keyspace_name = ? AND table_name = ?", g.keyspace, name)
			all[name] = append(lines, strings.Join(columns, " "))
		}
	}
	return all
}

func (g *cassandraGround) neighbours() []string {
	return []string{"acme_events_invoices", "events_invoices", "acme_authz_invoices", "authz_invoices"}
}

func (g *cassandraGround) most() int { return 2 }

func (g *cassandraGround) record(name string) bool {
	return slices.Contains([]string{"acme_made", "perfbench_made"}, name)
}

// coherenceGround is a cluster of Coherence, which lists no caches to a client: it
// looks at those that plans and tests fill.
type coherenceGround struct {
	s   *coherence.Session
	url string
}

var coherenceCaches = []string{
	"invoices", "acme.invoices", "acme.eligibility2", "eligibility", "profile", "one", "customers", "eligibility.by-group", "profile.by-group",
	"acme.eligibility", "acme.profile", "acme.eligibility.by-group", "acme.profile.by-group", "acme.one", "acme.customers", "acme.perfbench-made", "perfbench-made", "acme.perfbench-probe", "perfbench-probe",
}

func (g *coherenceGround) target() string { return g.url }

func (g *coherenceGround) cache(t *testing.T, name string) coherence.NamedCache[string, json.RawMessage] {
	t.Helper()
	m, err := coherence.GetNamedCache[string, json.RawMessage](g.s, name)
	require.NoError(t, err)
	return m
}

func (g *coherenceGround) dump(t *testing.T) things {
	t.Helper()
	all := things{}
	for _, name := range coherenceCaches {
		for e := range g.cache(t, name).EntrySetFilter(t.Context(), filters.Always()) {
			require.NoError(t, e.Err)
			all[name] = append(all[name], e.Key+"="+string(e.Value))
		}
		slices.Sort(all[name])
	}
	return all
}

func (g *coherenceGround) plant(t *testing.T, name string, full bool) bool {
	t.Helper()
	if full {
		_, err := g.cache(t, name).Put(t.Context(), "1", json.RawMessage(`"of others"`))
		require.NoError(t, err)
	}
	return full
}

func (g *coherenceGround) hollow(t *testing.T, name string) bool {
	t.Helper()
	g.remove(t, name)
	return false
}

func (g *coherenceGround) remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, g.cache(t, name).Clear(t.Context()))
	}
}

func (g *coherenceGround) neighbours() []string {
	return []string{"invoices", "acme.invoices", "acme.eligibility2"}
}

func (g *coherenceGround) most() int { return 2 }

func (g *coherenceGround) tabular() bool { return false }

func (g *coherenceGround) keys() bool { return false }

func (g *coherenceGround) record(name string) bool { return strings.Contains(name, "perfbench-") }
