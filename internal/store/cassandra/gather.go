package cassandra

import (
	"context"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
)

// dialer connects with a node as the driver does, by way of the proxy, with a fence before each
// write, and with writes that are gathered.
type dialer struct {
	net.Dialer
	fence *store.Fence
	proxy *proxy.Proxy
}

// DialContext connects with a node.
func (d dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.proxy.Dial(ctx, &d.Dialer, network, addr)
	if err != nil {
		return nil, err
	}
	return gather(d.fence.Conn(c)), nil
}

const (
	// mostUnsent is how many bytes may wait to be sent before those who write wait, too.
	mostUnsent = 1 << 20
	// mostKept is how large a buffer may be to be used again: what one huge frame took is freed.
	mostKept = 2 * mostUnsent
)

// gathered is a connection that sends together what is written while it is busy. The driver
// makes a system call for every frame, or delays each by 0.2 ms in case there are others. Here a
// goroutine sends whatever there is as soon as it can: a lone frame at once, and in one system
// call the frames of all callers that were ready to run. A write that fails is the connection's
// end: the driver's reader is told why, and fails all calls that are under way with it.
//
// That the caller sends by itself while nobody else does would gather nothing: the driver writes
// one frame at a time, and holds its own semaphore until Write is back.
//
// Write, and what sets deadlines, may be called from any goroutine; Read by one at a time.
type gathered struct {
	net.Conn

	mu   sync.Mutex
	work sync.Cond // there is something to send, or err is set
	room sync.Cond // there is room to write, or err is set
	// unsent waits to be sent before deadline; busy says that the goroutine is at it.
	unsent   []byte
	deadline time.Time
	err      error

	// limit is the deadline of reads, of which only changes reach the connection.
	limit time.Time
}

// gather makes writes of c gathered, until it is closed or fails.
func gather(c net.Conn) *gathered {
	g := &gathered{Conn: c}
	g.work.L, g.room.L = &g.mu, &g.mu
	fault.Go(g.send)
	return g
}

// Write takes b over to be sent, and waits only while too much is unsent. Its error is that of
// an earlier write.
func (g *gathered) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.unsent) >= mostUnsent && g.err == nil {
		g.room.Wait()
	}
	if g.err != nil {
		return 0, g.err
	}
	if len(g.unsent) == 0 {
		g.work.Signal()
	}
	g.unsent = append(g.unsent, b...)
	return len(b), nil
}

// send sends what is written until the connection is closed or fails.
func (g *gathered) send() {
	var sending []byte
	for {
		g.mu.Lock()
		for len(g.unsent) == 0 && g.err == nil {
			g.work.Wait()
		}
		g.mu.Unlock()
		runtime.Gosched() // callers that are ready to run have frames, too
		g.mu.Lock()
		if g.err != nil {
			g.mu.Unlock()
			return
		}
		sending, g.unsent = g.unsent, sending[:0]
		deadline := g.deadline
		g.room.Broadcast()
		g.mu.Unlock()
		err := g.Conn.SetWriteDeadline(deadline)
		if err == nil {
			_, err = g.Conn.Write(sending)
		}
		if err != nil {
			g.fail(err)
			return
		}
		if cap(sending) > mostKept {
			sending = nil
		}
	}
}

// fail ends the connection; the first error is the one that counts.
func (g *gathered) fail(err error) {
	g.mu.Lock()
	if g.err == nil {
		g.err = err
	}
	g.work.Broadcast()
	g.room.Broadcast()
	g.mu.Unlock()
	_ = g.Conn.Close()
}

// Read returns why sending failed, if it did.
func (g *gathered) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if err != nil {
		g.mu.Lock()
		if g.err != nil {
			err = g.err
		}
		g.mu.Unlock()
	}
	return n, err
}

// Close ends the connection. What is not sent yet is not sent any more.
func (g *gathered) Close() error {
	g.mu.Lock()
	closed := g.err != nil
	g.mu.Unlock()
	if closed {
		return nil
	}
	g.fail(net.ErrClosed)
	return nil
}

// SetWriteDeadline sets the deadline of what is sent from now on.
func (g *gathered) SetWriteDeadline(t time.Time) error {
	g.mu.Lock()
	g.deadline = t
	g.mu.Unlock()
	return nil
}

// SetDeadline sets both deadlines.
func (g *gathered) SetDeadline(t time.Time) error {
	_ = g.SetWriteDeadline(t)
	return g.SetReadDeadline(t)
}

// SetReadDeadline sets the deadline of reads. The driver removes it before every read.
func (g *gathered) SetReadDeadline(t time.Time) error {
	if t.IsZero() && g.limit.IsZero() {
		return nil
	}
	g.limit = t
	return g.Conn.SetReadDeadline(t)
}
