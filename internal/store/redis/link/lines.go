// Package link is how hot calls reach Redis: requests as bytes that are put together and
// replies that are read without allocating, over connections that many callers share or
// that each call has to itself. Lines holds the connections, a Caller is what one
// goroutine calls with. Where servers are and how to log in it learns from go-redis.
package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
)

// Lines are the connections to one server, or to those of a cluster, that hot calls
// take: a few to each server, shared by all callers, or one for each call that is under
// way. Where the servers are, who is the master, and how to log in it learns from a
// client of the library. It is safe for use by several goroutines.
type Lines struct {
	servers servers
	// shared says that callers share connections, of which there are at most size to
	// each server.
	shared bool
	size   int

	mu sync.Mutex
	// at are the ways to each server, by its address.
	at map[string]*way
	// conns are the connections that are open.
	conns  map[*tracked]struct{}
	closed bool
	// of are those to the server that holds a slot; nil: not known. There is one slot
	// where there is one server.
	of   []atomic.Pointer[way]
	lane atomic.Int64
	// waits is how often a caller waited for a connection, waitNs for how long.
	waits, waitNs atomic.Int64
}

// way is how to one server: shared connections, else a pool.
type way struct {
	shared []*Shared
	pool   *pool
}

// Conns is how many connections callers share to each server: while the replies of one
// are handed out, the server is at work on the requests of the other.
const Conns = 2

// NewLines makes connections where client leads, when they are first used: Conns to
// each server that all callers share, but no more than size; else one for each call
// that is under way, of which there can be size.
func NewLines(client goredis.UniversalClient, shared bool, size int) *Lines {
	l := &Lines{servers: servers{client}, shared: shared, size: max(size, 1), at: map[string]*way{}, conns: map[*tracked]struct{}{}}
	if shared {
		l.size = min(l.size, Conns)
	}
	l.of = make([]atomic.Pointer[way], 1)
	if _, cluster := client.(*goredis.ClusterClient); cluster {
		l.of = make([]atomic.Pointer[way], slots)
	}
	return l
}

// Size is how many connections there can be to each server.
func (l *Lines) Size() int { return l.size }

// Stats tell of the connections.
type Stats struct {
	// Open is how many there are, Idle how many could take a call now.
	Open, Idle int
	// Waits is how often a caller waited for one, WaitNs for how long in all.
	Waits, WaitNs int64
}

// Stats tells of the connections to all servers.
func (l *Lines) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{Open: len(l.conns), Idle: len(l.conns), Waits: l.waits.Load(), WaitNs: l.waitNs.Load()}
	for _, w := range l.at {
		if w.pool != nil {
			s.Idle -= l.size - len(w.pool.free)
		}
	}
	s.Idle = max(s.Idle, 0)
	return s
}

// Warm connects to every server that has data of its own, as often as n callers need.
func (l *Lines) Warm(ctx context.Context, n int) error {
	return masters(ctx, l.servers.client, func(ctx context.Context, m *goredis.Client) error {
		w := l.way(m.Options())
		if w.pool != nil {
			return w.pool.warm(ctx, min(n, l.size))
		}
		for _, s := range w.shared {
			if err := s.warm(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Close ends all connections; calls that are under way fail, and those to come.
func (l *Lines) Close() {
	l.mu.Lock()
	l.closed = true
	all := l.conns
	l.conns = map[*tracked]struct{}{}
	l.mu.Unlock()
	for c := range all {
		_ = c.Conn.Close() // nobody wants it any more
	}
}

// to returns the way to the server that holds a key, and the key's slot.
func (l *Lines) to(ctx context.Context, key []byte) (*way, int, error) {
	slot := 0
	if len(l.of) > 1 {
		slot = slotOf(key)
	}
	if w := l.of[slot].Load(); w != nil {
		return w, slot, nil
	}
	o, err := l.servers.holds(ctx, string(key))
	if err != nil {
		return nil, slot, fmt.Errorf("find the server: %w", err)
	}
	w := l.way(o)
	l.of[slot].Store(w)
	return w, slot, nil
}

// way returns that to a server.
func (l *Lines) way(o *goredis.Options) *way {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.at[o.Addr]; w != nil {
		return w
	}
	dial, w := func(ctx context.Context) (net.Conn, error) { return l.dial(ctx, o) }, &way{}
	if l.shared {
		for range l.size {
			w.shared = append(w.shared, &Shared{dial: dial, timeout: readTimeout(o)})
		}
	} else {
		w.pool = newPool(l, dial, readTimeout(o), o.PoolTimeout)
	}
	l.at[o.Addr] = w
	return w
}

// forget has the server of a slot looked for anew: it may be another one by now.
func (l *Lines) forget(ctx context.Context, slot int) {
	if l.servers.reload(ctx) {
		l.of[slot].Store(nil)
	}
}

// dial makes a connection that Close ends.
func (l *Lines) dial(ctx context.Context, o *goredis.Options) (net.Conn, error) {
	nc, err := dialRaw(ctx, o)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = nc.Close() // nobody wants it any more
		return nil, goredis.ErrClosed
	}
	c := &tracked{nc, l}
	l.conns[c] = struct{}{}
	return c, nil
}

// tracked is a connection that is counted.
type tracked struct {
	net.Conn
	of *Lines
}

// Close closes the connection.
func (c *tracked) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// servers finds the server that holds a key.
type servers struct{ client goredis.UniversalClient }

// holds returns the options of the server that holds key.
func (s servers) holds(ctx context.Context, key string) (*goredis.Options, error) {
	switch c := s.client.(type) {
	case *goredis.ClusterClient:
		m, err := c.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		return m.Options(), nil
	case *goredis.Client:
		return c.Options(), nil
	}
	return nil, fault.Store(errors.New("redis: this client does not tell its options"), "")
}

// reload has a cluster asked again who holds what; false where one server holds all.
func (s servers) reload(ctx context.Context) bool {
	c, ok := s.client.(*goredis.ClusterClient)
	if ok {
		c.ReloadState(ctx)
	}
	return ok
}
