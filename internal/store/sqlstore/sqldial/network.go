// Package sqldial opens the connections to SQL servers and files: it turns a target
// into what each Go driver expects, and knows why a connection broke.
package sqldial

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
)

// Timeouts unless the target says otherwise.
const (
	dialTimeout = 5 * time.Second
	// ioTimeout is long enough for counting and dropping large tables.
	ioTimeout = 30 * time.Second
)

// Network dials for a driver, and remembers why its connections broke, which the driver
// may not report. A nil Network, as for a file, knows nothing. It is safe for use by
// several goroutines.
type Network struct {
	times store.TimeoutSet
	fence *store.Fence
	proxy *proxy.Proxy
	// timeouts is how many reads and writes have timed out and have not been reported
	// by TimedOut yet.
	timeouts atomic.Int64
	// short means that a connection could not be opened for lack of file descriptors.
	short atomic.Bool
	// last is the last error of a connection.
	last atomic.Pointer[error]

	mu    sync.Mutex
	wires map[*wire]bool // the open ones
	cut   bool
}

// NewNetwork takes the fence and the proxy of its connections, and the timeouts of a target:
// unless it says otherwise, 5 s to connect and 30 s for a read or write. Errors have the code of
// bad input.
func NewNetwork(t store.Target, o store.OpenOptions) (*Network, error) {
	times, err := store.Timeouts(t)
	if times.Dial == 0 {
		times.Dial = dialTimeout
	}
	if times.Read == 0 {
		times.Read = ioTimeout
	}
	if times.Write == 0 {
		times.Write = ioTimeout
	}
	return &Network{times: times, fence: o.Fence, proxy: o.Proxy}, err
}

// dial is called by drivers for a new connection.
func (n *Network) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: n.times.Dial}
	c, err := n.proxy.Dial(ctx, &d, network, addr)
	if err != nil {
		n.note(err)
		return nil, err
	}
	w := &wire{Conn: n.fence.Conn(c), n: n}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		return nil, errors.Join(net.ErrClosed, c.Close())
	}
	if n.wires == nil {
		n.wires = map[*wire]bool{}
	}
	n.wires[w] = true
	return w, nil
}

// Sever closes the connections that the pool leaves open because somebody is waiting
// for an answer on them, and lets no new ones be opened: a commit ignores its context,
// and a hanging server would hold its caller until the read timeout.
func (n *Network) Sever() {
	if n == nil {
		return
	}
	n.mu.Lock()
	open := n.wires
	n.wires, n.cut = nil, true
	n.mu.Unlock()
	for w := range open {
		_ = w.Conn.Close() // nothing more is expected from it
	}
}

func (n *Network) note(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		n.timeouts.Add(1)
	}
	if fault.LimitHint(err, 0) != "" {
		n.short.Store(true)
	}
	n.last.Store(&err)
}

// DialTimeout returns how long opening a connection may take; without a network, twice
// the read timeout.
func (n *Network) DialTimeout() time.Duration {
	if n == nil {
		return 2 * ioTimeout
	}
	return n.times.Dial
}

// Short reports whether a connection could not be opened for lack of file descriptors.
func (n *Network) Short() bool { return n != nil && n.short.Load() }

// LastError returns the last error of a connection, or nil.
func (n *Network) LastError() error {
	if n == nil || n.last.Load() == nil {
		return nil
	}
	return *n.last.Load()
}

// TimedOut reports whether a connection broke because of a timeout. It returns true
// once for each that did.
func (n *Network) TimedOut() bool {
	if n == nil {
		return false
	}
	for {
		have := n.timeouts.Load()
		if have == 0 {
			return false
		}
		if n.timeouts.CompareAndSwap(have, have-1) {
			return true
		}
	}
}

// wire is a connection on which each read and write has its own timeout, unless its
// user has set a deadline.
type wire struct {
	net.Conn
	n     *Network
	mu    sync.Mutex
	taken bool // the user has set a deadline
	// read and write are the deadlines that are set.
	read, write time.Time
}

// slack is the part of a timeout by which a deadline may be later than it must, so that most reads
// and writes find one that will do: to set one costs as much as much of what else a client does for
// a call.
const slack = 64

// Close closes the connection. If Sever has closed it already, that is not an error.
func (w *wire) Close() error {
	w.n.mu.Lock()
	delete(w.n.wires, w)
	cut := w.n.cut
	w.n.mu.Unlock()
	if err := w.Conn.Close(); !cut {
		return err
	}
	return nil
}

func (w *wire) Read(b []byte) (int, error) {
	w.arm(w.n.times.Read, &w.read, w.Conn.SetReadDeadline)
	got, err := w.Conn.Read(b)
	w.judge(err)
	return got, err
}

func (w *wire) Write(b []byte) (int, error) {
	w.arm(w.n.times.Write, &w.write, w.Conn.SetWriteDeadline)
	put, err := w.Conn.Write(b)
	w.judge(err)
	return put, err
}

func (w *wire) judge(err error) {
	if err == nil || errors.Is(err, net.ErrClosed) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.taken {
		w.n.note(err)
	}
}

func (w *wire) arm(d time.Duration, is *time.Time, set func(time.Time) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if due := time.Now().Add(d); !w.taken && is.Before(due) {
		*is = due.Add(d / slack)
		_ = set(*is) // fails on a closed connection, as will what follows
	}
}

// take notes that the user has set a deadline, or with the zero time returns control.
func (w *wire) take(t time.Time) {
	w.taken, w.read, w.write = !t.IsZero(), time.Time{}, time.Time{}
}

// SetDeadline lets the user control the deadline, or returns control with the zero
// time.
func (w *wire) SetDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(t)
	return w.Conn.SetDeadline(t)
}

// SetReadDeadline is SetDeadline, because whatever sets a read deadline is waiting for
// reads.
func (w *wire) SetReadDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(t)
	return w.Conn.SetReadDeadline(t)
}

// SetWriteDeadline is SetReadDeadline for writes.
func (w *wire) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(t)
	return w.Conn.SetWriteDeadline(t)
}

// SyscallConn lets a driver check whether an idle connection has been closed.
func (w *wire) SyscallConn() (syscall.RawConn, error) {
	if c, ok := w.Conn.(syscall.Conn); ok {
		return c.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// Connector opens the pool's connections. The database that they use can be changed,
// because a pool may have to connect before the database exists.
type Connector struct {
	current atomic.Pointer[driver.Connector]
	// in returns a connector for the named database.
	in func(database string) (driver.Connector, error)
	// first are statements run on each new connection.
	first []string
	// shared means that a pooler gives each transaction another connection to the server.
	shared atomic.Bool
}

// Share makes the connections that are opened from now on keep nothing on the server from one
// transaction to the next: statements are sent and not prepared. A nil Connector is of a file.
func (c *Connector) Share() { c.shared.Store(true) }

// Shared reports whether Share was called.
func (c *Connector) Shared() bool { return c != nil && c.shared.Load() }

// Use makes connections be opened in a database from now on.
func (c *Connector) Use(database string) error {
	inner, err := c.in(database)
	if err != nil {
		return err
	}
	c.current.Store(&inner)
	return nil
}

// Connect implements driver.Connector.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := (*c.current.Load()).Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range c.first {
		if err := run(ctx, conn, text); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	if p, ok := conn.(*stdlib.Conn); ok && c.shared.Load() {
		return unprepared{p}, nil
	}
	return conn, nil
}

// run executes a statement on a connection that is not in a pool yet.
func run(ctx context.Context, conn driver.Conn, text string) error {
	e, ok := conn.(driver.ExecerContext)
	if !ok {
		return errors.ErrUnsupported
	}
	_, err := e.ExecContext(ctx, text, nil)
	return err
}

// Driver implements driver.Connector.
func (c *Connector) Driver() driver.Driver { return (*c.current.Load()).Driver() }
