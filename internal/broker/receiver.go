package broker

import (
	"context"
	"slices"
	"sync"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/internal/fault"
)

// soon returns the deadline for closing a connection.
func (t *Carrier) soon() time.Time { return time.Now().Add(200 * time.Millisecond) }

// Delivery is a message that has been delivered to a receiver.
type Delivery struct {
	Header, Body []byte
	// Redelivered means that it had been delivered before.
	Redelivered bool

	tag  uint64
	from *session
}

// Receiver takes deliveries from the queue, over one connection after the other. A
// delivery belongs to its connection: when that has gone, the broker delivers the
// message again, and settling the delivery has no effect.
type Receiver struct {
	t        *Carrier
	prefetch int
	name     string
	in       chan *Delivery
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	done     chan struct{} // closed when run has returned
}

// Receiver opens a receiving side with at most prefetch messages delivered and not yet
// settled; name is what the broker shows for its connection.
func (t *Carrier) Receiver(ctx context.Context, name string, prefetch int) (*Receiver, error) {
	r := &Receiver{
		t: t, prefetch: max(prefetch, 1), name: name,
		in: make(chan *Delivery), done: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c, ch, err := t.connect(ctx, r.name)
	if err != nil {
		r.cancel()
		return nil, err
	}
	fault.Go(func() { r.run(c, ch) })
	return r, nil
}

// Receive waits for the next message.
func (r *Receiver) Receive(ctx context.Context) (*Delivery, error) {
	select {
	case d := <-r.in:
		return d, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-r.ctx.Done():
		return nil, ErrClosed
	}
}

// Ack acknowledges the message. The broker is told once all earlier ones are settled
// too, or after a while.
func (r *Receiver) Ack(d *Delivery) error {
	d.from.settle(d.tag, settled{ack: true})
	return nil
}

// Nack returns the message to the queue, or sends it to the dead letters. A lossy queue
// has none, so there the message is discarded.
func (r *Receiver) Nack(d *Delivery, requeue bool) error {
	if s := d.from; s.settle(d.tag, settled{requeue: requeue}) && !requeue && r.t.o.Lossy {
		r.t.dropped.Add(1)
	}
	return nil
}

// Close closes the connection at once: what is not settled is delivered again.
func (r *Receiver) Close() error {
	r.cancel()
	<-r.done
	return nil
}

func (r *Receiver) run(c *amqp091.Connection, ch *amqp091.Channel) {
	defer close(r.done)
	for failures := 0; ; {
		if c != nil && r.on(c, ch) > 0 {
			failures = 0
		}
		if r.ctx.Err() != nil || !backOff(r.ctx, failures) {
			return
		}
		failures++
		var err error
		if c, ch, err = r.t.connect(r.ctx, r.name); err != nil {
			c = nil
			continue
		}
		r.t.reconnect.Add(1)
	}
}

// on hands out what one connection delivers until it breaks, and returns how many.
func (r *Receiver) on(c *amqp091.Connection, ch *amqp091.Channel) (received int) {
	s := &session{t: r.t, ch: ch, done: map[uint64]settled{}, wake: make(chan struct{}, 1)}
	defer s.end()
	defer func() { _ = c.CloseDeadline(r.t.soon()) }() // already broken, or finished
	if err := ch.Qos(r.prefetch, 0, false); err != nil {
		return 0
	}
	deliveries, err := ch.Consume(r.t.queue, r.name, false, false, false, false, nil)
	if err != nil {
		return 0
	}
	r.t.consuming.Add(1)
	defer r.t.consuming.Add(-1)
	ctx, cancel := context.WithCancel(r.ctx)
	var wg sync.WaitGroup
	wg.Go(fault.Guarded(func() { s.flush(ctx) }))
	defer wg.Wait()
	defer cancel()
	for {
		select {
		case <-r.ctx.Done():
			return received
		case m, ok := <-deliveries:
			if !ok {
				return received
			}
			header, ours := r.t.header(m.Headers)
			s.open(1)
			if !ours {
				s.settle(m.DeliveryTag, settled{})
				continue
			}
			d := &Delivery{Header: header, Body: m.Body, Redelivered: m.Redelivered, tag: m.DeliveryTag, from: s}
			select {
			case r.in <- d:
				received++
			case <-r.ctx.Done():
				return received
			}
		}
	}
}

// settled is how a delivery was settled.
type settled struct{ ack, requeue bool }

// session settles the deliveries of one connection. Tags count from 1.
type session struct {
	t    *Carrier
	ch   *amqp091.Channel
	wake chan struct{}

	mu sync.Mutex
	// done are settled deliveries that the broker is still to be told of; low is the
	// tag up to which it knows of all.
	done  map[uint64]settled
	told  map[uint64]bool
	low   uint64
	held  int64 // delivered and not settled
	ended bool
}

// open counts n more deliveries as unsettled.
func (s *session) open(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held += n
	s.t.unsettled.Add(n)
}

// settle notes how a delivery was settled; false if its connection has gone.
func (s *session) settle(tag uint64, how settled) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.done[tag] = how
	s.held--
	s.t.unsettled.Add(-1)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

// end discards the connection's state.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.t.unsettled.Add(-s.held)
	s.held = 0
}

// flush tells the broker about settled deliveries in batches. Errors can be ignored:
// they mean that the connection has gone, and its deliveries are repeated.
func (s *session) flush(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			s.acknowledge()
			return
		case <-s.wake:
			s.acknowledge()
		}
	}
}

// acknowledge acknowledges a contiguous sequence in one go, and the rest one by one.
func (s *session) acknowledge() {
	s.mu.Lock()
	done := s.done
	s.done = make(map[uint64]settled, len(done))
	if s.told == nil {
		s.told = map[uint64]bool{}
	}
	tags := make([]uint64, 0, len(done))
	for tag := range done {
		tags = append(tags, tag)
	}
	s.mu.Unlock()
	slices.Sort(tags)
	var one []uint64 // to be acknowledged individually
	for _, tag := range tags {
		if how := done[tag]; !how.ack {
			_ = s.ch.Nack(tag, false, how.requeue) // see flush
		} else {
			one = append(one, tag)
		}
		s.told[tag] = true
	}
	before := s.low
	for s.told[s.low+1] {
		delete(s.told, s.low+1)
		s.low++
	}
	// All up to low are settled; a multiple acknowledgement covers ours among them.
	if n, _ := slices.BinarySearch(one, s.low+1); s.low > before && n > 0 {
		_ = s.ch.Ack(one[n-1], true) // see flush
		one = one[n:]
	}
	for _, tag := range one {
		_ = s.ch.Ack(tag, false) // see flush
	}
}
