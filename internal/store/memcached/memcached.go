// Package memcached connects to Memcached by its text protocol, through the client of Brad
// Fitzpatrick. It implements the shapes of package store with an item for each entry. A cache
// may evict any item when its memory is full: what is missing then is found by verification.
package memcached

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

const (
	port    = 11211
	example = "memcached://localhost:11211"
)

// Driver opens connections to Memcached.
var Driver = store.Driver{
	Name:    "memcached",
	Title:   "Memcached",
	Schemes: []string{"memcached"},
	Breaks:  store.BreaksConnections,
	Example: example,
	Port:    port,
	Params:  store.NetworkParams,
	Traits:  store.TraitsOf(abilities),
	Open:    store.Opens(Open),
}

var (
	_ interface {
		store.Composite
		store.Answerer
	} = (*Conn)(nil)
	_ store.Maps   = (*Maps)(nil)
	_ store.Keeper = (*Records)(nil)
	_ store.Leaser = (*Leases)(nil)
	_ interface {
		store.Metered
		store.Factual
	} = (*servers)(nil)
	_ store.Prober = (*Maps)(nil)
)

// Conn is a pool of connections to one or several servers, among which keys are divided. It
// is safe for use by several goroutines.
type Conn struct {
	*servers
	Maps    *Maps
	Records *Records
	Leases  *Leases
}

// Components returns the parts that the connection is made of.
func (c *Conn) Components() []any { return []any{c.Maps, c.Records, c.Leases, c.servers} }

// servers are those that a target names.
type servers struct {
	client *memcache.Client
	target store.Target
	addrs  []string
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	limit  time.Duration // of a call
	closed atomic.Bool
	asked  store.Asked
}

// timeout is how long a call may take unless the target says otherwise.
const timeout = 5 * time.Second

// Open connects to the servers of t and makes sure that all answer. Errors have the code of an
// unfit store, or of bad input if the target itself is wrong, and a hint.
func Open(ctx context.Context, t store.Target, o store.OpenOptions) (*Conn, error) {
	config, err1 := store.TLSConfig(t)
	times, err2 := store.Timeouts(t)
	pool, err3 := store.Connections(t)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	switch {
	case len(t.Hosts) == 0:
		return nil, fault.Input(errors.New("memcached: no host"), "for example "+example)
	case t.User != "" || t.Password != "":
		return nil, fault.Input(errors.New("memcached: a user or a password was given, and the text protocol knows none"), "leave it out")
	case t.Path != "":
		return nil, fault.Input(fmt.Errorf("memcached: %q follows the host, and a server has no databases", t.Path), "leave it out; --namespace keeps runs apart")
	}
	v := &servers{target: t, limit: max(or(times.Read), or(times.Write)), dial: dialer(config, or(times.Dial), o)}
	for _, h := range t.Hosts {
		v.addrs = append(v.addrs, store.HostPort(h, port))
	}
	list := new(memcache.ServerList)
	if err := list.SetServers(v.addrs...); err != nil {
		return nil, v.explain(ctx, err)
	}
	v.client = memcache.NewFromSelector(list)
	v.client.Timeout = v.limit
	v.client.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := v.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &lenient{Conn: c, slack: v.limit / 64}, nil
	}
	if v.client.MaxIdleConns = pool; pool == 0 {
		v.client.MaxIdleConns = max(o.Threads, store.InFlight)
	}
	c := &Conn{servers: v, Maps: &Maps{v}, Records: &Records{v}, Leases: &Leases{v}}
	if err := c.Answer(ctx); err != nil {
		return nil, errors.Join(v.explain(ctx, err), c.Close())
	}
	return c, nil
}

func or(d time.Duration) time.Duration {
	if d == 0 {
		return timeout
	}
	return d
}

// dialer returns what opens connections, by way of the proxy and with a fence before each write.
func dialer(config *tls.Config, limit time.Duration, o store.OpenOptions) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := o.Proxy.Dial(ctx, &net.Dialer{Timeout: limit}, network, addr)
		if err != nil {
			return nil, err
		}
		c = o.Fence.Conn(c)
		if config == nil {
			return c, nil
		}
		own := config.Clone()
		if host, _, err := net.SplitHostPort(addr); err == nil && own.ServerName == "" {
			own.ServerName = host
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		secure := tls.Client(c, own)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return secure, nil
	}
}

// lenient is a connection whose deadline may be later than it was set, by slack: the client sets it
// three times for a call, and so most of them find one that will do. It is for deadlines that come
// one after the other.
type lenient struct {
	net.Conn
	slack time.Duration
	is    time.Time
}

// SetDeadline sets the deadline unless the one that is set will do.
func (c *lenient) SetDeadline(t time.Time) error {
	if !c.is.Before(t) {
		return nil
	}
	c.is = t.Add(c.slack)
	return c.Conn.SetDeadline(c.is)
}

// open says why nothing can be sent.
func (v *servers) open(ctx context.Context) error {
	if v.closed.Load() {
		return net.ErrClosed
	}
	return ctx.Err()
}

// Answer asks every server for its version.
func (c *Conn) Answer(ctx context.Context) error {
	for _, addr := range c.addrs {
		if _, err := c.lines(ctx, addr, "version"); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the connections that are free; calls in progress end by their timeout.
func (v *servers) Close() error {
	v.closed.Store(true)
	return v.client.Close()
}

// Classify returns the class of an operation's error. It is safe for use by several
// goroutines.
func (c *Conn) Classify(err error) store.Class { return Classify(err) }

// Classify returns the class of an error of the client.
func Classify(err error) store.Class {
	var dial *memcache.ConnectTimeoutError
	netErr, isNet := errors.AsType[net.Error](err)
	switch {
	case err == nil:
		return store.Worked
	case errors.Is(err, memcache.ErrCacheMiss):
		return store.Missing
	case errors.Is(err, memcache.ErrCASConflict), errors.Is(err, memcache.ErrNotStored):
		return store.Conflict
	case errors.Is(err, context.Canceled):
		return store.Canceled
	case errors.As(err, &dial):
		return store.Unreachable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isNet && netErr.Timeout():
		return store.Timeout
	case isNet, errors.Is(err, net.ErrClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, memcache.ErrNoServers),
		errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return store.Unreachable
	case strings.Contains(err.Error(), "out of memory"):
		return store.OutOfMemory
	case strings.Contains(err.Error(), "max connections"), strings.Contains(err.Error(), "too many open connections"):
		return store.Overloaded
	}
	return store.Other
}

// explain says in one sentence why the servers cannot be used, and what to do.
func (v *servers) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	t := store.Trouble{Driver: "memcached", Where: strings.Join(v.target.Hosts, ","), Err: err}
	if err := t.Cancelled(ctx); err != nil {
		return err
	}
	if what, hint := store.SayTLS(err); what != "" {
		return t.Say(what, hint)
	}
	switch {
	case t.Has("no such host"):
		return t.Say("the name of the host cannot be resolved", "check its spelling")
	case t.Has("connection refused"):
		return t.Say("cannot be reached: connection refused", "is the server running? perfbench lab up memcached starts one")
	case errors.Is(err, errProtocol):
		return t.Say("the server there does not speak Memcached's text protocol", "is this the right port?")
	case Classify(err) == store.Timeout:
		return t.Say("no answer in time", "is it the right host and port, and no firewall between? dial_timeout= and read_timeout= give it longer")
	case errors.Is(err, io.EOF), t.Has("connection reset"):
		return t.Say("the server closed the connection at once", "does it speak TLS on this port? add tls=1")
	}
	return t.Unknown("is the server running? perfbench lab up memcached starts one")
}
