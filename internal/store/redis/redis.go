// Package redis speaks to Redis and to what speaks its protocol: one server, a
// cluster, or a master behind sentinels. It implements the shapes of package
// store over hashes; profiles whose own data layer is the point get the typed
// client. No profile's schema is in here.
package redis

import (
	"context"
	"crypto/tls"
	"sync"

	goredis "github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/perfbench/perfbench/internal/store"
)

// Driver opens connections to Redis.
var Driver = store.Driver{
	Name:  "redis",
	Title: "Redis",
	Schemes: []string{
		"redis", "rediss", "unix",
		"redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel",
	},
	Example: "redis://localhost:6379",
	Params: append([]string{
		"db", "sentinel_user", "sentinel_password", "protocol",
	}, store.NetworkParams...),
	Open: func(ctx context.Context, t store.Target, o store.OpenOptions) (store.Conn, error) {
		c, err := Open(ctx, t, o)
		if err != nil {
			return nil, err
		}
		return c, nil
	},
}

// Typed is a connection whose client a profile may use directly: this package's,
// and that of the embedded store.
type Typed interface {
	store.Conn
	// Client returns the client. It belongs to the connection: do not close it.
	Client() goredis.UniversalClient
}

var _ interface {
	Typed
	store.Pooled
	store.Warmer
	store.Putter
	store.Setter
	store.BatchPutter
	store.Getter
	store.BatchGetter
	store.Counter
	store.GroupPutter
	store.Keeper
	store.Leaser
	store.Prober
	store.Metered
} = (*Conn)(nil)

// dials is how many connections are opened at the same time by Warm.
const dials = 32

// Conn is a pool of connections to one Redis. It is safe for use by several
// goroutines.
type Conn struct {
	client goredis.UniversalClient
	// cluster is the client of a cluster, else nil; single is the other one.
	cluster *goredis.ClusterClient
	single  *goredis.Client

	target store.Target
	tls    *tls.Config
	mode   mode
	size   int
	calls  sync.Pool
	// largest is the size of the largest value read, so that buffers fit.
	largest watermark
}

// Client returns the go-redis client. It belongs to the connection: do not close
// it. A cluster's is a *redis.ClusterClient, any other a *redis.Client.
func (c *Conn) Client() goredis.UniversalClient { return c.client }

// Sentinels is how to ask for a master behind sentinels.
type Sentinels struct {
	// Master is the name that the sentinels know it by, Addrs are theirs.
	Master string
	Addrs  []string
	// User and Password are those for the sentinels. They are secrets.
	User, Password string
}

// Sentinels returns how this connection finds its master, false when it does so
// without sentinels. Any goroutine may call it.
func (c *Conn) Sentinels() (Sentinels, bool) {
	if c.mode != sentinel {
		return Sentinels{}, false
	}
	addrs, err := addresses(c.target)
	p := c.target.Params
	return Sentinels{c.target.Path, addrs, p.Get("sentinel_user"), p.Get("sentinel_password")}, err == nil
}

// Pool tells of the connection pool, of a cluster's summed over its nodes, where
// Size is that of each node.
func (c *Conn) Pool() store.PoolStats {
	p := c.client.PoolStats()
	return store.PoolStats{
		Size: c.size, Open: int(p.TotalConns), Idle: int(p.IdleConns),
		Waits: int64(p.WaitCount), WaitNs: p.WaitDurationNs,
	}
}

// Warm opens n connections, on a cluster to each master, and gives them back to
// the pool.
func (c *Conn) Warm(ctx context.Context, n int) error {
	n = min(n, c.size)
	return c.masters(ctx, func(ctx context.Context, m *goredis.Client) error {
		var all errgroup.Group
		all.SetLimit(dials)
		held := make([]*goredis.Conn, n)
		for i := range held {
			held[i] = m.Conn()
			all.Go(func() error { return held[i].Ping(ctx).Err() })
		}
		err := all.Wait()
		for _, h := range held {
			_ = h.Close()
		}
		if err != nil {
			return c.explain(ctx, err)
		}
		return nil
	})
}

// Close closes all connections, those of calls under way included.
func (c *Conn) Close() error { return c.client.Close() }

// masters calls f with the client of every master, one after the other.
func (c *Conn) masters(ctx context.Context, f func(ctx context.Context, m *goredis.Client) error) error {
	if c.cluster == nil {
		return f(ctx, c.single)
	}
	var one sync.Mutex
	return c.cluster.ForEachMaster(ctx, func(ctx context.Context, m *goredis.Client) error {
		one.Lock()
		defer one.Unlock()
		return f(ctx, m)
	})
}
