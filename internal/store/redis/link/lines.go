// Package link carries hot calls to Redis: requests are assembled as bytes and replies
// are read without allocating, over connections that many callers share or that each
// call has to itself. Lines holds the connections; a Caller is what one goroutine calls
// with. go-redis tells it where servers are and how to log in.
package link

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Lines are the connections that hot calls use, to one server or to those of a cluster:
// either a few to each server, shared by all callers, or one for each call in progress.
// A go-redis client tells it where the servers are, which one is the master, and how to
// log in. It is safe for use by several goroutines.
type Lines struct {
	servers servers
	// shared means that callers share connections, at most size to each server.
	shared bool
	size   int

	mu sync.Mutex
	// at holds the way to each server, by address.
	at map[string]*way
	// conns are the open connections.
	conns  map[*tracked]struct{}
	closed bool
	// of holds the way to the server of each slot; nil: unknown. A single server has a
	// single slot.
	of   []atomic.Pointer[way]
	lane atomic.Int64
	// waits is how often a caller waited for a connection, waitNs for how long in
	// total.
	waits, waitNs atomic.Int64
	// redirects is how often a server sent a call to another.
	redirects atomic.Int64
	poll      *busyPoll
}

// way is how to reach one server: shared connections or a pool.
type way struct {
	shared []*Shared
	pool   *pool
}

// Conns is how many connections to each server callers share: while the replies of one
// are handed out, the server processes the requests of the other.
const Conns = 2

// NewLines returns the connections to the servers of client, which are opened when
// first used: if shared, Conns to each server (but no more than size) for all callers;
// otherwise one for each call in progress, up to size. Who reads from a shared connection
// polls for so long before he sleeps, if that is worth it; 0: never.
func NewLines(client Client, shared bool, size int, poll time.Duration) *Lines {
	l := &Lines{
		servers: servers{client}, shared: shared, size: max(size, 1),
		at: map[string]*way{}, conns: map[*tracked]struct{}{}, poll: newBusyPoll(poll),
	}
	if shared {
		l.size = min(l.size, Conns)
	}
	l.of = make([]atomic.Pointer[way], 1)
	if IsCluster(client) {
		l.of = make([]atomic.Pointer[way], slots)
	}
	return l
}

// Size returns how many connections there can be to each server.
func (l *Lines) Size() int { return l.size }

// Stats are statistics of the connections.
type Stats struct {
	// Open is how many there are, Idle how many could take a call now.
	Open, Idle int
	// Waits is how often a caller waited for one, WaitNs for how long in total.
	Waits, WaitNs int64
	// Redirects is how often a server sent a call to another.
	Redirects int64
	// Polled is the processor time that busy polling has taken.
	Polled time.Duration
}

// Stats returns statistics of the connections to all servers.
func (l *Lines) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{Open: len(l.conns), Idle: len(l.conns), Waits: l.waits.Load(), WaitNs: l.waitNs.Load(), Redirects: l.redirects.Load(), Polled: time.Duration(l.poll.spent.Load())}
	for _, w := range l.at {
		if w.pool != nil {
			s.Idle -= l.size - len(w.pool.free)
		}
	}
	s.Idle = max(s.Idle, 0)
	return s
}

// Warm opens as many connections as n callers need to every server that has data of its
// own.
func (l *Lines) Warm(ctx context.Context, n int) error {
	return Masters(ctx, l.servers.client, func(ctx context.Context, m Client) error {
		w := l.way(ServerOf(m))
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

// Close closes all connections; calls in progress and later calls fail.
func (l *Lines) Close() {
	l.mu.Lock()
	l.closed = true
	all := l.conns
	l.conns = map[*tracked]struct{}{}
	l.mu.Unlock()
	for c := range all {
		l.poll.remove(c.fd)
		_ = c.Conn.Close() // it is no longer needed
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

// way returns the way to a server.
func (l *Lines) way(o Server) *way {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.at[o.Addr]; w != nil {
		return w
	}
	dial, w := func(ctx context.Context) (net.Conn, error) { return l.dial(ctx, o) }, &way{}
	if l.shared {
		for range l.size {
			w.shared = append(w.shared, &Shared{dial: dial, timeout: o.patience(), poll: l.poll})
		}
	} else {
		w.pool = newPool(l, dial, o.patience(), o.Pool)
	}
	l.at[o.Addr] = w
	return w
}

// forget causes the servers of a slot, and of all others that are thought to be on the same server, to
// be looked up again, because they may have changed: where another has taken over, all have.
func (l *Lines) forget(ctx context.Context, slot int) {
	w := l.of[slot].Load()
	if w == nil || !l.servers.reload(ctx) {
		return
	}
	for i := range l.of {
		l.of[i].CompareAndSwap(w, nil)
	}
}

// dial opens a connection that Close will close.
func (l *Lines) dial(ctx context.Context, o Server) (net.Conn, error) {
	nc, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = nc.Close() // it is no longer needed
		return nil, goredis.ErrClosed
	}
	c := &tracked{Conn: nc, of: l, fd: noFd}
	if l.shared {
		c.fd = l.poll.add(nc)
	}
	l.conns[c] = struct{}{}
	return c, nil
}

// tracked is a connection counted by Lines.
type tracked struct {
	net.Conn
	of *Lines
	// fd is what busy polling knows it by.
	fd int
}

// Close closes the connection.
func (c *tracked) Close() error {
	c.of.mu.Lock()
	if _, open := c.of.conns[c]; open {
		c.of.poll.remove(c.fd)
	}
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
