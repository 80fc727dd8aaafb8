// Package redis connects to Redis and to whatever speaks its protocol: one server, a
// cluster, or a master behind sentinels. It implements the shapes of package store over
// hashes; profiles with data layers of their own get the typed client. It contains no
// profile's schema.
package redis

import (
	"context"
	"crypto/tls"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Driver opens connections to Redis.
var Driver = store.Driver{
	Name:  "redis",
	Title: "Redis",
	Schemes: []string{
		"redis", "rediss", "unix",
		"redis+cluster", "rediss+cluster", "redis+sentinel", "rediss+sentinel",
	},
	Breaks:  store.BreaksConnections,
	Example: "redis://localhost:6379",
	Port:    6379,
	Params: append([]string{
		"db", "sentinel_user", "sentinel_password", "protocol", "pipelining", "busy_poll",
	}, store.NetworkParams...),
	Traits: store.TraitsOf(abilities),
	Open:   store.Opens(Open),
}

// Typed is a connection whose client a profile may use directly: that of this package
// or of the embedded store.
type Typed interface {
	store.Conn
	// Client returns the client. It belongs to the connection: do not close it.
	Client() link.Client
	// Lines returns the connections for hot calls; without pipelining there is one for
	// each call in progress, whatever the target says. They belong to the connection.
	Lines(pipelining bool) *link.Lines
	// Alone returns a connection whose calls on maps do not share connections, whatever
	// the target says. It belongs to this connection: do not close it.
	Alone() store.Conn
}

var (
	_ interface {
		Typed
		store.Composite
		store.Pooled
		store.Warmer
		store.Answerer
	} = (*Conn)(nil)
	_ store.Maps   = (*Maps)(nil)
	_ store.Keeper = (*Records)(nil)
	_ interface {
		store.Leaser
		store.Neighbours
	} = (*Leases)(nil)
	_ interface {
		store.Metered
		store.Notebook
	} = (*Meter)(nil)
	_ store.Prober  = (*Prober)(nil)
	_ store.Factual = (*servers)(nil)
)

// Conn owns the connections to one Redis: those of the client, and those for hot calls. It
// is safe for use by several goroutines, and so are its components.
type Conn struct {
	Maps    *Maps
	Records *Records
	Leases  *Leases
	Meter   *Meter
	Prober  *Prober

	servers *servers
	size    int
	// lines are the connections for hot calls; alone are those that are not shared, if
	// the others are.
	lines *link.Lines
	alone func() *link.Lines
}

// Components returns the parts that the connection is made of.
func (c *Conn) Components() []any {
	return []any{c.Maps, c.Records, c.Leases, c.Meter, c.Prober, c.servers}
}

// servers are the Redis that a target names: how they are laid out, the client that finds
// them, and why they cannot be used.
type servers struct {
	client link.Client
	target store.Target
	tls    *tls.Config
	mode   mode
	// ours counts the scripts called for leases and questions, which are no calls of
	// applications.
	ours *atomic.Int64
	// unscripted is why the servers run no scripts; nil if they do. Open finds it out.
	unscripted error
	asked      store.Asked
}

// Client returns the go-redis client. It belongs to the connection: do not close
// it. A cluster's is a *redis.ClusterClient, any other a *redis.Client.
func (c *Conn) Client() link.Client { return c.servers.client }

// Lines returns the connections for hot calls. Callers share a few of them if
// pipelining is true and the target does not say otherwise.
func (c *Conn) Lines(pipelining bool) *link.Lines {
	if pipelining {
		return c.lines
	}
	return c.alone()
}

// Alone returns the connection whose calls on maps do not share connections.
func (c *Conn) Alone() store.Conn {
	if c.lines == c.alone() {
		return c
	}
	o := *c
	o.lines, o.Maps = c.alone(), newMaps(c.servers, c.alone())
	return &o
}

// Pool returns statistics of the connections, for a cluster summed over its nodes; Size
// is how many there may be to each of them.
func (c *Conn) Pool() store.PoolStats {
	p := c.servers.client.PoolStats()
	s := store.PoolStats{Size: c.size, Open: int(p.TotalConns), Idle: int(p.IdleConns), Waits: int64(p.WaitCount), WaitNs: p.WaitDurationNs}
	for _, l := range []*link.Lines{c.lines, c.alone()} {
		t := l.Stats()
		s.Open, s.Idle, s.Waits, s.WaitNs = s.Open+t.Open, s.Idle+t.Idle, s.Waits+t.Waits, s.WaitNs+t.WaitNs
		s.Redirects, s.Polled = s.Redirects+t.Redirects, s.Polled+t.Polled
		if c.lines == c.alone() {
			break
		}
	}
	return s
}

// Warm opens the connections that n callers need, on a cluster to each master.
func (c *Conn) Warm(ctx context.Context, n int) error {
	if err := c.lines.Warm(ctx, n); err != nil {
		return c.servers.explain(ctx, err)
	}
	return nil
}

// Close closes all connections, including those of calls in progress.
func (c *Conn) Close() error {
	c.lines.Close()
	c.alone().Close()
	return c.servers.client.Close()
}

// masters calls f with the client of every master, one after the other.
func (v *servers) masters(ctx context.Context, f func(ctx context.Context, m link.Client) error) error {
	var one sync.Mutex
	return link.Masters(ctx, v.client, func(ctx context.Context, m link.Client) error {
		one.Lock()
		defer one.Unlock()
		return f(ctx, m)
	})
}
