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

// Shared is a connection that several callers share. Each caller adds its request to
// what is waiting to be sent; one of them, or the reader once it has handed out
// replies, sends everything in one write. Replies come in the order of the requests. It
// connects when it is first used, and reconnects when the connection has broken. It is
// safe for use by several goroutines.
type Shared struct {
	dial func(ctx context.Context) (net.Conn, error)
	// timeout is how long the server may be silent while a reply is due.
	timeout time.Duration
	// poll is what its readers do before they sleep; nil: nothing.
	poll *busyPoll

	mu sync.Mutex
	// c is nil while there is no connection. The fields below belong to it.
	c *wire
	// dialling is the connection attempt in progress.
	dialling *dialling
	// out is waiting to be sent; spare is the buffer that was sent last.
	out, spare []byte
	// asked are the calls that the reader does not know about yet.
	asked []*ask
	// busy means that somebody is going to send what is in out.
	busy bool
	// broke is why c was closed, if not by its reader.
	broke error
	// flying is how many calls have no reply yet; moved is when it last left 0 or a
	// reply came, in ns since epoch.
	flying atomic.Int64
	moved  atomic.Int64
}

// wire is one network connection of a Shared.
type wire struct {
	net.Conn
	link *Shared
	// polls means that it is one of those that link.poll looks at.
	polls bool
	// until is when a write is given up. It belongs to whoever set busy.
	until time.Time
}

// dialling is a connection attempt that several callers wait for.
type dialling struct {
	over chan struct{}
	err  error
}

// epoch is the time from which moments are counted.
var epoch = time.Now()

// call sends a request that gets that many replies and waits for them, in a place that
// was made with the same context. A place whose ended is set must not be reused.
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

// queue is start, except that the caller must flush the returned connection, if any,
// once it has no more requests.
func (l *Shared) queue(request []byte, replies int, into *Reply, a *ask) *wire {
	a.replies, a.into = replies, into
	a.waiting.Store(true)
	err := a.ctx.Err()
	var c *wire
	if err == nil {
		c, err = l.add(request, a)
	}
	if err != nil && a.claim() {
		a.answer(err)
	}
	return c
}

// add adds a request to what is waiting. It returns the connection if the caller has to
// flush it, and nil if somebody else will.
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

// turnsOfOne is how often one caller sends the requests of others before it passes that
// on, as it has its own work to do.
const turnsOfOne = 4

// flush sends what is waiting until nothing is left. The caller has set busy.
func (l *Shared) flush(c *wire) {
	runtime.Gosched() // other goroutines that are ready to run may have requests too
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
	fault.Go(func() { l.flush(c) })
}

// largestKept is the size in bytes of the largest buffer worth keeping.
const largestKept = 1 << 20

// send writes out. The deadline is moved only occasionally, so a write may take an
// eighth longer than the timeout.
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

// Read waits until there is something to read, but no longer than the timeout if a
// reply is due. The deadline is moved only when it has passed.
func (c *wire) Read(b []byte) (int, error) {
	l := c.link
	if c.polls && l.flying.Load() > 0 {
		l.poll.await()
	}
	for {
		n, err := c.Conn.Read(b)
		if n > 0 || err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		l.mu.Lock() // the sender sets both under it
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

// drop closes a connection; calls in progress on it fail with err.
func (l *Shared) drop(c *wire, err error) {
	l.mu.Lock()
	if l.c == c && l.broke == nil {
		l.broke = err
	}
	l.mu.Unlock()
	_ = c.Close() // its reader notices, and informs the callers
}

// connect opens a connection, or waits for an attempt in progress. It is called, and
// returns, with mu held.
func (l *Shared) connect(ctx context.Context) error {
	if d := l.dialling; d != nil {
		l.mu.Unlock()
		defer l.mu.Lock()
		select {
		case <-d.over:
			return d.err // also nil if the other caller left: look again
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
			_ = nc.Close() // it is not needed
		}
	}
	l.mu.Lock()
	l.dialling = nil
	if err != nil {
		if ctx.Err() != nil { // then it means nothing to the others
			err = ctx.Err()
		} else {
			d.err = err
		}
		close(d.over)
		return err
	}
	close(d.over)
	c := &wire{Conn: nc, link: l}
	if t, ok := nc.(*tracked); ok {
		c.polls = t.fd != noFd
	}
	l.c, l.out, l.asked, l.busy, l.broke = c, l.out[:0], nil, false, nil
	l.flying.Store(0)
	l.moved.Store(int64(time.Since(epoch)))
	fault.Go(func() { l.read(c) })
	return nil
}

// errUnasked is reported when a reply belongs to no request.
var errUnasked = errors.New("the server sent an unexpected reply")

// read hands out replies until the connection ends.
func (l *Shared) read(c *wire) {
	in := bufio.NewReaderSize(c, 64<<10)
	var mine []*ask
	var none Reply // for replies that nobody waits for any more
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
		into, waits := &none, a.claim()
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
			l.drop(c, err) // another server has become the master
		}
	}
}

// unasked explains a reply that belongs to no request.
func unasked(in *bufio.Reader, r *Reply) error {
	if err := r.readAll(in, 1); err != nil {
		return err // a server that is full says so, and closes the connection
	}
	return errUnasked
}

// turn is called when all replies received have been handed out. It lets the callers
// that got them add their next requests first.
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

// retire takes a connection out of use if nobody is waiting on it.
func (l *Shared) retire(c *wire) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != c || l.flying.Load() > 0 {
		return false
	}
	l.c = nil
	return true
}

// fail ends a connection, passes the error to the calls waiting for a reply on it, and
// returns that error.
func (l *Shared) fail(c *wire, mine []*ask, err error) error {
	_ = c.Close() // it is no longer needed
	l.mu.Lock()
	var rest []*ask
	if l.c == c {
		rest, l.c, l.asked = l.asked, nil, nil
		if l.broke != nil {
			err = l.broke
		}
	}
	l.mu.Unlock()
	err = fault.Sentence("the connection broke, and whether the call was carried out is not known: "+err.Error(), err)
	for _, list := range [][]*ask{mine, rest} {
		for _, a := range list {
			if a.claim() {
				a.answer(err)
			}
		}
	}
	return err
}

// warm connects, unless there is a connection already.
func (l *Shared) warm(ctx context.Context) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.c == nil && err == nil {
		err = l.connect(ctx)
	}
	return err
}
