package onredis

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/store/redis"
)

// pings is how long a shared connection may be silent before the server is checked.
const pings = time.Second

// sentinels is what a connection to a master behind sentinels knows about them.
type sentinels interface {
	Sentinels() (redis.Sentinels, bool)
}

// rueidisOptions returns options for the library rueidis to connect to where a
// connection leads.
func rueidisOptions(t redis.Typed) rueidis.ClientOption {
	o := rueidis.ClientOption{ClientSetInfo: rueidis.DisableClientSetInfo, DisableRetry: true}
	switch c := t.Client().(type) {
	case *goredis.ClusterClient:
		p := c.Options()
		o.InitAddress, o.Username, o.Password, o.TLSConfig, o.AlwaysRESP2 = p.Addrs, p.Username, p.Password, p.TLSConfig, p.Protocol == 2
		o.Dialer, o.ConnWriteTimeout = dialer(p.DialTimeout), max(p.ReadTimeout, p.WriteTimeout)
	case *goredis.Client:
		p := c.Options()
		o.InitAddress, o.Username, o.Password, o.TLSConfig, o.SelectDB, o.AlwaysRESP2 = []string{p.Addr}, p.Username, p.Password, p.TLSConfig, p.DB, p.Protocol == 2
		o.Dialer, o.ConnWriteTimeout = dialer(p.DialTimeout), max(p.ReadTimeout, p.WriteTimeout)
		o.ForceSingleClient = true
		if p.Network == "unix" {
			o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
				return d.DialContext(ctx, "unix", addr)
			}
		}
		if s, ok := t.(sentinels); ok {
			if at, ok := s.Sentinels(); ok {
				o.ForceSingleClient, o.InitAddress = false, at.Addrs
				o.Sentinel = rueidis.SentinelOption{MasterSet: at.Master, Username: at.User, Password: at.Password, TLSConfig: p.TLSConfig, Dialer: o.Dialer}
			}
		}
	}
	return o
}

func dialer(timeout time.Duration) net.Dialer {
	return net.Dialer{Timeout: timeout, KeepAlive: pings}
}

// replyOf turns the library's error replies into ones that the store can classify. A
// nil reply is not an error.
func replyOf(err error) error {
	if err == nil || rueidis.IsRedisNil(err) {
		return nil
	}
	if re, ok := rueidis.IsRedisErr(err); ok {
		return replyError(re.Error())
	}
	if errors.Is(err, rueidis.ErrClosing) {
		return &net.OpError{Op: "read", Net: "tcp", Err: err}
	}
	return err
}

// replyError is an error reply of the server, in the form that the store can classify.
type replyError string

// Error returns the reply.
func (e replyError) Error() string { return string(e) }

// RedisError marks it as a reply of the server.
func (replyError) RedisError() {}
