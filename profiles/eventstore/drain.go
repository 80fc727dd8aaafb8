package eventstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
)

// drainTask waits until what is on its way is durable, and records it.
type drainTask struct{ b *binding }

// Do drains, once.
func (k *drainTask) Do(ctx context.Context, it *workload.Iteration) error {
	if it.Warmup {
		return workload.ErrDone
	}
	b := k.b
	b.beginDrain()
	until := time.Now().Add(b.s.drain)
	var q quiet
	for {
		over := b.settled() || q.lasts(ctx, b)
		zero := b.zero.Load()
		b.mu.Lock()
		boxes := b.boxes
		b.mu.Unlock()
		for _, x := range boxes {
			for _, o := range x.take() {
				if !o.m.Warm {
					it.Record(0, int(o.m.Count), o.m.Due-zero, o.m.Due-zero, o.at-zero, o.err)
				}
			}
		}
		if over || time.Now().After(until) {
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

// errTimeUp is why a batch is not handed over that was waiting for room when the time
// of the run was up.
var errTimeUp = errors.New("the time is up")

// limited is ctx until the time of the run is up: a transport that takes nothing must
// not hold a generator up for longer.
func (k *generatorTask) limited(ctx context.Context, it *workload.Iteration) context.Context {
	if k.b.s.duration == 0 {
		return ctx
	}
	if k.end == nil {
		// What is handed over just then may be.
		left := k.b.s.duration - time.Duration(it.Now()) + 500*time.Millisecond
		var cancel context.CancelFunc
		k.end, cancel = context.WithTimeoutCause(ctx, left, errTimeUp)
		context.AfterFunc(k.b.stopped, cancel) // at the latest
	}
	return k.end
}

// answered says whether the transport answers for what it takes: if not, what does not
// come is lost, and nobody knows.
func (s *spec) answered() bool {
	return s.via == viaDirect || !s.compat && s.publish != "fireAndForget"
}

// quiet looks whether nothing is on its way any more, where nobody answers for it.
type quiet struct{ asked, since time.Time }

// lasts says that for a while nothing has been in the transport nor in the store stage.
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
	if n, _, _, _ := gate.inside(); err != nil || d.Ready != 0 || d.Unacked != 0 || n != 0 {
		q.since = time.Time{}
		return false
	}
	if q.since.IsZero() {
		q.since = time.Now()
	}
	return time.Since(q.since) >= enough
}

// settled says whether nothing is on its way any more.
func (b *binding) settled() bool { return b.ledger.settled() }

// beginDrain notes that the generators have ended.
func (b *binding) beginDrain() {
	b.mu.Lock()
	first := b.drainFrom == 0
	if first {
		b.drainFrom, b.backlog = b.clock(), b.ledger.left()
	}
	publishers := b.publishers
	b.mu.Unlock()
	if !first {
		return
	}
	b.meter.beginDrain(b.clock() - b.zero.Load())
	ctx, cancel := context.WithTimeout(b.stopped, b.s.drain)
	defer cancel()
	for _, p := range publishers {
		if err := p.Close(ctx); err != nil {
			b.meter.failed(fmt.Errorf("wait for confirmations: %w", err))
		}
	}
}

func (b *binding) endDrain() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drainTo == 0 {
		b.drainTo = b.clock()
		b.meter.endDrain(b.drainTo - b.zero.Load())
	}
}
