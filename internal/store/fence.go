package store

import (
	"context"
	"errors"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// Fence keeps a process that was stopped (SIGSTOP, a frozen container, a machine that
// slept) from sending what it was about to send: others may have the data by now. Every
// write of a store's connections passes it. While the process runs, that costs reading the
// time and one atomic load; the first write after a stop waits until Guard has asked
// whether this process may still write. A nil Fence lets everything pass, and so does one
// that nobody guards.
type Fence struct {
	// until is up to when writes pass, in ns since sprung; 0: nobody guards it.
	until atomic.Int64

	// conns is how many connections were given to it.
	conns atomic.Int64

	mu      sync.Mutex
	gone    error         // nothing passes any more
	changed chan struct{} // closed and replaced when what passes has changed
	late    chan struct{} // capacity 1: somebody waits
}

// NewFence returns a fence that nobody guards yet.
func NewFence() *Fence { return &Fence{changed: make(chan struct{}), late: make(chan struct{}, 1)} }

// sprung is the time from which a fence counts.
var sprung = time.Now()

const (
	// fenceBeat is how often a running process says that it runs, and stopped how long it
	// must have been silent to have been stopped.
	fenceBeat = 100 * time.Millisecond
	stopped   = 2 * time.Second
	// shut lets nothing pass.
	shut = math.MinInt64
)

// Pass returns when the process may write, and an error if it may not any more. The limit
// is read before the time, so that a stop between the two is noticed.
func (f *Fence) Pass() error {
	if f == nil {
		return nil
	}
	until := f.until.Load()
	if until == 0 || int64(time.Since(sprung)) <= until {
		return nil
	}
	return f.wait()
}

func (f *Fence) wait() error {
	for {
		f.mu.Lock()
		gone, changed := f.gone, f.changed
		f.mu.Unlock()
		if gone != nil {
			return gone
		}
		if until := f.until.Load(); until == 0 || int64(time.Since(sprung)) <= until {
			return nil
		}
		select {
		case f.late <- struct{}{}:
		default:
		}
		<-changed
	}
}

// set says up to when writes pass, and why none does any more.
func (f *Fence) set(until int64, gone error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.until.Store(until)
	f.gone = gone
	close(f.changed)
	f.changed = make(chan struct{})
}

// Guard watches over the fence until ctx ends or the process may not write any more, which
// it returns. ask says why it may not, or in err that this is not known: it is asked again.
// It must not write through the fence. Besides after a stop it is asked once a second while
// doubtful, if set, says so; meanwhile writes pass.
func (f *Fence) Guard(ctx context.Context, doubtful func() bool, ask func(context.Context) (gone, err error)) error {
	defer func() {
		if f.until.Load() != shut {
			f.set(0, nil)
		}
	}()
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel(nil)
	if doubtful != nil {
		all.Go(fault.Guarded(func() { doubt(ctx, doubtful, ask, cancel) }))
	}
	tick := time.NewTicker(fenceBeat)
	defer tick.Stop()
	last := time.Now()
	f.set(int64(last.Sub(sprung)+stopped), nil)
	for {
		select {
		case <-ctx.Done():
			if gone, ok := errors.AsType[*goneError](context.Cause(ctx)); ok {
				f.set(shut, gone.error)
				return gone.error
			}
			return nil
		case <-tick.C:
		case <-f.late:
		}
		now := time.Now()
		// The clock of the wall goes on while the machine sleeps.
		if max(now.Sub(last), now.Round(0).Sub(last.Round(0))) <= stopped {
			last = now
			f.until.Store(int64(last.Sub(sprung) + stopped))
			continue
		}
		f.until.Store(shut)
		gone, err := ask(ctx)
		for err != nil && ctx.Err() == nil {
			select {
			case <-time.After(fenceBeat):
				gone, err = ask(ctx)
			case <-ctx.Done():
			}
		}
		if gone != nil {
			cancel(&goneError{gone})
			continue
		}
		last = time.Now()
		f.set(int64(last.Sub(sprung)+stopped), nil)
	}
}

// goneError is the cause of the end of a guard that has been told so.
type goneError struct{ error }

// doubt asks once a second while there is doubt, and ends the guard when there is no more.
func doubt(ctx context.Context, doubtful func() bool, ask func(context.Context) (gone, err error), end context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !doubtful() {
			continue
		}
		if gone, _ := ask(ctx); gone != nil { // what is not known will be
			end(&goneError{gone})
		}
	}
}

// Over a network connection that a fence guards every write passes it.
type fenced struct {
	net.Conn
	fence *Fence
}

// Conn returns c with its writes behind the fence.
func (f *Fence) Conn(c net.Conn) net.Conn {
	if f == nil || c == nil {
		return c
	}
	f.Opened()
	return &fenced{c, f}
}

// Opened counts one more connection, of a client that does not let us dial.
func (f *Fence) Opened() {
	if f != nil {
		f.conns.Add(1)
	}
}

// Connections returns how many connections have been opened behind the fence.
func (f *Fence) Connections() int64 {
	if f == nil {
		return 0
	}
	return f.conns.Load()
}

// Write sends b if the process may still write.
func (c *fenced) Write(b []byte) (int, error) {
	if err := c.fence.Pass(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// SyscallConn lets drivers find out whether the server has closed an idle connection.
func (c *fenced) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.EINVAL
	}
	return s.SyscallConn()
}
