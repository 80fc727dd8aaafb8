// Package coherence connects to Oracle Coherence through its Go client, over the gRPC
// proxy. It implements the shapes of package store with one cache per space, and
// queues, expiry, near caches and entry processors for profiles that need them. It
// contains no profile's schema.
//
// The client sends all calls of a session through one stream, so a session is its own
// bottleneck: a connection therefore has several sessions and uses them in turn. Values
// travel as JSON, byte values as base64.
//
// The client (v2.3.1) waits for answers under a context of ours that ends only with the
// session, never with the call: if one of its waits is cut short just as the answer
// arrives, its session deadlocks for good. Our callers return in time; the client's
// goroutine goes on until the answer comes or its session is closed.
package coherence

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// Driver opens connections to Coherence.
var Driver = store.Driver{
	Name:    "coherence",
	Title:   "Coherence",
	Schemes: []string{"coherence"},
	Example: "coherence://localhost:1408",
	Port:    1408,
	Params:  store.NetworkParams,
	Open:    store.Opens(Open),
}

var _ interface {
	store.Maps
	store.Pooled
	store.Metered
} = (*Conn)(nil)

// Conn is several sessions with one cluster. It is safe for use by several goroutines.
type Conn struct {
	target store.Target
	opts   options
	tls    *tls.Config
	fence  *store.Fence
	hosts  []string
	gates  []*Gate
	links  []atomic.Pointer[link] // nil: lost and not yet replaced
	next   atomic.Uint64
	// version is as reported by the server.
	version string
	agent   *watch.Agent // nil if none is known

	hands   Hands
	wake    chan struct{} // something has to be reopened
	stop    chan struct{}
	closing sync.Once
	tending sync.WaitGroup
	mending sync.WaitGroup // links that are being closed
}

// Open connects to the hosts of t and makes sure that they answer and accept us. Errors
// have the code of an unfit store, or of bad input if the target itself is wrong, and a
// hint.
func Open(ctx context.Context, t store.Target, o store.OpenOptions) (*Conn, error) {
	opts, err := newOptions(t, o.Threads)
	if err != nil {
		return nil, err
	}
	config, err := store.TLSConfig(t)
	if err != nil {
		return nil, err
	}
	c := &Conn{
		target: t, opts: opts, tls: config, fence: o.Fence,
		links: make([]atomic.Pointer[link], opts.connections),
		wake:  make(chan struct{}, 1), stop: make(chan struct{}),
	}
	if o.Agent != "" {
		c.agent = watch.NewAgent(o.Agent)
	}
	for _, h := range t.Hosts {
		c.hosts = append(c.hosts, store.HostPort(h, 1408))
	}
	Quiet()
	limited, cancel := context.WithTimeout(ctx, opts.dial)
	defer cancel()
	if err := c.connect(limited); err != nil {
		return nil, errors.Join(c.explain(ctx, err), c.Close())
	}
	c.tending.Go(c.tend)
	return c, nil
}

// connect opens the gates and the first session of each slot.
func (c *Conn) connect(ctx context.Context) error {
	// A server that has just started is slow to answer the first time.
	read := c.opts.read
	c.opts.read = max(read, c.opts.dial)
	defer func() { c.opts.read = read }()
	for _, h := range c.hosts {
		g, err := NewGate(h, c.tls, c.opts.dial)
		if err != nil {
			return err
		}
		c.gates = append(c.gates, g)
		if err := g.Reach(ctx); err != nil {
			return err
		}
	}
	for i := range c.links {
		l, err := c.openLink(ctx, i)
		if err != nil {
			return err
		}
		c.links[i].Store(l)
	}
	l := c.links[0].Load()
	c.version = l.version()
	_, err := call(ctx, c, func(ctx context.Context, l *link) (int, error) {
		m, err := l.cache(madeName(""))
		if err != nil {
			return 0, err
		}
		return m.Size(ctx)
	})
	return err
}

// tend reopens what was lost, once its host answers. It ends with the connection.
func (c *Conn) tend() {
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for _, g := range c.gates {
		c.tending.Go(func() { g.Watch(c.stop, func() { c.lostHost(g.Host) }, c.nudge) })
	}
	for {
		select {
		case <-c.stop:
			return
		case <-c.wake:
		case <-again.C:
		}
		for i := range c.links {
			if c.links[i].Load() != nil || !c.gates[i%len(c.gates)].Ready() {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), c.opts.dial)
			l, err := c.openLink(ctx, i)
			cancel()
			if err != nil {
				break // the next tick tries again
			}
			c.links[i].Store(l)
		}
	}
}

// retryEvery is the interval between attempts to reopen what was lost.
const retryEvery = 200 * time.Millisecond

func (c *Conn) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// lostHost gives up all sessions with a host that has gone.
func (c *Conn) lostHost(host string) {
	for i := range c.links {
		if l := c.links[i].Load(); l != nil && l.host == host {
			c.lose(l)
		}
	}
}

// gateOf returns the gate of a host.
func (c *Conn) gateOf(host string) *Gate {
	for _, g := range c.gates {
		if g.Host == host {
			return g
		}
	}
	return c.gates[0]
}

// lose gives up a session: its calls end at once, and another session is opened.
func (c *Conn) lose(l *link) {
	if l.place < 0 || !c.links[l.place].CompareAndSwap(l, nil) {
		return
	}
	c.mending.Go(l.close)
	c.nudge()
}

// pick returns a session, or nil if all are lost.
func (c *Conn) pick() *link {
	n := uint64(len(c.links))
	first := c.next.Add(1)
	for i := range n {
		if l := c.links[(first+i)%n].Load(); l != nil {
			return l
		}
	}
	return nil
}

// Close ends all sessions. It may be called more than once.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		close(c.stop)
		for i := range c.links {
			if l := c.links[i].Load(); l != nil {
				c.lose(l)
			}
		}
		for _, g := range c.gates {
			g.Close()
		}
		done := make(chan struct{})
		go func() {
			c.tending.Wait()
			for i := range c.links { // one may have been opened in the meantime
				if l := c.links[i].Load(); l != nil {
					c.lose(l)
				}
			}
			c.mending.Wait()
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(closeLimit): // a frozen server blocks its client
		}
		c.hands.Close()
	})
	return nil
}

// closeLimit is how long Close waits for the client to finish.
const closeLimit = 3 * time.Second

func (c *Conn) closed() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// Pool reports how many sessions there are.
func (c *Conn) Pool() store.PoolStats {
	s := store.PoolStats{Size: len(c.links)}
	for i := range c.links {
		if c.links[i].Load() != nil {
			s.Open++
		}
	}
	return s
}

// call runs f on one of the sessions. It returns as soon as f does, ctx ends, the time
// allowed for a call is over, or the session is lost. In all but the first case f keeps
// running, so it must own what it uses.
func call[T any](ctx context.Context, c *Conn, f func(ctx context.Context, l *link) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	l := c.pick()
	if l == nil {
		if c.closed() {
			return none, errClosed
		}
		return none, errAway
	}
	return callOn(ctx, c, l, f)
}

// callOn is call on a given session.
func callOn[T any](ctx context.Context, c *Conn, l *link, f func(ctx context.Context, l *link) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	var none T
	if err := c.fence.Pass(); err != nil { // the client does not let us dial
		return none, err
	}
	done := make(chan answer, 1) // one value: the sender never waits
	c.hands.Do(func() {
		defer func() {
			if v := recover(); v != nil { // this client panics when a session ends
				done <- answer{none, fmt.Errorf("%w: %v", errBroke, v)}
			}
		}()
		var a answer
		if a.err = c.fence.Pass(); a.err == nil { // again: this may have had to wait for its turn
			a.v, a.err = f(l.life, l)
		}
		done <- a
	})
	timer := time.NewTimer(c.opts.read)
	defer timer.Stop()
	select {
	case a := <-done:
		l.heard.Store(time.Now().UnixNano())
		if a.err == nil {
			return a.v, nil
		}
		if breaks(a.err) {
			c.lose(l)
		}
		if !l.alive() || !c.gateOf(l.host).Ready() { // whatever error the client returns
			return none, fmt.Errorf("%w: %w", errAway, a.err)
		}
		return none, a.err
	case <-l.lost:
		return none, errAway
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		if time.Since(time.Unix(0, l.heard.Load())) > 2*c.opts.read {
			c.lose(l) // nothing at all has been received for a long time
		}
		return none, errSlow
	}
}

var (
	errAway   = errors.New("the session with the server was lost")
	errBroke  = errors.New("the client failed")
	errClosed = errors.New("the connection is closed")
	errSlow   = fmt.Errorf("no answer in time: %w", context.DeadlineExceeded)
)

// refuse returns an error of bad input about the target.
func refuse(what, hint string) error { return fault.Input(errors.New("coherence: "+what), hint) }
