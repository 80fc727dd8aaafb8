package profiletest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
)

// Target returns the target of a store by its name: memory, embedded, sqlite, redis,
// cluster, sentinel, mariadb, postgres, cassandra or coherence. It is for the caller
// alone, except for cassandra and coherence, where it uses a namespace that no other
// package has. The package needs a TestMain with [labtest.Run].
func Target(t testing.TB, name string) string {
	t.Helper()
	switch name {
	case "memory", "embedded":
		return name + ":"
	case "sqlite":
		return "sqlite:" + t.TempDir() + "/x.db"
	case "redis":
		return labtest.Redis(t).URL()
	case "cluster":
		return labtest.Cluster(t).URL()
	case "sentinel":
		return labtest.Sentinel(t).URL()
	case "mariadb", "postgres":
		return database(t, labtest.Shared(t, name).URL())
	case "cassandra": // creating tables is slow: timeouts that a busy machine does not exceed
		return labtest.Cassandra(t).Patient()
	case "coherence":
		return labtest.Coherence(t).Patient()
	case "memcached":
		return labtest.Memcached(t).URL()
	}
	require.Fail(t, "no such store", name)
	return ""
}

// patient is a target, with the time that a Redis may take to answer which shares its
// processor with many others, unless the test has parameters of its own.
func patient(target string) string {
	if !strings.HasPrefix(target, "redis") || strings.Contains(target, "?") {
		return target
	}
	return target + "?" + labtest.Patience
}

// Open opens a target until the test ends.
func Open(t testing.TB, target string) store.Conn {
	t.Helper()
	tg, _, err := drivers.Parse(patient(target))
	require.NoError(t, err)
	c, err := drivers.Open(t.Context(), tg, store.OpenOptions{Threads: 64})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

var databases atomic.Int64

// database creates a database on a server and returns its target.
func database(t testing.TB, server string) string {
	t.Helper()
	name := fmt.Sprintf("driven%d", databases.Add(1))
	_, err := Open(t, server).(sqlstore.Typed).SQL().ExecContext(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}

// theirs is data of others in the store.
const theirs = "of others"

// ground is the place where a run works, with some data of others in it.
type ground struct {
	// plant writes that data, read reads it.
	plant func(ctx context.Context) error
	read  func(ctx context.Context) (string, error)
	// names lists everything that is there, sorted; nothing if the store cannot list.
	names func(ctx context.Context) ([]string, error)
}

// groundOf returns the ground of a namespace for a connection.
func groundOf(t testing.TB, c store.Conn, namespace string) ground {
	switch c := c.(type) {
	case redis.Typed:
		return redisGround(c.Client(), namespace+":invoices")
	case sqlstore.Typed:
		return sqlGround(c, namespace+"_invoices")
	case cassandra.Typed:
		return cassandraGround(c, namespace)
	}
	s, key := store.Space{Namespace: namespace, Name: "invoices", Shape: store.Map}, []byte("1")
	set, get := storetest.As[store.Setter](t, c), storetest.As[store.Getter](t, c)
	return ground{
		plant: func(ctx context.Context) error { return set.Set(ctx, s, key, []byte(theirs)) },
		read: func(ctx context.Context) (string, error) {
			v, _, err := get.Get(ctx, s, key, nil)
			return string(v), err
		},
		names: func(context.Context) ([]string, error) { return nil, nil },
	}
}

func redisGround(c link.Client, key string) ground {
	return ground{
		plant: func(ctx context.Context) error { return c.Set(ctx, key, theirs, 0).Err() },
		read:  func(ctx context.Context) (string, error) { return c.Get(ctx, key).Result() },
		names: func(ctx context.Context) (all []string, err error) {
			cluster, ok := c.(*goredis.ClusterClient)
			if !ok {
				all, err = c.Keys(ctx, "*").Result()
				slices.Sort(all)
				return all, err
			}
			var mu sync.Mutex // masters are queried concurrently
			err = cluster.ForEachMaster(ctx, func(ctx context.Context, m *goredis.Client) error {
				keys, err := m.Keys(ctx, "*").Result()
				mu.Lock()
				defer mu.Unlock()
				all = append(all, keys...)
				return err
			})
			slices.Sort(all)
			return all, err
		},
	}
}

// tables are the queries for the tables of a database.
var tables = map[sqltext.Dialect]string{
	sqltext.SQLite:   "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1",
	sqltext.MySQL:    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
	sqltext.Postgres: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
}

func sqlGround(c sqlstore.Typed, table string) ground {
	table = c.Dialect().Quote(table)
	return ground{
		plant: func(ctx context.Context) error {
			for _, statement := range []string{"CREATE TABLE IF NOT EXISTS " + table + " (note varchar(20))", "INSERT INTO " + table + " VALUES ('" + theirs + "')"} {
				if _, err := c.SQL().ExecContext(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		},
		read: func(ctx context.Context) (note string, err error) {
			err = c.SQL().QueryRowContext(ctx, "SELECT note FROM "+table).Scan(&note)
			return note, err
		},
		names: func(ctx context.Context) (all []string, err error) {
			rows, err := c.SQL().QueryContext(ctx, tables[c.Dialect()])
			if err != nil {
				return nil, err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var name string
				if err := rows.Scan(&name); err != nil {
					return nil, err
				}
				all = append(all, name)
			}
			return all, rows.Err()
		},
	}
}

func cassandraGround(c cassandra.Typed, namespace string) ground {
	keyspace := c.KeyspaceFor(namespace)
	table := keyspace + "." + namespace + "_invoices"
	return ground{
		plant: func(ctx context.Context) error {
			if _, err := c.EnsureKeyspace(ctx, namespace); err != nil {
				return err
			}
			if err := c.Session().Query("CREATE TABLE IF NOT EXISTS " + table + " (id int PRIMARY KEY, note text)").ExecContext(ctx); err != nil {
				return err
			}
			return c.Session().Query("INSERT INTO "+table+" (id, note) VALUES (1, ?)", theirs).ExecContext(ctx)
		},
		read: func(ctx context.Context) (note string, err error) {
			err = c.Session().Query("SELECT note FROM "+table+" WHERE id = 1").ScanContext(ctx, &note)
			return note, err
		},
		names: func(ctx context.Context) (all []string, err error) {
			iter := c.Session().Query("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", keyspace).IterContext(ctx)
			for name := ""; iter.Scan(&name); {
				all = append(all, name)
			}
			slices.Sort(all)
			return all, iter.Close()
		},
	}
}
