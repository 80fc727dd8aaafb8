package find

import (
	"context"
	"math"
	"sync"
	"time"
)

// Pacer is a schedule whose rate can be set. It goes on whether or not the workers keep
// up, so units that are due and not begun are backlog, too. Any goroutine may call its
// methods.
type Pacer struct {
	clock func() int64
	once  sync.Once
	begun chan struct{} // closed when the first worker calls Slot

	mu      sync.Mutex
	rate    float64 // 0: nothing is due
	next    float64 // when the next units are due, by the clock
	changed chan struct{}
	over    bool
}

// NewPacer returns a schedule, by a clock in nanoseconds, on which nothing is due yet.
func NewPacer(clock func() int64) *Pacer {
	return &Pacer{clock: clock, begun: make(chan struct{}), changed: make(chan struct{})}
}

// Begun returns a channel that is closed when the first worker has called Slot.
func (p *Pacer) Begun() <-chan struct{} { return p.begun }

// Slot waits until n units are due and returns when they were due; false if the
// schedule or ctx has ended.
func (p *Pacer) Slot(ctx context.Context, n int) (due int64, ok bool) {
	p.once.Do(func() { close(p.begun) })
	for ctx.Err() == nil {
		p.mu.Lock()
		if p.over {
			p.mu.Unlock()
			return 0, false
		}
		wait, changed := time.Duration(math.MaxInt64), p.changed
		if p.rate > 0 {
			if wait = time.Duration(int64(p.next) - p.clock()); wait <= 0 {
				due = int64(p.next)
				p.next += float64(n) / p.rate * 1e9
				p.mu.Unlock()
				return due, true
			}
		}
		p.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return 0, false
}

// Pace sets the rate from now on; 0 makes nothing due.
func (p *Pacer) Pace(rate float64) { p.set(rate, false) }

// End releases the workers.
func (p *Pacer) End() { p.set(0, true) }

func (p *Pacer) set(rate float64, over bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate, p.next, p.over = rate, float64(p.clock()), p.over || over
	close(p.changed)
	p.changed = make(chan struct{})
}
