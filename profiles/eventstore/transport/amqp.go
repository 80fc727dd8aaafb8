package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/broker"
)

// ErrUnconfirmed is reported for batches that are published without asking for
// confirmation.
var ErrUnconfirmed = broker.ErrUnconfirmed

// AMQP carries batches through a RabbitMQ queue.
type AMQP struct {
	*broker.Carrier
	clock  func() int64
	stages atomic.Int64 // receivers that were opened
}

// OverAMQP opens a queue for batches; clock is the run's clock.
func OverAMQP(ctx context.Context, target string, o broker.Options, clock func() int64) (*AMQP, error) {
	o.ContentType, o.Type = "application/x-protobuf", "EventBatch"
	o.Ours = func(header []byte) bool { return len(header) == metaSize }
	q, err := broker.Open(ctx, target, o)
	if err != nil {
		return nil, err
	}
	return &AMQP{Carrier: q, clock: clock}, nil
}

// metaSize is the length of a batch's header in bytes.
const metaSize = 4 + 8 + 4 + 2 + 1 + 8 + 8

func (m *Meta) pack() []byte {
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

// unpack decodes the output of pack; size is that of the batch.
func unpack(b []byte, size int) Meta {
	return Meta{
		Generator: binary.BigEndian.Uint32(b), First: int64(binary.BigEndian.Uint64(b[4:])), Count: int32(binary.BigEndian.Uint32(b[12:])),
		Step: binary.BigEndian.Uint16(b[16:]), Warm: b[18] == 1,
		Due: int64(binary.BigEndian.Uint64(b[19:])), Sent: int64(binary.BigEndian.Uint64(b[27:])), Size: size,
	}
}

// closed translates err into this package's errors.
func closed(err error) error {
	if errors.Is(err, broker.ErrClosed) {
		return ErrClosed
	}
	return err
}

type amqpPublisher struct{ p *broker.Publisher }

// Publisher opens the sending side of a generator.
func (t *AMQP) Publisher(ctx context.Context, generator int, confirm func(Meta, error)) (Publisher, error) {
	p, err := t.Carrier.Publisher(ctx, fmt.Sprintf("generator %d", generator), func(m *broker.Message, err error) {
		e := m.Of.(*Envelope)
		meta := e.Meta
		e.Release()
		confirm(meta, err)
	})
	if err != nil {
		return nil, err
	}
	return amqpPublisher{p}, nil
}

// Publish waits until there is room among the unconfirmed batches, and queues one.
func (p amqpPublisher) Publish(ctx context.Context, e *Envelope) error {
	e.Size = len(e.Body)
	return closed(p.p.Publish(ctx, &broker.Message{Header: e.pack(), Body: e.Body, Of: e}))
}

// Close waits until the broker has confirmed everything.
func (p amqpPublisher) Close(ctx context.Context) error { return p.p.Close(ctx) }

type amqpReceiver struct {
	r     *broker.Receiver
	clock func() int64
}

// Receiver opens the receiving side.
func (t *AMQP) Receiver(ctx context.Context, prefetch int) (Receiver, error) {
	r, err := t.Carrier.Receiver(ctx, fmt.Sprintf("store stage %d", t.stages.Add(1)), prefetch)
	if err != nil {
		return nil, err
	}
	return amqpReceiver{r, t.clock}, nil
}

// Receive waits for the next batch.
func (r amqpReceiver) Receive(ctx context.Context) (*Delivery, error) {
	d, err := r.r.Receive(ctx)
	if err != nil {
		return nil, closed(err)
	}
	return &Delivery{Meta: unpack(d.Header, len(d.Body)), Body: d.Body, Received: r.clock(), Redelivered: d.Redelivered, Origin: d}, nil
}

// Ack acknowledges the batch.
func (r amqpReceiver) Ack(d *Delivery) error { return r.r.Ack(d.Origin.(*broker.Delivery)) }

// Nack returns the batch to the queue, or sends it to the dead letters.
func (r amqpReceiver) Nack(d *Delivery, requeue bool) error {
	return r.r.Nack(d.Origin.(*broker.Delivery), requeue)
}

// Close ends the receiver as a crash would.
func (r amqpReceiver) Close() error { return r.r.Close() }

// Depth returns what is in the queue.
func (t *AMQP) Depth(ctx context.Context) (Depth, error) {
	d, err := t.Carrier.Depth(ctx)
	return Depth{Ready: d.Ready, Unacked: d.Unacked, Events: -1, Bytes: -1, DeadLettered: d.DeadLettered, Idle: d.Idle, Blocked: d.Blocked}, closed(err)
}
