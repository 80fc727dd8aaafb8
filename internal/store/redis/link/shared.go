package link

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// Shared is a connection that several callers share. Whoever has a request adds it
// to what is waiting to be sent; one of them, or the reader once it has handed out
// replies, sends all of that in one write. Replies come in the order of the
// requests. It connects when it is first used, and anew when the connection broke.
// It is safe for use by several goroutines.
type Shared struct {
	dial func(ctx context.Context) (net.Conn, error)
	// timeout is how long the server may be silent while it owes a reply.
	timeout time.Duration

	mu sync.Mutex
	// c is nil while there is no connection. What follows belongs to it.
	c *wire
	// dialling is the attempt to connect that is under way.
	dialling *dialling
	// out is waiting to be sent, spare the buffer that was sent last.
	out, spare []byte
	// asked are the calls of which the reader does not know yet.
	asked []*ask
	// busy says that somebody will send what is in out.
	busy bool
	// broke is why c was closed by another than its reader.
	broke error
	// flying is how many calls have no reply yet; moved is when it left 0 or a reply
	// came, in ns since epoch.
	flying atomic.Int64
	moved  atomic.Int64
}

// wire is a connection of a link.
type wire struct {
	net.Conn
	link *Shared
	// until is when a write is given up. It belongs to whoever made busy true.
	until time.Time
}

// dialling is an attempt to connect that several callers wait for.
type dialling struct {
	over chan struct{}
	err  error
}

// epoch is what the moments of links are counted from.
var epoch = time.Now()

// call sends what holds so many requests and waits for their replies, at a place that
// was made with the same context. A place whose ended is set may not be used again.
func (l *Shared) call(request []byte, replies int, into *Reply, a *ask) error {
	l.start(request, replies, into, a)
	return a.wait()
}

// start is call without the wait.
func (l *Shared) start(request []byte, replies int, into *Reply, a *ask) {
	if c := l.queue(request, replies, into, a); c != nil {
		l.flush(c)
	}
}

// queue is start, where the caller flushes the connection that is returned, if any,
// once it has no more.
func (l *Shared) queue(request []byte, replies int, into *Reply, a *ask) *wire {
	a.replies, a.into = replies, into
	a.waiting.Store(true)
	err := a.ctx.Err()
	var c *wire
	if err == nil {
		c, err = l.add(request, a)
	}
	if err != nil && a.take() {
		a.answer(err)
	}
	return c
}

// add adds a request to what is waiting, and returns the connection to send that on
// unless somebody else will.
func (l *Shared) add(request []byte, a *ask) (*wire, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.c == nil {
		if err := l.connect(a.ctx); err != nil {
			return nil, err
		}
	}
	if l.flying.Add(1) == 1 {
		l.moved.Store(int64(time.Since(epoch)))
	}
	l.out = append(l.out, request...)
	l.asked = append(l.asked, a)
	if l.busy {
		return nil, nil
	}
	l.busy = true
	return l.c, nil
}

// turnsOfOne is how often one caller sends what others have, before it hands that
// on: it wants to go back to its own work.
const turnsOfOne = 4

// flush sends what is waiting until nothing is. The caller has made busy true.
func (l *Shared) flush(c *wire) {
	runtime.Gosched() // those that are ready to run may have requests too
	for range turnsOfOne {
		l.mu.Lock()
		if l.c != c {
			l.mu.Unlock()
			return
		}
		if len(l.out) == 0 {
			l.busy = false
			l.mu.Unlock()
			return
		}
		out := l.out
		l.out, l.spare = l.spare[:0], nil
		l.mu.Unlock()
		err := c.send(out)
		l.mu.Lock()
		if cap(out) <= largestKept {
			l.spare = out
		}
		l.mu.Unlock()
		if err != nil {
			l.drop(c, err)
			return
		}
	}
	go l.flush(c)
}

// largestKept is the size of a buffer that is worth keeping, in bytes.
const largestKept = 1 << 20

// send writes out. The deadline is moved now and then only, so that a write may
// take an eighth longer than the timeout.
func (c *wire) send(out []byte) error {
	timeout := c.link.timeout
	if now := time.Now(); c.until.Sub(now) < timeout {
		c.until = now.Add(timeout + timeout/8)
		if err := c.SetWriteDeadline(c.until); err != nil {
			return err
		}
	}
	_, err := c.Write(out)
	return err
}

// Read waits until there is something to read, for the timeout at most where the
// server owes a reply. The deadline is moved only when it has passed.
func (c *wire) Read(b []byte) (int, error) {
	l := c.link
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		l.mu.Lock() // who sends sets both under it
		silent, waiting := time.Since(epoch)-time.Duration(l.moved.Load()), l.flying.Load() > 0
		l.mu.Unlock()
		left := l.timeout
		switch {
		case waiting:
			left -= silent
		case silent > idle && l.retire(c):
			return 0, err
		}
		if left <= 0 {
			return 0, err
		}
		if err := c.SetReadDeadline(time.Now().Add(left)); err != nil {
			return 0, err
		}
	}
}

// drop closes a connection; the calls that are under way on it fail with err.
func (l *Shared) drop(c *wire, err error) {
	l.mu.Lock()
	if l.c == c && l.broke == nil {
		l.broke = err
	}
	l.mu.Unlock()
	_ = c.Close() // its reader sees that, and tells the callers
}

// connect makes a connection, or waits for the one that somebody else makes. It is
// called, and returns, with mu held.
func (l *Shared) connect(ctx context.Context) error {
	if d := l.dialling; d != nil {
		l.mu.Unlock()
		defer l.mu.Lock()
		select {
		case <-d.over:
			return d.err // nil also where the other went away: look again
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d := &dialling{over: make(chan struct{})}
	l.dialling = d
	l.mu.Unlock()
	nc, err := l.dial(ctx)
	if err == nil {
		if err = nc.SetReadDeadline(time.Now().Add(l.timeout)); err != nil {
			_ = nc.Close() // it is of no use
		}
	}
	l.mu.Lock()
	l.dialling = nil
	if err != nil {
		if ctx.Err() != nil { // then it means nothing to others
			err = ctx.Err()
		} else {
			d.err = err
		}
		close(d.over)
		return err
	}
	close(d.over)
	c := &wire{Conn: nc, link: l}
	l.c, l.out, l.asked, l.busy, l.broke = c, l.out[:0], nil, false, nil
	l.flying.Store(0)
	l.moved.Store(int64(time.Since(epoch)))
	go l.read(c)
	return nil
}

// errUnasked is a reply that belongs to no request.
var errUnasked = errors.New("the server sent a reply that nobody asked for")

// read hands out replies until the connection ends.
func (l *Shared) read(c *wire) {
	in := bufio.NewReaderSize(c, 64<<10)
	var mine []*ask
	var none Reply // what nobody waits for any more
	at := 0
	for {
		if in.Buffered() == 0 {
			l.turn(c)
			if _, err := in.Peek(1); err != nil {
				l.fail(c, mine[at:], err)
				return
			}
		}
		if at == len(mine) {
			l.mu.Lock()
			mine, l.asked, at = l.asked, mine[:0], 0
			l.mu.Unlock()
			if len(mine) == 0 {
				l.fail(c, nil, unasked(in, &none))
				return
			}
		}
		a := mine[at]
		at++
		into, waits := &none, a.take()
		if waits {
			into = a.into
		}
		err := into.readAll(in, a.replies)
		if err != nil && !isReply(err) {
			err = l.fail(c, mine[at:], err)
			if waits {
				a.answer(err)
			}
			return
		}
		l.flying.Add(-1)
		if waits {
			a.answer(err)
		}
		if err != nil && strings.HasPrefix(err.Error(), "READONLY") {
			l.drop(c, err) // another server is the master by now
		}
	}
}

// unasked says what a reply was that belongs to no request.
func unasked(in *bufio.Reader, r *Reply) error {
	if err := r.readAll(in, 1); err != nil {
		return err // a server that is full says so, and hangs up
	}
	return errUnasked
}

// turn is called when all replies that came have been handed out: what callers send
// in answer to them goes first.
func (l *Shared) turn(c *wire) {
	l.mu.Lock()
	lead := !l.busy
	l.busy = true
	l.mu.Unlock()
	if lead {
		l.flush(c)
	}
	l.moved.Store(int64(time.Since(epoch)))
}

// retire takes a connection out of use that nobody waits on.
func (l *Shared) retire(c *wire) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != c || l.flying.Load() > 0 {
		return false
	}
	l.c = nil
	return true
}

// fail ends a connection, tells those that wait for a reply on it, and returns what it
// told them.
func (l *Shared) fail(c *wire, mine []*ask, err error) error {
	_ = c.Close() // it is of no use any more
	l.mu.Lock()
	var rest []*ask
	if l.c == c {
		rest, l.c, l.asked = l.asked, nil, nil
		if l.broke != nil {
			err = l.broke
		}
	}
	l.mu.Unlock()
	err = fault.Sentence("the connection broke, and what became of the call is not known: "+err.Error(), err)
	for _, list := range [][]*ask{mine, rest} {
		for _, a := range list {
			if a.take() {
				a.answer(err)
			}
		}
	}
	return err
}

// warm connects, unless it is connected.
func (l *Shared) warm(ctx context.Context) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.c == nil && err == nil {
		err = l.connect(ctx)
	}
	return err
}
