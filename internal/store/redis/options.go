package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// mode is how the servers are laid out, as the target says.
type mode int

const (
	standalone mode = iota + 1
	cluster
	sentinel
)

// spare is how many connections the pool may open beyond one per worker, so that our
// own requests during a run take none from a worker.
const spare = 2

// timeout is how long a read or write may take unless the target says otherwise.
const timeout = 5 * time.Second

func modeOf(scheme string) mode {
	switch {
	case strings.HasSuffix(scheme, "+cluster"):
		return cluster
	case strings.HasSuffix(scheme, "+sentinel"):
		return sentinel
	}
	return standalone
}

// newConn makes the client described by t. It does not connect.
func newConn(t store.Target, o store.OpenOptions) (*Conn, error) {
	u, err := options(t, o)
	if err != nil {
		return nil, err
	}
	poll, err := busyPoll(t, u.TLS != nil)
	if err != nil {
		return nil, err
	}
	v := &servers{client: link.Connect(u), target: t, tls: u.TLS, mode: modeOf(t.Scheme), ours: store.Beside(t)}
	// A single caller has nobody to share with, and is faster without another goroutine
	// that hands it its replies.
	shared := o.Threads > 1 && v.pipelines()
	lines := link.NewLines(v.client, shared, u.Pool, poll)
	maps := newMaps(v, lines)
	c := &Conn{
		Maps: maps, Records: &Records{v, maps}, Leases: &Leases{servers: v},
		Meter: &Meter{servers: v}, Prober: &Prober{v, maps},
		servers: v, size: u.Pool, lines: lines,
	}
	c.alone = sync.OnceValue(func() *link.Lines {
		if !shared {
			return lines
		}
		return link.NewLines(v.client, false, u.Pool, 0)
	})
	return c, nil
}

// pipelines reports whether callers share connections, as they do unless the target
// says otherwise.
func (v *servers) pipelines() bool {
	return store.Pipelines(v.target) // options has checked that it is a boolean
}

// longestPoll is the longest bound of busy polling: beyond it, to wake a thread takes next to nothing.
const longestPoll = 10 * time.Millisecond

// busyPoll reads for how long whoever waits for replies polls before it sleeps; 0: not at all.
func busyPoll(t store.Target, secure bool) (time.Duration, error) {
	const name = "busy_poll"
	text, def := strings.ToLower(t.Params.Get(name)), link.BusyPoll
	if secure || !link.CanPoll {
		def = 0
	}
	var why, hint string
	switch pipelines, _ := t.Bool("pipelining"); {
	case !t.Params.Has(name):
		return def, nil
	case slices.Contains([]string{"off", "0", "false", "no"}, text):
		return 0, nil
	case !link.CanPoll:
		why = "this system has nothing to poll connections with"
	case secure:
		why = "with TLS it cannot be seen from outside whether a reply has arrived"
	case t.Params.Has("pipelining") && !pipelines:
		why, hint = "callers who have a connection each do not poll", ", or leave out pipelining=off"
	}
	if why != "" {
		return 0, fault.Input(fmt.Errorf("%s: %s=%s: %s", t.Scheme, name, text, why), "leave out "+name+"="+hint)
	}
	if slices.Contains([]string{"on", "1", "true", "yes", ""}, text) {
		return def, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 && d <= longestPoll {
		return d, nil
	}
	return 0, fault.Input(fmt.Errorf("%s: %s: %q is neither off nor a duration up to %v", t.Scheme, name, text, longestPoll), "for example "+name+"=50us")
}

func options(t store.Target, o store.OpenOptions) (link.Servers, error) {
	config, err1 := store.TLSConfig(t)
	times, err2 := store.Timeouts(t)
	pool, err3 := store.Connections(t)
	protocol, err4 := t.Int("protocol", 3, 2, 3)
	addrs, err5 := addresses(t)
	db, err6 := database(t)
	_, err7 := t.Bool("pipelining")
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7); err != nil {
		return link.Servers{}, fault.Code(err, fault.CodeInput)
	}
	if pool == 0 {
		pool = max(o.Threads, 1) + spare
	}
	u := link.Servers{
		Addrs: addrs, Cluster: modeOf(t.Scheme) == cluster, Network: "tcp", DB: db, Protocol: protocol,
		User: t.User, Password: t.Password,
		SentinelUser: t.Params.Get("sentinel_user"), SentinelPassword: t.Params.Get("sentinel_password"),
		TLS: config, Dial: or(times.Dial), Read: or(times.Read), Write: or(times.Write), Pool: pool,
	}
	if o.Fence != nil || o.Proxy != nil {
		u.Dialer = dialBehind(o, config, u.Dial)
	}
	switch {
	case t.Scheme == "unix":
		u.Network = "unix"
	case modeOf(t.Scheme) == sentinel:
		u.Master = t.Path
	}
	return u, nil
}

// dialBehind dials as go-redis does, by way of the proxy and with a fence before each write.
func dialBehind(o store.OpenOptions, config *tls.Config, timeout time.Duration) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAlive: 5 * time.Minute}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := o.Proxy.Dial(ctx, &d, network, addr)
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
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		secure := tls.Client(c, own)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return secure, nil
	}
}

func or(d time.Duration) time.Duration {
	if d == 0 {
		return timeout
	}
	return d
}

func addresses(t store.Target) ([]string, error) {
	if t.Scheme == "unix" {
		if !strings.HasPrefix(t.Path, "/") {
			return nil, fault.Input(errors.New("unix: the path of the socket is not absolute"), "for example unix:///run/redis/redis.sock")
		}
		return []string{t.Path}, nil
	}
	if len(t.Hosts) == 0 {
		return nil, fault.Input(fmt.Errorf("%s: no host", t.Scheme), "for example "+t.Scheme+"://localhost:6379")
	}
	m, port := modeOf(t.Scheme), 6379
	if m == sentinel {
		port = 26379
		if t.Path == "" {
			return nil, fault.Input(fmt.Errorf("%s: the name of the master is missing", t.Scheme), "write it after the hosts: "+t.Scheme+"://"+strings.Join(t.Hosts, ",")+"/mymaster")
		}
	}
	if m == standalone && len(t.Hosts) > 1 {
		return nil, fault.Input(fmt.Errorf("%s: several hosts", t.Scheme), "a cluster is "+t.Scheme+"+cluster://"+strings.Join(t.Hosts, ",")+", sentinels are "+t.Scheme+"+sentinel://"+strings.Join(t.Hosts, ",")+"/mymaster")
	}
	out := make([]string, len(t.Hosts))
	for i, h := range t.Hosts {
		out[i] = store.HostPort(h, port)
	}
	return out, nil
}

// database reads the number of the database from db= or, as is customary, from the path
// of redis://host/0.
func database(t store.Target) (int, error) {
	db, err := t.Int("db", 0, 0, 1<<20)
	if err != nil {
		return 0, err
	}
	m := modeOf(t.Scheme)
	if m == cluster && (db != 0 || t.Path != "") {
		return 0, fault.Input(fmt.Errorf("%s: a cluster has no databases", t.Scheme), "leave out db= and the path")
	}
	if m != standalone || t.Scheme == "unix" || t.Path == "" {
		return db, nil
	}
	n, err := strconv.Atoi(t.Path)
	if err != nil || n < 0 {
		return 0, fault.Input(fmt.Errorf("%s: what follows the host is not the number of a database", t.Scheme), "for example "+t.Scheme+"://"+t.Hosts[0]+"/0")
	}
	if t.Params.Has("db") && n != db {
		return 0, fault.Input(fmt.Errorf("%s: db=%d contradicts /%d", t.Scheme, db, n), "give one of them")
	}
	return n, nil
}

// ping pings once, on a connection of its own if necessary.
func (v *servers) ping(ctx context.Context) error { return v.client.Ping(ctx).Err() }
