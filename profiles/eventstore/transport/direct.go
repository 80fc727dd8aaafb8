package transport

import (
	"bytes"
	"context"
	"sync"
)

// Direct carries batches within this process: a queue limited by batches and by bytes.
// Publishers wait while it is full.
type Direct struct {
	clock func() int64
	// maxCount and maxBytes limit waiting and unsettled batches together.
	maxCount int
	maxBytes int64

	mu      sync.Mutex
	changed *sync.Cond
	ready   []*Delivery // first in, first out, from head
	head    int
	count   int   // ready and unsettled
	bytes   int64 // of those
	events  int64
	unacked map[uint64]*Delivery
	tag     uint64
	dead    int64
	closed  bool
}

// NewDirect returns the transport; clock is the run's clock.
func NewDirect(clock func() int64, maxCount int, maxBytes int64) *Direct {
	d := &Direct{clock: clock, maxCount: max(maxCount, 1), maxBytes: maxBytes, unacked: map[uint64]*Delivery{}}
	d.changed = sync.NewCond(&d.mu)
	return d
}

// Name describes the transport.
func (d *Direct) Name() string { return "direct" }

// Publisher opens the sending side of a generator.
func (d *Direct) Publisher(_ context.Context, _ int, confirm func(Meta, error)) (Publisher, error) {
	return &directPublisher{d, confirm}, nil
}

type directPublisher struct {
	d       *Direct
	confirm func(Meta, error)
}

// Publish waits for room and queues the batch. A batch larger than the limit is
// admitted alone.
func (p *directPublisher) Publish(ctx context.Context, e *Envelope) error {
	d := p.d
	size := int64(len(e.Body))
	stop := d.wakeAt(ctx)
	defer stop()
	d.mu.Lock()
	for !d.closed && ctx.Err() == nil && d.count > 0 && (d.count >= d.maxCount || d.bytes+size > d.maxBytes) {
		d.changed.Wait()
	}
	if d.closed || ctx.Err() != nil {
		d.mu.Unlock()
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return ErrClosed
	}
	d.count++
	d.bytes += size
	d.events += int64(e.Count)
	meta := e.Meta
	d.ready = append(d.ready, &Delivery{Meta: meta, Body: e.Body, Origin: e})
	d.changed.Broadcast()
	d.mu.Unlock()
	p.confirm(meta, nil)
	return nil
}

// Close has nothing to wait for, because queued batches count as confirmed.
func (p *directPublisher) Close(context.Context) error { return nil }

// wakeAt wakes all waiting callers when ctx ends.
func (d *Direct) wakeAt(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.changed.Broadcast()
	})
}

// Receiver opens the receiving side.
func (d *Direct) Receiver(_ context.Context, prefetch int) (Receiver, error) {
	return &directReceiver{d: d, prefetch: max(prefetch, 1), held: map[uint64]bool{}}, nil
}

type directReceiver struct {
	d        *Direct
	prefetch int
	held     map[uint64]bool // guarded by d.mu
	closed   bool            // guarded by d.mu
}

// Receive waits for the next batch.
func (r *directReceiver) Receive(ctx context.Context) (*Delivery, error) {
	d := r.d
	stop := d.wakeAt(ctx)
	defer stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for !r.closed && !d.closed && ctx.Err() == nil && (d.head == len(d.ready) || len(r.held) >= r.prefetch) {
		d.changed.Wait()
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if r.closed || d.closed {
		return nil, ErrClosed
	}
	m := d.ready[d.head]
	d.ready[d.head] = nil
	if d.head++; d.head > 64 && d.head*2 > len(d.ready) {
		d.ready = append(d.ready[:0], d.ready[d.head:]...)
		d.head = 0
	}
	d.tag++
	m.Tag, m.Received = d.tag, d.clock()
	d.unacked[m.Tag], r.held[m.Tag] = m, true
	return m, nil
}

// Ack removes the batch and makes room.
func (r *directReceiver) Ack(m *Delivery) error {
	r.settle(m, false, false)
	return nil
}

// Nack returns the batch to the end of the queue, or counts it among the dead letters.
func (r *directReceiver) Nack(m *Delivery, requeue bool) error {
	r.settle(m, requeue, !requeue)
	return nil
}

func (r *directReceiver) settle(m *Delivery, requeue, dead bool) {
	d := r.d
	d.mu.Lock()
	if r.closed || !r.held[m.Tag] { // already on its way to another receiver
		d.mu.Unlock()
		return
	}
	delete(d.unacked, m.Tag)
	delete(r.held, m.Tag)
	if requeue {
		m.Redelivered = true
		d.ready = append(d.ready, m)
	} else {
		d.count--
		d.bytes -= int64(len(m.Body))
		d.events -= int64(m.Count)
	}
	if dead {
		d.dead++
	}
	d.changed.Broadcast()
	d.mu.Unlock()
	if !requeue {
		m.Origin.(*Envelope).Release()
	}
}

// Close returns what the receiver holds. Its copies stay readable, but may no longer be
// settled.
func (r *directReceiver) Close() error {
	d := r.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	for tag := range r.held {
		old := d.unacked[tag]
		delete(d.unacked, tag)
		again := *old // the holder may still be reading the old one
		again.Redelivered = true
		again.Body = bytes.Clone(old.Body)
		again.Origin = &Envelope{Meta: old.Meta, Body: again.Body}
		d.ready = append(d.ready, &again)
	}
	r.held = map[uint64]bool{}
	d.changed.Broadcast()
	return nil
}

// Depth returns what is queued.
func (d *Direct) Depth(context.Context) (Depth, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Depth{
		Ready: int64(len(d.ready) - d.head), Unacked: int64(len(d.unacked)), Events: d.events, Bytes: d.bytes, DeadLettered: d.dead,
	}, nil
}

// Close ends everything.
func (d *Direct) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.changed.Broadcast()
	return nil
}
