package link

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// BusyPoll is how long a wait is polled for unless something else is asked for: somewhat longer than a
// server takes for what a dozen callers send it at once.
const BusyPoll = 100 * time.Microsecond

// CanPoll says whether busy polling is possible on this system.
const CanPoll = canPoll

// Of busy polling: after how many tries a goroutine that polls yields each time, and how often
// from then on; how long a try may take until it means that others want the processor; how many
// waits are at most left out after one that was not worth it; and how often the runtime looks after
// all other connections if it has one processor only, which it does not do while a goroutine polls.
const (
	yieldFirst = 2
	yieldEvery = 64
	tooLong    = 20 * time.Microsecond
	mostRest   = 64
	lookAround = 2 * time.Millisecond
)

// busyPoll lets the reader of a connection look for replies again and again before it sleeps: to
// wake a thread takes longer than a reply if its processor has been halted meanwhile. It adapts, as
// adaptive mutexes do: a wait that lasted longer than the bound is followed by some in which nobody
// polls, twice as many each time. One reader polls at a time, for all connections: when there is
// something for another, it sleeps, so that the runtime turns to the other's reader. It is safe for
// use by several goroutines.
type busyPoll struct {
	// bound is how long a wait is polled for at most; 0: never.
	bound time.Duration
	// polling means that a reader polls. The fields up to rest belong to it.
	polling atomic.Bool
	list    []pollFd
	known   int64
	around  time.Time
	// rest is how many waits are left out, back how many will be after the next that is not
	// worth it.
	rest, back int

	mu  sync.Mutex
	fds map[int]struct{}
	// changes counts those of fds.
	changes atomic.Int64
	// spent is the time in ns that polling took.
	spent atomic.Int64
}

func newBusyPoll(bound time.Duration) *busyPoll {
	return &busyPoll{bound: bound, back: 1, fds: map[int]struct{}{}}
}

// noFd is that of a connection for which there is no polling.
const noFd = -1

// add makes a connection one of those that are polled, and returns what await and remove know it by;
// noFd if that is not possible: with TLS, what has arrived is not what can be read.
func (p *busyPoll) add(c any) int {
	s, ok := c.(syscall.Conn)
	if !ok || p.bound == 0 || !canPoll {
		return noFd
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return noFd
	}
	fd := noFd
	if raw.Control(func(d uintptr) { fd = int(d) }) != nil {
		return noFd
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fds[fd] = struct{}{}
	p.changes.Add(1)
	return fd
}

// remove is called before a connection is closed. Another file that gets its number at that moment
// could end a wait early, which does no harm.
func (p *busyPoll) remove(fd int) {
	if fd == noFd {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.fds, fd)
	p.changes.Add(1)
}

// await returns when there is something to read on any of the connections, or when the caller had
// better sleep.
func (p *busyPoll) await() {
	if !p.polling.CompareAndSwap(false, true) {
		return
	}
	defer p.polling.Store(false)
	if p.rest > 0 {
		p.rest--
		return
	}
	p.learn()
	began := time.Now()
	if began.Sub(p.around) > lookAround && runtime.GOMAXPROCS(0) == 1 {
		p.around = began
		return
	}
	before := began
	for try := 1; ; try++ {
		ready := pollNow(p.list)
		now := time.Now()
		took := now.Sub(before)
		if took < tooLong {
			p.spent.Add(int64(took))
		}
		switch {
		case ready:
			p.back = 1
			return
		case took >= tooLong, now.Sub(began) >= p.bound:
			p.rest, p.back = p.back, min(2*p.back, mostRest)
			return
		}
		before = now
		if try <= yieldFirst || try%yieldEvery == 0 {
			runtime.Gosched() // callers may have something to send
			before = time.Now()
		}
	}
}

// learn brings the list up to date.
func (p *busyPoll) learn() {
	now := p.changes.Load()
	if now == p.known {
		return
	}
	p.known = now
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = p.list[:0]
	for fd := range p.fds {
		p.list = append(p.list, pollIn(fd))
	}
}
