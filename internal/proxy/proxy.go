// Package proxy stands between a client and its servers and spoils what passes: it delays,
// loses, narrows, swallows, refuses or holds it. Each server is reached through a port of this
// process on the loopback address; stores of this process ask how long to wait. Nobody makes a
// proxy for a run without faults.
package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// State is what happens to what passes. The zero value lets everything pass as it is.
type State struct {
	// Delay is how much later every answer comes, Jitter how much more at most, evenly spread;
	// what is later does not overtake what is earlier.
	Delay, Jitter time.Duration
	// Loss is the share, 0 to 1, of pieces that are lost on the way, in both directions. TCP
	// sends them again: a connection stands still for Retransmission, and twice as long for
	// each further time.
	Loss float64
	// Bandwidth is how many bytes pass in a second over all connections, in each direction;
	// 0: as many as there are.
	Bandwidth float64
	// HalfOpen takes connections and what is sent on them, and never answers. What was sent is
	// gone, so these connections are reset when it ends.
	HalfOpen bool
	// Refused resets all connections and takes no new ones.
	Refused bool
	// Paused holds what passes; it arrives when the pause ends.
	Paused bool
	// Moved means that the server has got another address: nothing is answered on the connections
	// that were open when it did, and new ones reach it. The old ones are reset when it ends.
	Moved bool
}

// Retransmission is how long TCP takes to send again what was lost: the shortest time-out of
// Linux.
const Retransmission = 200 * time.Millisecond

// ErrRefused is the error of a call to a store of this process while connections are refused.
var ErrRefused = errors.New("connection refused by an injected fault")

// Proxy is all that stands between this process and the servers of one store. Its methods may be
// called from any goroutine; those of a nil Proxy let everything pass.
type Proxy struct {
	mu      sync.Mutex
	state   State
	changed chan struct{} // closed and replaced when state changes
	doors   map[string]*door
	open    map[*passage]bool
	narrow  [2]time.Time // when the last byte of each direction will have passed
	closed  bool

	// free means that everything passes as it is.
	free atomic.Bool
}

// New returns a proxy that lets everything pass.
func New() *Proxy {
	p := &Proxy{changed: make(chan struct{}), doors: map[string]*door{}, open: map[*passage]bool{}}
	p.free.Store(true)
	return p
}

// Set puts a state into force, for what is on its way too.
func (p *Proxy) Set(s State) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	// Before the state is in force: nobody who waits for it may send on such a connection.
	for c := range p.open {
		was := c.left
		c.left = s.Moved && (was || !p.state.Moved)
		if s.Refused && !p.state.Refused || was && !c.left || c.swallowed && !s.HalfOpen && !c.left {
			c.reset()
		}
	}
	p.put(s)
}

// put is Set for what is on its way. The caller holds mu.
func (p *Proxy) put(s State) {
	p.state = s
	p.free.Store(s == State{})
	close(p.changed)
	p.changed = make(chan struct{})
}

// now returns the state in force, and what is closed when another is.
func (p *Proxy) now() (State, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.changed
}

// Dial connects to a server as d does, by way of the proxy.
func (p *Proxy) Dial(ctx context.Context, d *net.Dialer, network, addr string) (net.Conn, error) {
	if p == nil {
		return d.DialContext(ctx, network, addr)
	}
	if s, _ := p.now(); s.Refused {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	way, err := p.door(network, addr)
	if err != nil {
		return nil, err
	}
	return d.DialContext(ctx, "tcp", way)
}

// Address returns the address by which a TCP server is reached by way of the proxy, for clients
// that do not let others dial.
func (p *Proxy) Address(addr string) (string, error) {
	if p == nil {
		return addr, nil
	}
	return p.door("tcp", addr)
}

// Close ends all connections, and takes no more.
func (p *Proxy) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.closed = true
	p.put(State{}) // nobody waits any longer
	doors, open := p.doors, p.open
	p.doors, p.open = nil, nil
	p.mu.Unlock()
	for _, d := range doors {
		_ = d.Close() // nobody waits for it
	}
	for c := range open {
		c.close()
	}
}

// door is where connections to one server come in.
type door struct {
	net.Listener
	network, addr string
}

// door returns the local address of the door to a server.
func (p *Proxy) door(network, addr string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return "", net.ErrClosed
	}
	key := network + " " + addr
	if d := p.doors[key]; d != nil {
		return d.Addr().String(), nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen for connections to %s: %w", addr, err)
	}
	d := &door{l, network, addr}
	p.doors[key] = d
	fault.Go(func() { p.serve(d) })
	return l.Addr().String(), nil
}

// serve takes connections until the door is closed.
func (p *Proxy) serve(d *door) {
	for {
		c, err := d.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as a lack of file descriptors, which may pass
			time.Sleep(10 * time.Millisecond)
			continue
		}
		fault.Go(func() { p.pass(c, d) })
	}
}

// pass carries a connection until either side ends it.
func (p *Proxy) pass(client net.Conn, d *door) {
	c := &passage{client: client}
	if !p.enter(c) {
		return
	}
	defer p.leave(c)
	server, err := p.reach(c, d)
	if err != nil {
		c.reset()
		return
	}
	var both sync.WaitGroup
	both.Go(fault.Guarded(func() { p.carry(c, client, server, requests) }))
	both.Go(fault.Guarded(func() { p.carry(c, server, client, answers) }))
	both.Wait()
	c.close()
}

func (p *Proxy) enter(c *passage) bool {
	p.mu.Lock()
	closed, s := p.closed, p.state
	if !closed && !s.Refused {
		p.open[c] = true
	}
	p.mu.Unlock()
	if closed || s.Refused {
		c.reset()
		return false
	}
	return true
}

func (p *Proxy) leave(c *passage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// reach connects to the server, but not while nothing gets through.
func (p *Proxy) reach(c *passage, d *door) (net.Conn, error) {
	for {
		s, changed := p.now()
		if s.HalfOpen {
			p.swallow(c)
		}
		if !s.HalfOpen && !s.Paused {
			break
		}
		<-changed
		if c.over() {
			return nil, net.ErrClosed
		}
	}
	server, err := (&net.Dialer{Timeout: 10 * time.Second}).Dial(d.network, d.addr)
	if err != nil {
		return nil, err
	}
	if !c.meet(server) {
		return nil, net.ErrClosed
	}
	return server, nil
}

// swallow notes that something sent on a connection is gone: it is reset when anything gets
// through again.
func (p *Proxy) swallow(c *passage) {
	p.mu.Lock()
	c.swallowed = true
	over := !p.state.HalfOpen && !c.left
	p.mu.Unlock()
	if over {
		c.reset()
	}
}

// passage is one connection of a client, and the one to its server once there is one.
type passage struct {
	client    net.Conn
	swallowed bool            // guarded by Proxy.mu
	left      bool            // at the old address of a server that has moved; guarded by Proxy.mu
	under     [2]atomic.Int64 // pieces on their way, in each direction

	mu     sync.Mutex
	server net.Conn
	ended  bool
}

// meet takes the connection to the server; false if it is too late.
func (c *passage) meet(server net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		_ = server.Close()
		return false
	}
	c.server = server
	return true
}

// over reports whether the connection has been ended.
func (c *passage) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *passage) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	_ = c.client.Close()
	if c.server != nil {
		_ = c.server.Close()
	}
}

// reset ends the connection as a server does that does not know it.
func (c *passage) reset() {
	if t, ok := c.client.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	c.close()
}

// The two directions.
const (
	requests = iota
	answers
)

// piece is something on its way, and when it arrives.
type piece struct {
	data []byte
	at   time.Time
}

// pieceSize is how much is read at a time, and most how many pieces of a connection are on
// their way: then its sender waits, as for a full window.
const (
	pieceSize = 16 << 10
	most      = 256
)

// carry carries what comes from one side to the other until one ends.
func (p *Proxy) carry(c *passage, from, to net.Conn, direction int) {
	way := make(chan piece, most)
	var sending sync.WaitGroup
	sending.Go(fault.Guarded(func() { p.deliver(c, way, to, &c.under[direction]) }))
	defer sending.Wait()
	defer close(way)
	var last time.Time
	buf := make([]byte, pieceSize)
	for {
		n, err := from.Read(buf)
		switch {
		case n == 0:
		case p.free.Load() && c.under[direction].Load() == 0:
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		default:
			last = p.arrives(n, direction, last)
			c.under[direction].Add(1)
			way <- piece{bytes.Clone(buf[:n]), last}
		}
		if err != nil {
			return
		}
	}
}

// arrives returns when a piece arrives, not before the one ahead of it.
func (p *Proxy) arrives(n, direction int, last time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, at := p.state, time.Now()
	if direction == answers {
		at = at.Add(s.late())
	}
	if s.Bandwidth > 0 {
		begin := p.narrow[direction]
		if begin.Before(at) {
			begin = at
		}
		at = begin.Add(time.Duration(float64(n) / s.Bandwidth * float64(time.Second)))
		p.narrow[direction] = at
	}
	at = at.Add(s.again())
	if at.Before(last) {
		return last
	}
	return at
}

// late is how much later an answer comes.
func (s *State) late() time.Duration {
	if s.Jitter <= 0 {
		return s.Delay
	}
	return s.Delay + rand.N(s.Jitter+1)
}

// mostLost is how often the same piece is lost at most.
const mostLost = 6

// again is how long it takes to send a piece again as often as it was lost.
func (s *State) again() (sum time.Duration) {
	for i := 0; i < mostLost && s.Loss > 0 && rand.Float64() < s.Loss; i++ {
		sum += Retransmission << i
	}
	return sum
}

// deliver sends pieces when they have arrived, and ends the connection when there are no more.
func (p *Proxy) deliver(c *passage, way <-chan piece, to net.Conn, under *atomic.Int64) {
	failed := false
	for one := range way {
		if !failed && p.wait(c, one.at) {
			_, err := to.Write(one.data)
			failed = err != nil
		}
		under.Add(-1)
	}
	c.close()
}

// wait waits until a piece arrives; false: it is lost for good.
func (p *Proxy) wait(c *passage, at time.Time) bool {
	for {
		s, changed := p.now()
		switch {
		case s.HalfOpen || c.gone(p):
			p.swallow(c)
			return false
		case s.Paused:
			<-changed
			continue
		}
		left := time.Until(at)
		if left <= 0 {
			return true
		}
		select {
		case <-time.After(left):
		case <-changed:
		}
	}
}

// gone reports whether something of the connection was lost, so that the rest makes no sense, or
// its server has moved.
func (c *passage) gone(p *Proxy) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.swallowed || c.left
}

// Wait takes as long as a call to a store of this process does on top of what it takes anyway;
// its error is that of ctx, or ErrRefused. Bandwidth has no meaning there.
func (p *Proxy) Wait(ctx context.Context) error {
	if p == nil || p.free.Load() {
		return nil
	}
	s, changed := p.now()
	silent := s.HalfOpen
	for s.Paused || s.HalfOpen {
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
		s, changed = p.now()
		silent = silent || s.HalfOpen
	}
	if s.Refused || silent {
		return ErrRefused
	}
	left := s.late() + s.again() + s.again()
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
