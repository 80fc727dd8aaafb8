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
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// Driver opens connections to Coherence.
var Driver = store.Driver{
	Name:    "coherence",
	Title:   "Coherence",
	Schemes: []string{"coherence"},
	Breaks:  store.BreaksConnections,
	Example: "coherence://localhost:1408",
	Port:    1408,
	Params:  store.NetworkParams,
	Open:    store.Opens(Open),
}

var (
	_ interface {
		store.Conn
		store.Composite
		store.Pooled
		store.Answerer
	} = (*Conn)(nil)
	_ store.Maps    = (*Maps)(nil)
	_ store.Keeper  = (*Records)(nil)
	_ store.Leaser  = (*Leases)(nil)
	_ store.Metered = (*Meter)(nil)
	_ store.Prober  = (*Prober)(nil)
)

// Conn is several sessions with one cluster, and what is done over them. It is safe for use
// by several goroutines, and so are its components.
type Conn struct {
	*sessions
	Maps    *Maps
	Queues  *Queues
	Records *Records
	Leases  *Leases
	Meter   *Meter
	Prober  *Prober
}

// Components returns the parts that the connection is made of.
func (c *Conn) Components() []any {
	return []any{c.Maps, c.Queues, c.Records, c.Leases, c.Meter, c.Prober}
}

// sessions are those with the hosts that a target names: which are open, and which are lost
// and have to be reopened.
type sessions struct {
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
	ss := &sessions{
		target: t, opts: opts, tls: config, fence: o.Fence,
		links: make([]atomic.Pointer[link], opts.connections),
		wake:  make(chan struct{}, 1), stop: make(chan struct{}),
	}
	if err := ss.reachedBy(o.Proxy); err != nil {
		return nil, err
	}
	Quiet()
	limited, cancel := context.WithTimeout(ctx, opts.dial)
	defer cancel()
	if err := ss.connect(limited); err != nil {
		return nil, errors.Join(ss.explain(ctx, err), ss.Close())
	}
	ss.tending.Go(fault.Guarded(ss.tend))
	c := &Conn{
		sessions: ss, Maps: &Maps{ss}, Queues: &Queues{ss}, Leases: &Leases{ss}, Meter: &Meter{}, Prober: &Prober{ss},
	}
	c.Records = &Records{ss, c.Maps, c.Queues}
	if o.Agent != "" {
		c.Meter.agent = watch.NewAgent(o.Agent)
	}
	return c, nil
}

// reachedBy notes the addresses of the hosts, those of the proxy if there is one: the client does
// not let us dial. Certificates are still of the host that the target names.
func (ss *sessions) reachedBy(p *proxy.Proxy) error {
	for _, h := range ss.target.Hosts {
		addr, err := p.Address(store.HostPort(h, 1408))
		if err != nil {
			return err
		}
		ss.hosts = append(ss.hosts, addr)
	}
	if p != nil && ss.tls != nil && ss.tls.ServerName == "" {
		ss.tls.ServerName, _, _ = net.SplitHostPort(store.HostPort(ss.target.Hosts[0], 1408))
	}
	return nil
}

// connect opens the gates and the first session of each slot.
func (ss *sessions) connect(ctx context.Context) error {
	// A server that has just started is slow to answer the first time.
	read := ss.opts.read
	ss.opts.read = max(read, ss.opts.dial)
	defer func() { ss.opts.read = read }()
	for _, h := range ss.hosts {
		g, err := NewGate(h, ss.tls, ss.opts.dial)
		if err != nil {
			return err
		}
		ss.gates = append(ss.gates, g)
		if err := g.Reach(ctx); err != nil {
			return err
		}
	}
	for i := range ss.links {
		l, err := ss.openLink(ctx, i)
		if err != nil {
			return err
		}
		ss.links[i].Store(l)
	}
	l := ss.links[0].Load()
	ss.version = l.version()
	_, err := call(ctx, ss, func(ctx context.Context, l *link) (int, error) {
		m, err := l.cache(madeName(""))
		if err != nil {
			return 0, err
		}
		return m.(counting).Size(ctx)
	})
	return err
}

// tend reopens what was lost, once its host answers. It ends with the connection.
func (ss *sessions) tend() {
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for _, g := range ss.gates {
		ss.tending.Go(fault.Guarded(func() { g.Watch(ss.stop, func() { ss.lostHost(g.Host) }, ss.nudge) }))
	}
	for {
		select {
		case <-ss.stop:
			return
		case <-ss.wake:
		case <-again.C:
		}
		for i := range ss.links {
			if ss.links[i].Load() != nil || !ss.gates[i%len(ss.gates)].Ready() {
				continue
			}
			breath()
			ctx, cancel := context.WithTimeout(context.Background(), ss.opts.dial)
			l, err := ss.openLink(ctx, i)
			cancel()
			if err != nil {
				break // the next tick tries again
			}
			ss.links[i].Store(l)
		}
	}
}

// retryEvery is the interval between attempts to reopen what was lost.
const retryEvery = 200 * time.Millisecond

func (ss *sessions) nudge() {
	select {
	case ss.wake <- struct{}{}:
	default:
	}
}

// lostHost gives up all sessions with a host that has gone.
func (ss *sessions) lostHost(host string) {
	for i := range ss.links {
		if l := ss.links[i].Load(); l != nil && l.host == host {
			ss.lose(l)
		}
	}
}

// gateOf returns the gate of a host.
func (ss *sessions) gateOf(host string) *Gate {
	for _, g := range ss.gates {
		if g.Host == host {
			return g
		}
	}
	return ss.gates[0]
}

// lose gives up a session: its calls end at once, and another session is opened.
func (ss *sessions) lose(l *link) {
	if l.place < 0 || !ss.links[l.place].CompareAndSwap(l, nil) {
		return
	}
	ss.mending.Go(fault.Guarded(l.close))
	ss.nudge()
}

// pick returns a session, or nil if all are lost.
func (ss *sessions) pick() *link {
	n := uint64(len(ss.links))
	first := ss.next.Add(1)
	for i := range n {
		if l := ss.links[(first+i)%n].Load(); l != nil {
			return l
		}
	}
	return nil
}

// Close ends all sessions. It may be called more than once.
func (ss *sessions) Close() error {
	ss.closing.Do(func() {
		close(ss.stop)
		for i := range ss.links {
			if l := ss.links[i].Load(); l != nil {
				ss.lose(l)
			}
		}
		for _, g := range ss.gates {
			g.Close()
		}
		done := make(chan struct{})
		fault.Go(func() {
			ss.tending.Wait()
			for i := range ss.links { // one may have been opened in the meantime
				if l := ss.links[i].Load(); l != nil {
					ss.lose(l)
				}
			}
			ss.mending.Wait()
			close(done)
		})
		select {
		case <-done:
		case <-time.After(closeLimit): // a frozen server blocks its client
		}
		ss.hands.Close()
	})
	return nil
}

// closeLimit is how long Close waits for the client to finish.
const closeLimit = 3 * time.Second

func (ss *sessions) closed() bool {
	select {
	case <-ss.stop:
		return true
	default:
		return false
	}
}

// Pool reports how many sessions there are.
func (ss *sessions) Pool() store.PoolStats {
	s := store.PoolStats{Size: len(ss.links)}
	for i := range ss.links {
		if ss.links[i].Load() != nil {
			s.Open++
		}
	}
	return s
}

// call runs f on one of the sessions. It returns as soon as f does, ctx ends, the time
// allowed for a call is over, or the session is lost. In all but the first case f keeps
// running, so it must own what it uses.
func call[T any](ctx context.Context, ss *sessions, f func(ctx context.Context, l *link) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	l := ss.pick()
	if l == nil {
		if ss.closed() {
			return none, errClosed
		}
		return none, errAway
	}
	return callOn(ctx, ss, l, f)
}

// callOn is call on a given session.
func callOn[T any](ctx context.Context, ss *sessions, l *link, f func(ctx context.Context, l *link) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	var none T
	if err := ss.fence.Pass(); err != nil { // the client does not let us dial
		return none, err
	}
	done := make(chan answer, 1) // one value: the sender never waits
	ss.hands.Do(func() {
		defer func() {
			if v := recover(); v != nil { // this client panics when a session ends
				done <- answer{none, fmt.Errorf("%w: %v", errBroke, v)}
			}
		}()
		var a answer
		if a.err = ss.fence.Pass(); a.err == nil { // again: this may have had to wait for its turn
			a.v, a.err = f(l.life, l)
		}
		done <- a
	})
	timer := time.NewTimer(ss.opts.read)
	defer timer.Stop()
	select {
	case a := <-done:
		l.heard.Store(time.Now().UnixNano())
		if a.err == nil {
			return a.v, nil
		}
		if breaks(a.err) {
			ss.lose(l)
		}
		if !l.alive() || !ss.gateOf(l.host).Ready() { // whatever error the client returns
			return none, fmt.Errorf("%w: %w", errAway, a.err)
		}
		return none, a.err
	case <-l.lost:
		return none, errAway
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		if time.Since(time.Unix(0, l.heard.Load())) > 2*ss.opts.read {
			ss.lose(l) // nothing at all has been received for a long time
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
