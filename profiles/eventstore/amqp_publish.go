package eventstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// metaHeader is the header of a message that holds its Meta.
const metaHeader = "perfbench"

// metaSize is how many bytes that has.
const metaSize = 4 + 8 + 4 + 2 + 1 + 8 + 8

// packMeta writes a Meta for the header.
func packMeta(m *transport.Meta) []byte {
	b := make([]byte, 0, metaSize)
	b = binary.BigEndian.AppendUint32(b, m.Generator)
	b = binary.BigEndian.AppendUint64(b, uint64(m.First))
	b = binary.BigEndian.AppendUint32(b, uint32(m.Count))
	b = binary.BigEndian.AppendUint16(b, m.Step)
	warm := byte(0)
	if m.Warm {
		warm = 1
	}
	b = append(b, warm)
	b = binary.BigEndian.AppendUint64(b, uint64(m.Due))
	return binary.BigEndian.AppendUint64(b, uint64(m.Sent))
}

// unpackMeta reads what packMeta wrote; false when it is nothing of ours.
func unpackMeta(headers amqp.Table, size int) (transport.Meta, bool) {
	b, ok := headers[metaHeader].([]byte)
	if !ok || len(b) != metaSize {
		return transport.Meta{}, false
	}
	return transport.Meta{
		Generator: binary.BigEndian.Uint32(b), First: int64(binary.BigEndian.Uint64(b[4:])), Count: int32(binary.BigEndian.Uint32(b[12:])),
		Step: binary.BigEndian.Uint16(b[16:]), Warm: b[18] == 1,
		Due: int64(binary.BigEndian.Uint64(b[19:])), Sent: int64(binary.BigEndian.Uint64(b[27:])), Size: size,
	}, true
}

// amqpPublisher sends the batches of one generator. It holds each until the broker
// has confirmed it; after a break those are sent again, in their order, so that
// some may arrive twice and none is lost.
type amqpPublisher struct {
	t       *amqpTransport
	name    string
	confirm func(transport.Meta, error)
	ctx     context.Context // ends with cancel
	cancel  context.CancelFunc
	done    chan struct{} // closed when run has returned

	mu      sync.Mutex
	changed sync.Cond
	// pending are batches that are not confirmed, the oldest first; the first sent of
	// them went out on the present connection.
	pending []*transport.Envelope
	sent    int
	// flying is the batch that is being sent just now.
	flying *transport.Envelope
	bytes  int64
	// returned are batches, by their first event, that the broker had no queue for.
	returned map[int64]bool
	broken   bool   // the present connection has gone
	blocked  string // why the broker takes nothing
	closing  bool
}

// Publisher opens the sending side of a generator.
func (t *amqpTransport) Publisher(ctx context.Context, generator int, confirm func(transport.Meta, error)) (transport.Publisher, error) {
	p := &amqpPublisher{t: t, name: fmt.Sprintf("generator %d", generator), confirm: confirm, done: make(chan struct{}), returned: map[int64]bool{}}
	p.changed.L = &p.mu
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c, ch, err := t.connect(ctx, p.name)
	if err != nil {
		p.cancel()
		return nil, err
	}
	go p.run(c, ch)
	return p, nil
}

// confirms says whether the broker is to answer for each batch.
func (t *amqpTransport) confirms() bool { return !t.o.Lossy && !t.o.FireAndForget }

// wake wakes all who wait for a change of the publisher.
func (p *amqpPublisher) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// Publish waits for room among the batches that are not confirmed, and queues one.
func (p *amqpPublisher) Publish(ctx context.Context, e *transport.Envelope) error {
	stop := context.AfterFunc(ctx, p.wake)
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	size := int64(len(e.Body))
	full := func() bool {
		return len(p.pending) > 0 && (len(p.pending) >= max(p.t.o.MaxPending, 1) || p.bytes+size > p.t.o.MaxBytes)
	}
	for full() && ctx.Err() == nil && p.ctx.Err() == nil && !p.closing {
		p.changed.Wait()
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if p.closing || p.ctx.Err() != nil {
		return transport.ErrClosed
	}
	e.Size = len(e.Body)
	p.pending = append(p.pending, e)
	p.bytes += size
	p.changed.Broadcast()
	return nil
}

// Close waits until the broker has confirmed everything. What it has not when ctx
// ends is given up and reported so.
func (p *amqpPublisher) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.wake)
	defer stop()
	p.mu.Lock()
	p.closing = true
	for len(p.pending) > 0 && ctx.Err() == nil {
		p.changed.Wait()
	}
	blocked := p.blocked
	p.mu.Unlock()
	p.cancel()
	p.wake()
	<-p.done
	p.t.block(p, "")
	why := errors.New("the broker has not confirmed it")
	if blocked != "" {
		why = fmt.Errorf("the broker takes nothing: %s", blocked)
	}
	left := p.take(len(p.pending))
	for _, e := range left {
		p.settle(e, why)
	}
	if len(left) > 0 {
		return fmt.Errorf("%d batches: %w", len(left), why)
	}
	return nil
}

// take removes the first n pending batches. The publisher must be alone with them,
// or p.mu be held.
func (p *amqpPublisher) take(n int) []*transport.Envelope {
	out := append([]*transport.Envelope(nil), p.pending[:n]...)
	rest := copy(p.pending, p.pending[n:])
	clear(p.pending[rest:])
	p.pending = p.pending[:rest]
	p.sent = max(p.sent-n, 0)
	for _, e := range out {
		p.bytes -= int64(len(e.Body))
	}
	return out
}

// settle ends the life of a batch here.
func (p *amqpPublisher) settle(e *transport.Envelope, err error) {
	meta := e.Meta
	e.Release()
	p.confirm(meta, err)
}

// run sends on one connection after the other until the publisher is closed.
func (p *amqpPublisher) run(c *amqp.Connection, ch *amqp.Channel) {
	defer close(p.done)
	for failures := 0; ; {
		if c != nil {
			if p.on(c, ch) > 0 {
				failures = 0
			}
		}
		if p.ctx.Err() != nil || !backOff(p.ctx, failures) {
			return
		}
		failures++
		var err error
		if c, ch, err = p.t.connect(p.ctx, p.name); err != nil {
			c = nil
			continue
		}
		p.t.reconnect.Add(1)
	}
}

// on sends over one connection until it breaks or the publisher is closed, and
// returns how many batches went out.
func (p *amqpPublisher) on(c *amqp.Connection, ch *amqp.Channel) (sent int) {
	gone := ch.NotifyClose(make(chan *amqp.Error, 1))
	blocked := c.NotifyBlocked(make(chan amqp.Blocking, 8))
	confirmed := make(chan amqp.Confirmation, 256)
	returned := make(chan amqp.Return, 64)
	if p.t.confirms() {
		if err := ch.Confirm(false); err != nil {
			_ = c.Close() // it is of no use
			return 0
		}
		ch.NotifyPublish(confirmed)
		ch.NotifyReturn(returned)
	}
	p.mu.Lock()
	p.broken, p.blocked = false, ""
	p.t.resent.Add(int64(p.sent))
	p.sent = 0
	p.mu.Unlock()
	var wg sync.WaitGroup
	wg.Go(func() { p.watch(gone, blocked) })
	wg.Go(func() { p.gather(confirmed, returned) })
	// A write may hang for as long as the broker likes: closing is what ends it.
	stop := context.AfterFunc(p.ctx, func() { _ = c.CloseDeadline(p.t.soon()) })
	for {
		e := p.next()
		if e == nil {
			break
		}
		err := p.send(ch, e)
		if p.landed(e, err) {
			sent++
		}
		if err != nil {
			break
		}
	}
	stop()
	_ = c.CloseDeadline(p.t.soon()) // broken already, or done with
	if !p.t.confirms() {
		close(confirmed) // nobody else does
	}
	wg.Wait()
	return sent
}

// next waits for a batch to send; nil when the connection is of no more use.
func (p *amqpPublisher) next() *transport.Envelope {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.ctx.Err() == nil && !p.broken && (p.sent == len(p.pending) || p.blocked != "") {
		p.changed.Wait()
	}
	if p.ctx.Err() != nil || p.broken {
		return nil
	}
	e := p.pending[p.sent]
	p.sent++ // before it is out: its confirmation may come before send returns
	p.flying = e
	return e
}

// send publishes one batch. The library has copied or written it on return.
func (p *amqpPublisher) send(ch *amqp.Channel, e *transport.Envelope) error {
	m := amqp.Publishing{
		ContentType: "application/x-protobuf", Type: "EventBatch", Body: e.Body,
		Headers: amqp.Table{metaHeader: packMeta(&e.Meta)},
	}
	if p.t.confirms() {
		m.DeliveryMode = amqp.Persistent
	}
	_, err := ch.PublishWithDeferredConfirm(p.t.exchange, p.t.queue, p.t.confirms(), false, m)
	return err
}

// landed notes how a send has ended and reports whether the batch went out.
func (p *amqpPublisher) landed(e *transport.Envelope, err error) bool {
	p.mu.Lock()
	p.flying = nil
	if err != nil || p.t.confirms() {
		p.changed.Broadcast()
		p.mu.Unlock()
		return err == nil
	}
	p.take(1) // without confirmation it is gone as soon as it is out
	p.changed.Broadcast()
	p.mu.Unlock()
	p.settle(e, errNoConfirm)
	return true
}

// watch follows what the broker says of the connection until it has gone.
func (p *amqpPublisher) watch(gone <-chan *amqp.Error, blocked <-chan amqp.Blocking) {
	for {
		select {
		case <-gone: //nolint:errcheck // why it has gone is told by what comes next
			p.mu.Lock()
			p.broken, p.blocked = true, ""
			p.changed.Broadcast()
			p.mu.Unlock()
			p.t.block(p, "")
			return
		case b, ok := <-blocked:
			if !ok {
				blocked = nil
				continue
			}
			why := ""
			if b.Active {
				why = b.Reason
			}
			p.mu.Lock()
			p.blocked = why
			p.changed.Broadcast()
			p.mu.Unlock()
			p.t.block(p, why)
		}
	}
}

// gather settles batches as the broker confirms them, in the order in which they
// were sent. Those that it refuses or has no queue for are sent again.
func (p *amqpPublisher) gather(confirmed <-chan amqp.Confirmation, returned <-chan amqp.Return) {
	for {
		select {
		case r, ok := <-returned:
			if !ok {
				returned = nil
				continue
			}
			p.bounce(r)
		case c, ok := <-confirmed:
			if !ok {
				return
			}
			// What came back is told before it is confirmed, on the other channel.
			for more := returned != nil; more; {
				select {
				case r, ok := <-returned:
					if more = ok; ok {
						p.bounce(r)
					}
				default:
					more = false
				}
			}
			p.settleFirst(c.Ack)
		}
	}
}

func (p *amqpPublisher) bounce(r amqp.Return) {
	if m, ok := unpackMeta(r.Headers, len(r.Body)); ok {
		p.mu.Lock()
		p.returned[m.First] = true
		p.mu.Unlock()
	}
}

// settleFirst settles the oldest batch that was sent.
func (p *amqpPublisher) settleFirst(ack bool) {
	p.mu.Lock()
	if p.sent == 0 { // of a batch that we do not know; it cannot be
		p.mu.Unlock()
		return
	}
	// The library may still be at the end of its send: the body must stay until then.
	for p.flying == p.pending[0] {
		p.changed.Wait()
	}
	e := p.take(1)[0]
	if !ack || p.returned[e.First] {
		delete(p.returned, e.First)
		p.pending = append(p.pending, e)
		p.bytes += int64(len(e.Body))
		p.t.resent.Add(1)
		p.changed.Broadcast()
		p.mu.Unlock()
		return
	}
	p.changed.Broadcast()
	p.mu.Unlock()
	p.settle(e, nil)
}
