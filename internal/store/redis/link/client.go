package link

import (
	"context"
	"errors"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Client is a client of go-redis, for one server or a cluster, as far as it is needed for
// what is not measured. It leaves out those methods of goredis.UniversalClient that name
// go-redis' own parts: a package that comes across them compiles 1,500 functions of
// go-redis' generics again. For the same reason no exported type should have go-redis'
// clients or options in its fields or methods; functions may, unless the compiler inlines
// them into that package.
type Client interface {
	goredis.Cmdable
	Do(ctx context.Context, args ...any) *goredis.Cmd
	Process(ctx context.Context, cmd goredis.Cmder) error
	PoolStats() *goredis.PoolStats
	Close() error
}

var _ Client = goredis.UniversalClient(nil)

// IsCluster reports whether c is the client of a cluster.
//
//go:noinline
func IsCluster(c Client) bool {
	_, ok := c.(*goredis.ClusterClient)
	return ok
}

// Masters calls f with a client of every server that has data of its own, possibly several
// at a time.
//
//go:noinline
func Masters(ctx context.Context, c Client, f func(ctx context.Context, m Client) error) error {
	switch c := c.(type) {
	case *goredis.ClusterClient:
		return c.ForEachMaster(ctx, func(ctx context.Context, m *goredis.Client) error { return f(ctx, m) })
	case *goredis.Client:
		return f(ctx, c)
	}
	return store.ErrUnsupported
}

// IsOlder reports whether the target asks for the older protocol, RESP2.
//
//go:noinline
func IsOlder(c Client) bool {
	switch c := c.(type) {
	case *goredis.ClusterClient:
		return c.Options().Protocol == 2
	case *goredis.Client:
		return c.Options().Protocol == 2
	}
	return false
}

// Server says how to reach the server of a client that is not of a cluster.
type Server struct {
	// Network and Addr are those of net.Dial.
	Network, Addr string
	// DB is the number of the database.
	DB int
	// Dial and Read are the timeouts for connecting and for a reply, Pool that for a free
	// connection.
	Dial, Read, Pool time.Duration
	// connect opens a connection and logs in.
	connect func(ctx context.Context) (net.Conn, error)
}

// ServerOf returns the server of a client; the zero value if that is of a cluster.
//
//go:noinline
func ServerOf(c Client) Server {
	if c, ok := c.(*goredis.Client); ok {
		return serverOf(c.Options())
	}
	return Server{}
}

func serverOf(o *goredis.Options) Server {
	return Server{
		Network: o.Network, Addr: o.Addr, DB: o.DB, Dial: o.DialTimeout, Read: o.ReadTimeout, Pool: o.PoolTimeout,
		connect: func(ctx context.Context) (net.Conn, error) { return dialRaw(ctx, o) },
	}
}

// Watch watches keys while f reads and writes with a client whose transactions fail with
// goredis.TxFailedErr if a key was written in the meantime.
//
//go:noinline
func Watch(ctx context.Context, c Client, f func(tx goredis.Cmdable) error, keys ...string) error {
	u, ok := c.(goredis.UniversalClient)
	if !ok {
		return store.ErrUnsupported
	}
	return u.Watch(ctx, func(tx *goredis.Tx) error { return f(tx) }, keys...)
}

// Subscription listens to a channel.
type Subscription interface {
	// Receive waits for a message or a confirmation.
	Receive(ctx context.Context) (any, error)
	// ReceiveMessage waits for a message; after an error, the next call reconnects and
	// subscribes again.
	ReceiveMessage(ctx context.Context) (*goredis.Message, error)
	// Close ends it, and calls in progress.
	Close() error
}

// Subscribe listens to a channel, sharded or not.
//
//go:noinline
func Subscribe(ctx context.Context, c Client, sharded bool, channel string) (Subscription, error) {
	u, ok := c.(goredis.UniversalClient)
	switch {
	case !ok:
		return nil, store.ErrUnsupported
	case sharded:
		return u.SSubscribe(ctx, channel), nil
	}
	return u.Subscribe(ctx, channel), nil
}

// servers finds the server that holds a key.
type servers struct{ client Client }

// holds returns the server that holds key.
func (s servers) holds(ctx context.Context, key string) (Server, error) {
	switch c := s.client.(type) {
	case *goredis.ClusterClient:
		m, err := c.MasterForKey(ctx, key)
		if err != nil {
			return Server{}, err
		}
		return serverOf(m.Options()), nil
	case *goredis.Client:
		return serverOf(c.Options()), nil
	}
	return Server{}, fault.Store(errors.New("redis: this client does not expose its options"), "")
}

// reload makes the client of a cluster query again which node holds what; false if one
// server holds all.
func (s servers) reload(ctx context.Context) bool {
	c, ok := s.client.(*goredis.ClusterClient)
	if ok {
		c.ReloadState(ctx)
	}
	return ok
}
