package mix

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	_ "github.com/go-sql-driver/mysql" // the driver mysql
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	oracle "github.com/oracle/coherence-go-client/v2/coherence"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqldial"
	"github.com/perfbench/perfbench/internal/testing/bench/peers"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
)

// bareCall writes the value of a record; without one, it reads it.
type bareCall = func(ctx context.Context, key, value string) error

// bareLoops start a store each, and return its target and a call to it with the bare client.
var bareLoops = []struct {
	name string
	open func(b *testing.B) (target string, call bareCall)
}{
	{"redis", func(b *testing.B) (string, bareCall) {
		srv := labtest.Redis(b)
		return srv.URL(), overGoRedis(b, srv)
	}},
	{"redis without pipelining", func(b *testing.B) (string, bareCall) {
		srv := labtest.Redis(b)
		return srv.URL() + "?pipelining=off", overGoRedis(b, srv)
	}},
	{"cluster", func(b *testing.B) (string, bareCall) {
		srv := labtest.Cluster(b)
		return srv.URL(), overGoRedis(b, srv)
	}},
	{"sentinel", func(b *testing.B) (string, bareCall) {
		srv := labtest.Sentinel(b)
		return srv.URL(), overGoRedis(b, srv)
	}},
	{"postgres", bareOnPgx},
	{"postgres over database sql", func(b *testing.B) (string, bareCall) {
		target := profiletest.Target(b, "postgres")
		return target, overSQL(b, "pgx", target, benchThreads, putBare, getBare)
	}},
	{"mariadb", func(b *testing.B) (string, bareCall) {
		target := profiletest.Target(b, "mariadb")
		at, err := url.Parse(target)
		require.NoError(b, err)
		return target, overSQL(b, "mysql", at.User.String()+"@tcp("+at.Host+")"+at.Path, benchThreads,
			"INSERT INTO bare (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)", "SELECT v FROM bare WHERE k = ?")
	}},
	{"sqlite", func(b *testing.B) (string, bareCall) { return bareOnSQLite(b, 1) }},
	{"sqlite over many connections", func(b *testing.B) (string, bareCall) {
		return bareOnSQLite(b, benchThreads)
	}},
	{"memcached", bareOnMemcached},
	{"cassandra", bareOnCassandra},
	{"coherence", bareOnCoherence},
}

// overGoRedis returns calls over go-redis, with a connection a caller.
func overGoRedis(b *testing.B, srv *labtest.Server) bareCall {
	b.Helper()
	c := peers.GoRedis(b, srv, benchThreads)
	return func(ctx context.Context, key, value string) error {
		if value != "" {
			return c.Set(ctx, key, value, 0).Err()
		}
		return c.Get(ctx, key).Err()
	}
}

// The statements of the loops over SQL, except for MariaDB.
const (
	createBare = "CREATE TABLE IF NOT EXISTS bare (k varchar(64) PRIMARY KEY, v varchar(4000) NOT NULL)"
	putBare    = "INSERT INTO bare (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v"
	getBare    = "SELECT v FROM bare WHERE k = $1"
)

// overSQL returns calls over database/sql, prepared.
func overSQL(b *testing.B, driver, dsn string, connections int, putText, getText string) bareCall {
	b.Helper()
	db, err := sql.Open(driver, dsn)
	require.NoError(b, err)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	b.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(b.Context(), createBare)
	require.NoError(b, err)
	put, err := db.PrepareContext(b.Context(), putText)
	require.NoError(b, err)
	get, err := db.PrepareContext(b.Context(), getText)
	require.NoError(b, err)
	return func(ctx context.Context, key, value string) error {
		if value != "" {
			_, err := put.ExecContext(ctx, key, value)
			return err
		}
		var v string
		return get.QueryRowContext(ctx, key).Scan(&v)
	}
}

// bareOnSQLite uses a file of its own, over as many connections as our own client does: one unless
// the target has more. SQLite is built so that all connections of a process share one cache,
// whatever their file, so it is large enough for both.
func bareOnSQLite(b *testing.B, connections int) (string, bareCall) {
	b.Helper()
	const params = "?_pragma=cache_size(-65536)"
	at, err := store.ParseTarget(profiletest.Target(b, "sqlite") + params)
	require.NoError(b, err)
	dsn, _, _, err := sqldial.SQLite(at)
	require.NoError(b, err)
	return fmt.Sprintf("%s%s&connections=%d", profiletest.Target(b, "sqlite"), params, connections),
		overSQL(b, "sqlite", dsn, connections, putBare, getBare)
}

func bareOnPgx(b *testing.B) (string, bareCall) {
	target := profiletest.Target(b, "postgres")
	cfg, err := pgxpool.ParseConfig(target)
	require.NoError(b, err)
	cfg.MaxConns, cfg.MinConns = benchThreads, benchThreads
	p, err := pgxpool.NewWithConfig(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(p.Close)
	_, err = p.Exec(b.Context(), createBare)
	require.NoError(b, err)
	return target, func(ctx context.Context, key, value string) error {
		if value != "" {
			_, err := p.Exec(ctx, putBare, key, value)
			return err
		}
		var v string
		return p.QueryRow(ctx, getBare, key).Scan(&v)
	}
}

func bareOnMemcached(b *testing.B) (string, bareCall) {
	srv := labtest.Memcached(b)
	c := memcache.New(srv.Addr())
	c.MaxIdleConns = benchThreads
	b.Cleanup(func() { _ = c.Close() })
	return srv.URL(), func(_ context.Context, key, value string) error {
		if value != "" {
			return c.Set(&memcache.Item{Key: key, Value: []byte(value)})
		}
		_, err := c.Get(key)
		return err
	}
}

// bareOnCassandra has a session of its own, as our client sets it up, so that the ratio is what mix
// takes; BenchmarkGathered has what these settings gain.
func bareOnCassandra(b *testing.B) (string, bareCall) {
	target := profiletest.Target(b, "cassandra")
	at, err := store.ParseTarget(target)
	require.NoError(b, err)
	c, err := cassandra.Open(b.Context(), at, store.OpenOptions{Threads: benchThreads})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	s := c.Session()
	for _, text := range []string{
		"CREATE KEYSPACE IF NOT EXISTS mixbare WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS mixbare.bare (k text PRIMARY KEY, v text)",
	} {
		require.NoError(b, s.Query(text).ExecContext(b.Context()))
	}
	return target, func(ctx context.Context, key, value string) error {
		if value != "" {
			return s.Query("INSERT INTO mixbare.bare (k, v) VALUES (?, ?)", key, value).ExecContext(ctx)
		}
		var v string
		return s.Query("SELECT v FROM mixbare.bare WHERE k = ?", key).ScanContext(ctx, &v)
	}
}

// bareOnCoherence uses as many sessions as our own client does, each of which sends all of its
// calls through one stream.
func bareOnCoherence(b *testing.B) (string, bareCall) {
	const sessions = 4
	target := profiletest.Target(b, "coherence")
	at, err := store.ParseTarget(target)
	require.NoError(b, err)
	var caches [sessions]oracle.NamedCache[string, []byte]
	for i := range caches {
		s, err := oracle.NewSession(context.Background(), oracle.WithAddress(at.Hosts[0]), oracle.WithPlainText(), oracle.WithRequestTimeout(time.Minute))
		require.NoError(b, err)
		b.Cleanup(s.Close)
		caches[i], err = oracle.GetNamedCache[string, []byte](s, "mixbare")
		require.NoError(b, err)
	}
	var next atomic.Int64
	return target, func(ctx context.Context, key, value string) error {
		cache := caches[next.Add(1)%sessions]
		if value != "" {
			_, err := cache.Put(ctx, key, []byte(value))
			return err
		}
		_, err := cache.Get(ctx, key)
		return err
	}
}
