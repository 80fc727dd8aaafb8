package link

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Servers says which servers a client is for, and how it should speak to them.
type Servers struct {
	// Addrs are the addresses: of a server, of some nodes of a cluster, or of sentinels if
	// there is a Master, which is the name they know the server by. Network is that of
	// net.Dial, for a single server.
	Addrs   []string
	Cluster bool
	Master  string
	Network string
	// DB is the number of the database, Protocol the version of RESP.
	DB, Protocol int
	// User and Password log in to servers, the others to sentinels.
	User, Password                 string
	SentinelUser, SentinelPassword string
	// TLS is nil for connections without.
	TLS *tls.Config
	// Dial, Read and Write are how long connecting and each part of a call may take.
	Dial, Read, Write time.Duration
	// Dialer connects, with TLS if there is any; nil: the library does.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
	// Pool is the largest number of connections, for each node of a cluster.
	Pool int
}

// Connect returns a client, which connects when it is first used. Only this package makes
// any, because each that does compiles all of go-redis' generics.
//
//go:noinline
func Connect(s Servers) Client {
	quiet()
	u := &goredis.UniversalOptions{
		Addrs: s.Addrs, MasterName: s.Master, DB: s.DB, Protocol: s.Protocol,
		Username: s.User, Password: s.Password,
		SentinelUsername: s.SentinelUser, SentinelPassword: s.SentinelPassword,
		TLSConfig:   s.TLS,
		Dialer:      s.Dialer,
		DialTimeout: s.Dial, ReadTimeout: s.Read, WriteTimeout: s.Write,
		PoolSize: s.Pool, PoolTimeout: s.Read + time.Second,
		// A measured call is a single call: nothing is retried behind its back, except
		// for a cluster's redirections.
		MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true, // older servers refuse CLIENT SETINFO
		PipelinePoolSize:      -1,   // pipelines share the pool: the default of 10 would be a bottleneck
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
	switch {
	case s.Cluster:
		o := u.Cluster()
		// Otherwise each call looks up, under a lock shared by all workers, what kind
		// of command it is, and asks the server again if that is not allowed.
		o.DisableRoutingPolicies = true
		return goredis.NewClusterClient(o)
	case s.Master != "":
		return goredis.NewFailoverClient(u.Failover())
	}
	o := u.Simple()
	o.Network = s.Network
	return goredis.NewClient(o)
}

// quiet keeps the library from writing to the terminal, which is not ours. What matters it
// returns as errors.
func quiet() { logging.Disable() }

// MastersOf asks a sentinel which masters it knows, with the TLS, names, passwords and
// timeouts of s.
//
//go:noinline
func MastersOf(ctx context.Context, sentinel string, s Servers) ([]any, error) {
	quiet()
	c := goredis.NewSentinelClient(&goredis.Options{
		Addr: sentinel, TLSConfig: s.TLS, MaxRetries: -1, DisableIdentity: true,
		Username: s.SentinelUser, Password: s.SentinelPassword,
		DialTimeout: s.Dial, ReadTimeout: s.Read,
	})
	masters, err := c.Masters(ctx).Result()
	_ = c.Close() // it has no calls in progress
	return masters, err
}
