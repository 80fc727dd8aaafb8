package part

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
)

// leave is a worker's leave to write. As long as it hears its coordinator, it has it. When it
// does not, or was stopped, it asks the store whether the lease is still that of its run.
type leave struct {
	fence *store.Fence // nil: the run has no lease
	// absent is for how long there has been no coordinator, by this process's own beat.
	absent atomic.Int64
	// lost is closed when the worker may not write any more, and why then says so.
	lost chan struct{}
	why  error

	stop context.CancelFunc
	all  sync.WaitGroup

	mu   sync.Mutex
	conn store.Conn // to ask by; nil: none is open
}

// gone says that the worker may not write any more.
func (l *leave) gone() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// end ends what guard has begun.
func (l *leave) end() {
	if l.stop != nil {
		l.stop()
		l.all.Wait()
	}
	l.hangUp()
}

func (l *leave) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil {
		_ = l.conn.Close() // it was only to ask
		l.conn = nil
	}
}

// asking is how long the store may take to say whether a worker may write.
const asking = 5 * time.Second

// guard has the store asked, by a connection of its own, whenever this worker does not know
// whether it may write.
func (p *work) guard(driver store.Driver, target store.Target) {
	l := &p.leave
	l.fence = store.NewFence()
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	ask := func(ctx context.Context) (gone, err error) {
		ctx, cancel := context.WithTimeout(ctx, asking)
		defer cancel()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.conn == nil {
			if l.conn, err = driver.Open(ctx, target, store.OpenOptions{Threads: 1, Log: p.env.Log, Existing: true}); err != nil {
				l.conn = nil
				return nil, err
			}
		}
		var until time.Time
		if !p.w.Pulse.Hears() {
			until = time.Now().Add(p.env.Patience - time.Duration(l.absent.Load()) + p.order.Inputs.Drain)
		}
		gone, err = ownership.Ask(ctx, l.conn, p.order.Inputs.Namespace, p.w.Place.Run, until)
		if err != nil { // it may have broken while this process was stopped
			_ = l.conn.Close()
			l.conn = nil
		}
		return gone, err
	}
	doubtful := func() bool {
		if p.w.Pulse.Hears() {
			l.hangUp()
			return false
		}
		return true
	}
	l.all.Go(fault.Guarded(func() {
		if gone := l.fence.Guard(ctx, doubtful, ask); gone != nil {
			l.why = gone
			close(l.lost)
		}
	}))
}
