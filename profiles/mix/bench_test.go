package mix

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/bradfitz/gomemcache/memcache"
	_ "github.com/go-sql-driver/mysql" // the driver mysql
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Of BenchmarkAgainstBareLoops: callers, records, bytes of a value, how long each side runs
// before the other has its turn, and how often.
const (
	benchThreads = 16
	benchRecords = 10_000
	benchBytes   = 1024
	benchTurn    = 500 * time.Millisecond
	benchTurns   = 7
)

// The statements of the loops over SQL.
const (
	createBare = "CREATE TABLE IF NOT EXISTS bare (k varchar(64) PRIMARY KEY, v varchar(4000) NOT NULL)"
	putBare    = "INSERT INTO bare (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v"
	getBare    = "SELECT v FROM bare WHERE k = $1"
)

const benchWorkload = `
data: {record: {records: 10000, size: 1KiB}}
operations: {read: {get: record}, write: {put: record}}
mix: {read: 90, write: 10}
`

// BenchmarkAgainstBareLoops is the rate of calls of mix, which chooses keys, makes values and
// checks what it reads, as a ratio to that of a loop that makes the same calls with the bare
// client, over a connection a caller, with one value.
func BenchmarkAgainstBareLoops(b *testing.B) {
	value := strings.Repeat("x", benchBytes)
	for name, open := range map[string]func(b *testing.B) (target string, call func(ctx context.Context, key string, write bool) error){
		"redis": func(b *testing.B) (string, func(context.Context, string, bool) error) {
			srv := labtest.Redis(b)
			return srv.URL(), overGoRedis(b, srv.Addr(), value)
		},
		"redis without pipelining": func(b *testing.B) (string, func(context.Context, string, bool) error) {
			srv := labtest.Redis(b)
			return srv.URL() + "?pipelining=off", overGoRedis(b, srv.Addr(), value)
		},
		"postgres": func(b *testing.B) (string, func(context.Context, string, bool) error) {
			target := profiletest.Target(b, "postgres")
			cfg, err := pgxpool.ParseConfig(target)
			require.NoError(b, err)
			cfg.MaxConns, cfg.MinConns = benchThreads, benchThreads
			p, err := pgxpool.NewWithConfig(b.Context(), cfg)
			require.NoError(b, err)
			b.Cleanup(p.Close)
			_, err = p.Exec(b.Context(), createBare)
			require.NoError(b, err)
			return target, func(ctx context.Context, key string, write bool) error {
				if write {
					_, err := p.Exec(ctx, putBare, key, value)
					return err
				}
				var v string
				return p.QueryRow(ctx, getBare, key).Scan(&v)
			}
		},
		"postgres over database sql": func(b *testing.B) (string, func(context.Context, string, bool) error) {
			target := profiletest.Target(b, "postgres")
			db, err := sql.Open("pgx", target)
			require.NoError(b, err)
			db.SetMaxOpenConns(benchThreads)
			db.SetMaxIdleConns(benchThreads)
			b.Cleanup(func() { _ = db.Close() })
			_, err = db.ExecContext(b.Context(), createBare)
			require.NoError(b, err)
			return target, func(ctx context.Context, key string, write bool) error {
				if write {
					_, err := db.ExecContext(ctx, putBare, key, value)
					return err
				}
				var v string
				return db.QueryRowContext(ctx, getBare, key).Scan(&v)
			}
		},
		"mariadb": func(b *testing.B) (string, func(context.Context, string, bool) error) {
			target := profiletest.Target(b, "mariadb")
			at, err := url.Parse(target)
			require.NoError(b, err)
			db, err := sql.Open("mysql", at.User.String()+"@tcp("+at.Host+")"+at.Path)
			require.NoError(b, err)
			db.SetMaxOpenConns(benchThreads)
			db.SetMaxIdleConns(benchThreads)
			b.Cleanup(func() { _ = db.Close() })
			_, err = db.ExecContext(b.Context(), createBare)
			require.NoError(b, err)
			put, err := db.PrepareContext(b.Context(), "INSERT INTO bare (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)")
			require.NoError(b, err)
			get, err := db.PrepareContext(b.Context(), "SELECT v FROM bare WHERE k = ?")
			require.NoError(b, err)
			return target, func(ctx context.Context, key string, write bool) error {
				if write {
					_, err := put.ExecContext(ctx, key, value)
					return err
				}
				var v string
				return get.QueryRowContext(ctx, key).Scan(&v)
			}
		},
		"memcached": func(b *testing.B) (string, func(context.Context, string, bool) error) {
			srv := labtest.Memcached(b)
			c := memcache.New(srv.Addr())
			c.MaxIdleConns = benchThreads
			b.Cleanup(func() { _ = c.Close() })
			return srv.URL(), func(_ context.Context, key string, write bool) error {
				if write {
					return c.Set(&memcache.Item{Key: key, Value: []byte(value)})
				}
				_, err := c.Get(key)
				return err
			}
		},
		"cassandra": func(b *testing.B) (string, func(context.Context, string, bool) error) {
			target := profiletest.Target(b, "cassandra")
			at, err := url.Parse(target)
			require.NoError(b, err)
			cluster := gocql.NewCluster(at.Host)
			cluster.Timeout, cluster.ConnectTimeout = time.Minute, time.Minute
			s, err := cluster.CreateSession()
			require.NoError(b, err)
			b.Cleanup(s.Close)
			for _, text := range []string{
				"CREATE KEYSPACE IF NOT EXISTS mixbare WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
				"CREATE TABLE IF NOT EXISTS mixbare.bare (k text PRIMARY KEY, v text)",
			} {
				require.NoError(b, s.Query(text).ExecContext(b.Context()))
			}
			return target, func(ctx context.Context, key string, write bool) error {
				if write {
					return s.Query("INSERT INTO mixbare.bare (k, v) VALUES (?, ?)", key, value).ExecContext(ctx)
				}
				var v string
				return s.Query("SELECT v FROM mixbare.bare WHERE k = ?", key).ScanContext(ctx, &v)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			target, call := open(b)
			plan := benchPlan(b, target, "mixbench", [2]string{"workload", benchWorkload})
			for i := range benchRecords {
				require.NoError(b, call(b.Context(), bareKey(int64(i)), true))
			}
			bench.InTurn(b, benchTurns,
				bench.Side{Name: "mix", Rate: func() float64 { return profiletest.Rate(b, plan, benchTurn) }},
				bench.Side{Name: "bare", Rate: func() float64 { return bareRate(b, call) }})
		})
	}
}

// overGoRedis returns calls over a client with a connection a caller.
func overGoRedis(b *testing.B, addr, value string) func(ctx context.Context, key string, write bool) error {
	b.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: addr, PoolSize: benchThreads, DisableIdentity: true, MaxRetries: -1})
	b.Cleanup(func() { _ = c.Close() })
	return func(ctx context.Context, key string, write bool) error {
		if write {
			return c.Set(ctx, key, value, 0).Err()
		}
		return c.Get(ctx, key).Err()
	}
}

// benchPlan makes a plan of values whose records are loaded.
func benchPlan(b *testing.B, target, namespace string, values ...[2]string) *workload.Plan {
	b.Helper()
	tg, d, err := drivers.Parse(target)
	require.NoError(b, err)
	c, err := drivers.Open(b.Context(), tg, store.OpenOptions{Threads: benchThreads})
	require.NoError(b, err)
	b.Cleanup(func() { _ = c.Close() })
	vs := workload.Values{}
	for _, v := range append(values, [][2]string{{"threads", fmt.Sprint(benchThreads)}, {"load", "auto"}, {"loaders", "16"}}...) {
		vs.Set(workload.Value{Name: v[0], Text: v[1], Origin: workload.OriginFlag})
	}
	in := workload.Inputs{Values: vs, Seed: 1, Namespace: namespace, Driver: d.Name, Duration: time.Hour}
	p, err := Design(in)
	require.NoError(b, err)
	p = profiletest.Bind(b, Name, p, c, in, "bench")
	require.NoError(b, p.Setup(b.Context(), nil))
	return p
}

func bareKey(n int64) string { return fmt.Sprintf("bare:%010d", n) }

// bareRate calls in a loop for a turn, and returns calls a second.
func bareRate(b *testing.B, call func(ctx context.Context, key string, write bool) error) float64 {
	b.Helper()
	keys := make([]string, benchRecords)
	for i := range keys {
		keys[i] = bareKey(int64(i))
	}
	return bench.Bare(b, benchThreads, benchTurn, func(w int) func() (int, error) {
		rnd := rand.New(rand.NewPCG(1, uint64(w))) //nolint:gosec // no secret
		return func() (int, error) {
			return 1, call(b.Context(), keys[rnd.IntN(benchRecords)], rnd.IntN(10) == 0)
		}
	})
}
