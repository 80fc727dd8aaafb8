package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/oracle/coherence-go-client/v2/coherence"
	"github.com/oracle/coherence-go-client/v2/coherence/filters"
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// grounds make a store of each kind, empty but for the test's own.
var grounds = map[string]func(t *testing.T) ground{
	"redis": func(t *testing.T) ground {
		srv, db := labtest.Shared(t, "redis"), redisDB.Add(1)-1
		c := goredis.NewClient(&goredis.Options{Addr: srv.Addr(), DB: int(db), DisableIdentity: true})
		t.Cleanup(func() { assert.NoError(t, c.Close()) })
		return &redisGround{c: c, nodes: []*goredis.Client{c}, url: fmt.Sprintf("%s?db=%d", srv.URL(), db)}
	},
	"sentinel": func(t *testing.T) ground {
		srv := labtest.Sentinel(t)
		c := goredis.NewFailoverClient(&goredis.FailoverOptions{MasterName: "perfbench", SentinelAddrs: srv.Addrs("sentinel"), DisableIdentity: true})
		t.Cleanup(func() { assert.NoError(t, c.Close()) })
		return &redisGround{c: c, nodes: []*goredis.Client{c}, url: srv.URL()}
	},
	"cluster": func(t *testing.T) ground {
		srv := labtest.Shared(t, "redis-cluster")
		clusterTurn.Lock() // it has one database only
		t.Cleanup(clusterTurn.Unlock)
		c := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: srv.Addrs("node"), DisableIdentity: true})
		t.Cleanup(func() { assert.NoError(t, c.Close()) })
		g := &redisGround{c: c, url: srv.URL()}
		for _, addr := range srv.Addrs("node") {
			n := goredis.NewClient(&goredis.Options{Addr: addr, DisableIdentity: true})
			t.Cleanup(func() { assert.NoError(t, n.Close()) })
			require.NoError(t, n.FlushAll(t.Context()).Err())
			g.nodes = append(g.nodes, n)
		}
		return g
	},
	"mariadb": func(t *testing.T) ground {
		srv := labtest.Shared(t, "mariadb")
		name := database()
		admin := &sqlGround{db: openSQL(t, "mysql", "pb@tcp("+srv.Addr()+")/perfbench")}
		admin.exec(t, "CREATE DATABASE "+name)
		return &sqlGround{
			db: openSQL(t, "mysql", "pb@tcp("+srv.Addr()+")/"+name), quote: "`", url: replacePath(t, srv.URL(), name),
			tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
		}
	},
	"postgres": func(t *testing.T) ground {
		srv := labtest.Shared(t, "postgres")
		name := database()
		admin := &sqlGround{db: openSQL(t, "pgx", srv.URL())}
		admin.exec(t, "CREATE DATABASE "+name)
		u := replacePath(t, srv.URL(), name)
		return &sqlGround{
			db: openSQL(t, "pgx", u), quote: `"`, url: u,
			tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
		}
	},
	"sqlite": func(t *testing.T) ground {
		path := filepath.Join(t.TempDir(), "db")
		return &sqlGround{
			db: openSQL(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"), quote: `"`, url: "sqlite:" + path,
			tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
		}
	},
	"cassandra": func(t *testing.T) ground {
		srv := labtest.Cassandra(t)
		c := gocql.NewCluster(srv.Addr())
		c.Timeout, c.ConnectTimeout = time.Minute, time.Minute
		s, err := c.CreateSession()
		require.NoError(t, err)
		t.Cleanup(s.Close)
		name := database()
		require.NoError(t, s.Query("CREATE KEYSPACE "+name+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}").ExecContext(t.Context()))
		return &cassandraGround{s: s, keyspace: name, url: srv.URL() + "/" + name + "?read_timeout=30s&dial_timeout=30s"}
	},
	"coherence": func(t *testing.T) ground {
		srv := labtest.Coherence(t)
		s, err := coherence.NewSession(t.Context(), coherence.WithAddress(srv.Addr()), coherence.WithPlainText(), coherence.WithRequestTimeout(time.Minute))
		require.NoError(t, err)
		t.Cleanup(s.Close)
		coherenceTurn.Lock() // it has one space of names only
		t.Cleanup(coherenceTurn.Unlock)
		return &coherenceGround{s: s, url: srv.URL() + "?dial_timeout=90s&read_timeout=90s"}
	},
}

var (
	redisDB, databases         atomic.Int64
	clusterTurn, coherenceTurn sync.Mutex
)

func database() string { return fmt.Sprintf("place%d", databases.Add(1)) }

func replacePath(t *testing.T, target, name string) string {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

// redisGround is a Redis of any topology.
type redisGround struct {
	c     goredis.UniversalClient
	nodes []*goredis.Client // the masters
	url   string
}

func (g *redisGround) target() string { return g.url }

func (g *redisGround) dump(t *testing.T) things {
	t.Helper()
	all := things{}
	for _, n := range g.nodes {
		keys, err := n.Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		for _, key := range keys {
			if lines := g.read(t, n, key); len(lines) > 0 { // else it has gone in between
				all[key] = lines
			}
		}
	}
	return all
}

// read is all that is under a key, a line for each part.
func (g *redisGround) read(t *testing.T, n *goredis.Client, key string) []string {
	t.Helper()
	ctx := t.Context()
	kind, err := n.Type(ctx, key).Result()
	require.NoError(t, err)
	lines := []string{}
	switch kind {
	case "string":
		lines = append(lines, n.Get(ctx, key).Val())
	case "hash":
		for f, v := range n.HGetAll(ctx, key).Val() {
			lines = append(lines, f+"="+v)
		}
	case "list":
		lines = n.LRange(ctx, key, 0, -1).Val()
	case "set":
		lines = n.SMembers(ctx, key).Val()
	case "zset":
		for _, z := range n.ZRangeWithScores(ctx, key, 0, -1).Val() {
			lines = append(lines, fmt.Sprint(z.Member, "=", z.Score))
		}
	case "stream":
		for _, m := range n.XRange(ctx, key, "-", "+").Val() {
			lines = append(lines, fmt.Sprint(m.ID, m.Values))
		}
	}
	slices.Sort(lines)
	return lines
}

func (g *redisGround) plant(t *testing.T, name string, full bool) bool {
	t.Helper()
	if full {
		require.NoError(t, g.c.Set(t.Context(), name, "of others", 0).Err())
	}
	return full
}

func (g *redisGround) hollow(t *testing.T, name string) bool {
	t.Helper()
	g.remove(t, name)
	return false
}

func (g *redisGround) remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, g.c.Del(t.Context(), name).Err())
	}
}

func (g *redisGround) neighbours() []string {
	return []string{"invoices", "acme", "acme:", "acme:invoices", "acme_events", "acme2:eligibility", "acme:eligibility2", "acme:authz2:{a}:x", "acme:events2:{a}", "events2:{a}", "authz2:{a}:x"}
}

func (g *redisGround) most() int { return 6 }

func (g *redisGround) keys() bool { return true }

func (g *redisGround) record(name string) bool {
	return strings.HasPrefix(name, "acme:_") || strings.HasPrefix(name, "_perfbench")
}

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

// cassandraGround is a keyspace.
type cassandraGround struct {
	s             *gocql.Session
	keyspace, url string
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

func (g *cassandraGround) plant(t *testing.T, name string, full bool) bool {
	t.Helper()
	g.exec(t, "CREATE TABLE "+g.named(name)+" (id int PRIMARY KEY, note text)")
	if full {
		g.exec(t, "INSERT INTO "+g.named(name)+" (id, note) VALUES (1, 'of others')")
	}
	return true
}

func (g *cassandraGround) hollow(t *testing.T, name string) bool {
	t.Helper()
	g.exec(t, "TRUNCATE "+g.named(name))
	return true
}

func (g *cassandraGround) remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		g.exec(t, "DROP TABLE "+g.named(name))
	}
}

func (g *cassandraGround) neighbours() []string {
	return []string{"invoices", "acme_events_invoices", "events_invoices", "acme_authz_invoices", "authz_invoices"}
}

func (g *cassandraGround) most() int { return 2 }

func (g *cassandraGround) keys() bool { return false }

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
	"invoices", "acme.invoices", "acme.eligibility2", "acme.eligibility.by-group", "eligibility", "profile", "one", "customers",
	"acme.eligibility", "acme.profile", "acme.one", "acme.customers", "acme.perfbench-made", "perfbench-made", "acme.perfbench-probe", "perfbench-probe",
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
	return []string{"invoices", "acme.invoices", "acme.eligibility2", "acme.eligibility.by-group"}
}

func (g *coherenceGround) most() int { return 4 }

func (g *coherenceGround) keys() bool { return false }

func (g *coherenceGround) record(name string) bool { return strings.Contains(name, "perfbench-") }
