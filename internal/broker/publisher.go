package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/internal/fault"
)

// headerName is the name under which our header appears among those of AMQP.
const headerName = "perfbench"

// header returns a message's header; false if it is not one of ours.
func (t *Carrier) header(headers amqp091.Table) ([]byte, bool) {
	b, ok := headers[headerName].([]byte)
	return b, ok && t.o.Ours(b)
}

// Publisher sends messages. It holds each until the broker has confirmed it; after a
// broken connection those messages are sent again in their order, so some may arrive
// twice but none is lost.
type Publisher struct {
	t       *Carrier
	name    string
	confirm func(*Message, error)
	ctx     context.Context // ends with cancel
	cancel  context.CancelFunc
	done    chan struct{} // closed when run has returned

	mu      sync.Mutex
	changed sync.Cond
	// pending are messages that are not confirmed, the oldest first; the first sent of
	// them went out on the current connection.
	pending []*Message
	sent    int
	// flying is the message being sent right now.
	flying *Message
	bytes  int64
	// returned are the headers of messages for which the broker had no queue.
	returned map[string]bool
	broken   bool   // the current connection has gone
	blocked  string // why the broker accepts nothing
	closing  bool
}

// Publisher opens a sending side; name is what the broker shows for its connection.
// confirm is called exactly once for every message that Publish has accepted, from any
// goroutine: with nil if the broker confirms it, otherwise with the reason.
func (t *Carrier) Publisher(ctx context.Context, name string, confirm func(*Message, error)) (*Publisher, error) {
	p := &Publisher{t: t, name: name, confirm: confirm, done: make(chan struct{}), returned: map[string]bool{}}
	p.changed.L = &p.mu
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c, ch, err := t.connect(ctx, p.name)
	if err != nil {
		p.cancel()
		return nil, err
	}
	fault.Go(func() { p.run(c, ch) })
	return p, nil
}

// confirms reports whether the broker is to confirm each message.
func (t *Carrier) confirms() bool { return !t.o.Lossy && !t.o.FireAndForget }

// wake wakes all who wait for a change of the publisher.
func (p *Publisher) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// Publish waits until there is room among the unconfirmed messages, and queues one.
func (p *Publisher) Publish(ctx context.Context, e *Message) error {
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
		return ErrClosed
	}
	p.pending = append(p.pending, e)
	p.bytes += size
	p.changed.Broadcast()
	return nil
}

// Close waits until the broker has confirmed everything. Messages not confirmed when
// ctx ends are given up and reported as such.
func (p *Publisher) Close(ctx context.Context) error {
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
		why = fmt.Errorf("the broker accepts nothing: %s", blocked)
	}
	left := p.dequeue(len(p.pending))
	for _, e := range left {
		p.settle(e, why)
	}
	if len(left) > 0 {
		return fmt.Errorf("%d batches: %w", len(left), why)
	}
	return nil
}

// dequeue removes the first n pending messages. The caller must have exclusive access to
// them, or hold p.mu.
func (p *Publisher) dequeue(n int) []*Message {
	out := append([]*Message(nil), p.pending[:n]...)
	rest := copy(p.pending, p.pending[n:])
	clear(p.pending[rest:])
	p.pending = p.pending[:rest]
	p.sent = max(p.sent-n, 0)
	for _, e := range out {
		p.bytes -= int64(len(e.Body))
	}
	return out
}

// settle reports the fate of a message, which is then no longer held.
func (p *Publisher) settle(e *Message, err error) {
	p.confirm(e, err)
}

// run sends over one connection after the other until the publisher is closed.
func (p *Publisher) run(c *amqp091.Connection, ch *amqp091.Channel) {
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

// on sends over one connection until it breaks or the publisher is closed, and returns
// how many messages were sent.
func (p *Publisher) on(c *amqp091.Connection, ch *amqp091.Channel) (sent int) {
	gone := ch.NotifyClose(make(chan *amqp091.Error, 1))
	blocked := c.NotifyBlocked(make(chan amqp091.Blocking, 8))
	confirmed := make(chan amqp091.Confirmation, 256)
	returned := make(chan amqp091.Return, 64)
	if p.t.confirms() {
		if err := ch.Confirm(false); err != nil {
			_ = c.Close() // it cannot be used
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
	wg.Go(fault.Guarded(func() { p.watch(gone, blocked) }))
	wg.Go(fault.Guarded(func() { p.gather(confirmed, returned) }))
	// A write may block for as long as the broker likes: only closing ends it.
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
	_ = c.CloseDeadline(p.t.soon()) // already broken, or finished
	if !p.t.confirms() {
		close(confirmed) // nobody else closes it
	}
	wg.Wait()
	return sent
}

// next waits for a message to send; it returns nil if the connection can no longer be
// used.
func (p *Publisher) next() *Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.ctx.Err() == nil && !p.broken && (p.sent == len(p.pending) || p.blocked != "") {
		p.changed.Wait()
	}
	if p.ctx.Err() != nil || p.broken {
		return nil
	}
	e := p.pending[p.sent]
	p.sent++ // before it is sent: its confirmation may come before send returns
	p.flying = e
	return e
}

// send publishes one message. When it returns, the library has copied or written the
// message.
func (p *Publisher) send(ch *amqp091.Channel, e *Message) error {
	m := amqp091.Publishing{
		ContentType: p.t.o.ContentType, Type: p.t.o.Type, Body: e.Body,
		Headers: amqp091.Table{headerName: e.Header},
	}
	if p.t.confirms() && !p.t.o.Transient {
		m.DeliveryMode = amqp091.Persistent
	}
	_, err := ch.PublishWithDeferredConfirm(p.t.exchange, p.t.queue, p.t.confirms(), false, m)
	return err
}

// landed notes the outcome of a send and reports whether the message was sent.
func (p *Publisher) landed(e *Message, err error) bool {
	p.mu.Lock()
	p.flying = nil
	if err != nil || p.t.confirms() {
		p.changed.Broadcast()
		p.mu.Unlock()
		return err == nil
	}
	p.dequeue(1) // without confirmation it is done as soon as it is sent
	p.changed.Broadcast()
	p.mu.Unlock()
	p.settle(e, ErrUnconfirmed)
	return true
}

// watch follows the broker's notifications about the connection until it is closed.
func (p *Publisher) watch(gone <-chan *amqp091.Error, blocked <-chan amqp091.Blocking) {
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

// gather settles messages as the broker confirms them, in the order in which they were
// sent. Those that it rejects or has no queue for are sent again.
func (p *Publisher) gather(confirmed <-chan amqp091.Confirmation, returned <-chan amqp091.Return) {
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
			// Returned messages are reported before their confirmation, on another
			// channel.
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

func (p *Publisher) bounce(r amqp091.Return) {
	if header, ok := p.t.header(r.Headers); ok {
		p.mu.Lock()
		p.returned[string(header)] = true
		p.mu.Unlock()
	}
}

// settleFirst settles the oldest message that was sent.
func (p *Publisher) settleFirst(ack bool) {
	p.mu.Lock()
	if p.sent == 0 { // for a message that we do not know, which cannot happen
		p.mu.Unlock()
		return
	}
	// The library may still be finishing its send: the body must stay until then.
	for p.flying == p.pending[0] {
		p.changed.Wait()
	}
	e := p.dequeue(1)[0]
	if !ack || p.returned[string(e.Header)] {
		delete(p.returned, string(e.Header))
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
