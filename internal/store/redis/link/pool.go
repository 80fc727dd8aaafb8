package link

import (
	"context"
	"net"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

// pool hands out connections to one server, the most recently used first. It is safe
// for use by several goroutines.
type pool struct {
	of      *Lines
	dial    func(ctx context.Context) (net.Conn, error)
	timeout time.Duration
	// patience is how long a caller waits for a connection.
	patience time.Duration
	// free has an element for each connection that may be taken.
	free chan struct{}

	mu   sync.Mutex
	idle []*Own
}

func newPool(of *Lines, dial func(ctx context.Context) (net.Conn, error), timeout, patience time.Duration) *pool {
	p := &pool{of: of, dial: dial, timeout: timeout, patience: patience, free: make(chan struct{}, of.size)}
	for range of.size {
		p.free <- struct{}{}
	}
	return p
}

// acquire returns a connection, which may still have to be opened.
func (p *pool) acquire(ctx context.Context) (*Own, error) {
	select {
	case <-p.free:
	default:
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		o := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return o, nil
	}
	return &Own{Dial: p.dial, timeout: p.timeout}, nil
}

func (p *pool) wait(ctx context.Context) error {
	began := time.Now()
	defer func() {
		p.of.waits.Add(1)
		p.of.waitNs.Add(int64(time.Since(began)))
	}()
	late := time.NewTimer(p.patience)
	defer late.Stop()
	select {
	case <-p.free:
		return nil
	case <-late.C:
		return goredis.ErrPoolTimeout
	case <-ctx.Done():
		return ctx.Err()
	}
}

// release returns a connection to the pool.
func (p *pool) release(o *Own) {
	p.mu.Lock()
	p.idle = append(p.idle, o)
	p.mu.Unlock()
	p.free <- struct{}{}
}

// dials is how many connections a pool opens at the same time.
const dials = 32

// warm opens n connections.
func (p *pool) warm(ctx context.Context, n int) error {
	var all errgroup.Group
	all.SetLimit(dials)
	held := make([]*Own, 0, n)
	defer func() {
		for _, o := range held {
			p.release(o)
		}
	}()
	for range n {
		o, err := p.acquire(ctx)
		if err != nil {
			return err
		}
		held = append(held, o)
		all.Go(func() error { return o.connect(ctx) })
	}
	return all.Wait()
}
