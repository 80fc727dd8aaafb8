package eventstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// drainTask waits until everything on its way is durable, and records that.
type drainTask struct{ b *binding }

// Do drains, once.
func (k *drainTask) Do(ctx context.Context, it *workload.Iteration) error {
	if it.Warmup {
		return workload.ErrDone
	}
	b := k.b
	w := b.wait()
	b.beginDrain()
	var q quiet
	for {
		over := b.settled() || q.lasts(ctx, b)
		zero := b.zero.Load()
		b.mu.Lock()
		boxes := b.boxes
		b.mu.Unlock()
		for _, x := range boxes {
			for _, o := range x.drain() {
				if !o.m.Warm {
					it.Record(0, int(o.m.Count), o.m.Due-zero, o.m.Due-zero, o.at-zero, o.err)
				}
			}
		}
		if !over && w.over() {
			over = true
			b.gaveUp.Store(true) // there is no need to ask the store for what it does not accept
		}
		if over {
			b.endDrain()
			return workload.ErrDone
		}
		select {
		case <-ctx.Done():
			b.endDrain()
			return workload.ErrDone
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// longestDrain is how many times the standstill limit a drain that makes progress may
// take: a backlog that a slow store works off is not a failure.
const longestDrain = 12

// standstill decides when to stop waiting for what is on its way: when nothing has
// become durable for a while.
type standstill struct {
	b      *binding
	left   int64
	moved  time.Time
	longer time.Time
}

// wait begins to wait for what is on its way.
func (b *binding) wait() *standstill {
	now := time.Now()
	p := &standstill{b: b, left: b.ledger.Left(), moved: now, longer: now.Add(longestDrain * b.s.drain)}
	b.still.Store(now.UnixNano())
	return p
}

// over reports whether to give up.
func (p *standstill) over() bool {
	now := time.Now()
	if left := p.b.ledger.Left(); left != p.left {
		p.left, p.moved = left, now
		p.b.still.Store(now.UnixNano())
	}
	return now.Sub(p.moved) >= p.b.s.drain || now.After(p.longer)
}

// underWay names what is waited for while the drain goes on.
func (b *binding) underWay() ([]string, time.Time) {
	b.mu.Lock()
	draining := b.drainFrom != 0 && b.drainTo == 0
	b.mu.Unlock()
	left := b.ledger.Left()
	if !draining || left == 0 {
		return nil, time.Time{}
	}
	return []string{fmt.Sprintf("%d events on their way %s", left, b.whither())}, time.Unix(0, b.still.Load())
}

// whither says where events on their way may be.
func (b *binding) whither() string {
	if b.s.via == facts.ViaDirect {
		return "to the store"
	}
	return "through the broker to the store"
}

// errTimeUp is the reason for not handing over a batch that was waiting for room when
// the run's time was up.
var errTimeUp = errors.New("the time is up")

// limited returns a context that ends when the run's time is up: a transport that
// accepts nothing must not hold up a generator any longer.
func (k *generatorTask) limited(ctx context.Context, it *workload.Iteration) context.Context {
	if k.b.s.duration == 0 {
		return ctx
	}
	if k.end == nil {
		// The margin is for what is being handed over just then.
		left := k.b.s.duration - time.Duration(it.Now()) + 500*time.Millisecond
		var cancel context.CancelFunc
		k.end, cancel = context.WithTimeoutCause(ctx, left, errTimeUp)
		context.AfterFunc(k.b.stopped, cancel) // at the latest
	}
	return k.end
}

// answered reports whether the transport confirms what it accepts: if not, missing
// events are lost, and nobody knows.
func (s *spec) answered() bool {
	return s.via == facts.ViaDirect || !s.Compat && s.publish != "fireAndForget"
}

// quiet determines whether nothing is on its way any more if there are no
// confirmations.
type quiet struct{ asked, since time.Time }

// lasts reports whether there has been nothing in the transport or in the store stage
// for a while.
func (q *quiet) lasts(ctx context.Context, b *binding) bool {
	const every, enough = 250 * time.Millisecond, 2 * time.Second
	if b.s.answered() || time.Since(q.asked) < every {
		return false
	}
	q.asked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	d, err := b.via.Depth(ctx)
	b.mu.Lock()
	gate := b.gate
	b.mu.Unlock()
	if n, _, _, _ := gate.Inside(); err != nil || d.Ready != 0 || d.Unacked != 0 || n != 0 {
		q.since = time.Time{}
		return false
	}
	if q.since.IsZero() {
		q.since = time.Now()
	}
	return time.Since(q.since) >= enough
}

// settled reports whether nothing is on its way any more.
func (b *binding) settled() bool { return b.ledger.Settled() }

// beginDrain notes that the generators have ended.
func (b *binding) beginDrain() {
	b.mu.Lock()
	first := b.drainFrom == 0
	if first {
		b.drainFrom, b.backlog = b.clock(), b.ledger.Left()
	}
	publishers := b.publishers
	b.mu.Unlock()
	if !first {
		return
	}
	b.meter.BeginDrain(b.clock() - b.zero.Load())
	ctx, cancel := context.WithTimeout(b.stopped, b.s.drain)
	defer cancel()
	for _, p := range publishers {
		if err := p.Close(ctx); err != nil {
			b.meter.Failed(fmt.Errorf("wait for confirmations: %w", err))
		}
	}
}

func (b *binding) endDrain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drainTo == 0 {
		b.drainTo = b.clock()
		b.meter.EndDrain(b.drainTo - b.zero.Load())
	}
}
