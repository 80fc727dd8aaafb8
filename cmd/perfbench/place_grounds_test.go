package main

import (
	"context"
	"errors"
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
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// grounds make a store of each kind, empty but for the test's own.
var grounds = map[string]func(t *testing.T) ground{
	"redis": func(t *testing.T) ground {
		srv, db := labtest.Shared(t, "redis"), redisDB.take(t)
		c := goredis.NewClient(&goredis.Options{Addr: srv.Addr(), DB: db, DisableIdentity: true})
		t.Cleanup(func() { assert.NoError(t, errors.Join(c.FlushDB(context.Background()).Err(), c.Close())) })
		return &redisGround{c: c, nodes: []*goredis.Client{c}, url: fmt.Sprintf("%s?db=%d", srv.URL(), db)}
	},
	"sentinel": func(t *testing.T) ground {
		srv, db := labtest.Shared(t, "redis-sentinel"), sentinelDB.take(t)
		c := goredis.NewFailoverClient(&goredis.FailoverOptions{MasterName: "perfbench", SentinelAddrs: srv.Addrs("sentinel"), DB: db, DisableIdentity: true})
		t.Cleanup(func() { assert.NoError(t, errors.Join(c.FlushDB(context.Background()).Err(), c.Close())) })
		return &redisGround{c: c, nodes: []*goredis.Client{c}, url: fmt.Sprintf("%s?db=%d", srv.URL(), db)}
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
		return newSQLGround(sqlGround{
			db: openSQL(t, "mysql", "pb@tcp("+srv.Addr()+")/"+name), quote: "`", url: replacePath(t, srv.URL(), name),
			tables:  "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()",
			indexes: "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND non_unique = 1 AND table_name = '%'",
		})
	},
	"postgres": func(t *testing.T) ground {
		srv := labtest.Shared(t, "postgres")
		name := database()
		admin := &sqlGround{db: openSQL(t, "pgx", srv.URL())}
		admin.exec(t, "CREATE DATABASE "+name)
		u := replacePath(t, srv.URL(), name)
		return newSQLGround(sqlGround{
			db: openSQL(t, "pgx", u), quote: `"`, url: u,
			tables:  "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
			indexes: "SELECT indexname FROM pg_indexes WHERE schemaname = 'public' AND strpos(indexdef, 'UNIQUE') = 0 AND tablename = '%'",
		})
	},
	"sqlite": func(t *testing.T) ground {
		path := filepath.Join(t.TempDir(), "db")
		return newSQLGround(sqlGround{
			db: openSQL(t, "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"), quote: `"`, url: "sqlite:" + path,
			tables:  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
			indexes: "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = '%'",
		})
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
		return newCassandraGround(cassandraGround{s: s, keyspace: name, url: srv.URL() + "/" + name + "?" + labtest.Patience})
	},
	"coherence": func(t *testing.T) ground {
		srv := labtest.Coherence(t)
		s, err := coherence.NewSession(t.Context(), coherence.WithAddress(srv.Addr()), coherence.WithPlainText(), coherence.WithRequestTimeout(time.Minute))
		require.NoError(t, err)
		t.Cleanup(s.Close)
		coherenceTurn.Lock() // it has one space of names only
		t.Cleanup(coherenceTurn.Unlock)
		return &coherenceGround{s: s, url: srv.Patient()}
	},
}

var (
	redisDB, sentinelDB        numbers
	databases                  atomic.Int64
	clusterTurn, coherenceTurn sync.Mutex
)

// numbers are those of the databases of a Redis, each used by one test at a time, which leaves it
// empty.
type numbers struct {
	sync.Mutex
	used [16]bool
}

func (n *numbers) take(t *testing.T) int {
	t.Helper()
	n.Lock()
	defer n.Unlock()
	db := slices.Index(n.used[:], false)
	require.GreaterOrEqual(t, db, 0, "so many tests at once have no databases")
	n.used[db] = true
	t.Cleanup(func() {
		n.Lock()
		defer n.Unlock()
		n.used[db] = false
	})
	return db
}

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

func (g *redisGround) most() int { return 4 }

func (g *redisGround) tabular() bool { return false }

func (g *redisGround) keys() bool { return true }

func (g *redisGround) record(name string) bool {
	return strings.HasPrefix(name, "acme:_") || strings.HasPrefix(name, "_perfbench")
}
