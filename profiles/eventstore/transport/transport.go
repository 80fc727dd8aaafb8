// Package transport carries batches from the generators to the store stage. It defines
// what a transport guarantees, and has the direct one within this process.
package transport

import (
	"context"
	"errors"
	"sync"
)

// Transport carries encoded batches from the generators to the store stage. Its methods
// may be called from any goroutine.
//
// A transport guarantees that nothing it has confirmed gets lost: a batch is delivered
// until it has been acknowledged, if necessary more than once.
type Transport interface {
	// Publisher opens the sending side of one generator. confirm is called exactly once
	// for every batch that Publish has accepted, from any goroutine: with nil if the
	// transport confirms it, otherwise with the reason.
	Publisher(ctx context.Context, generator int, confirm func(Meta, error)) (Publisher, error)
	// Receiver opens the receiving side, with at most prefetch batches delivered and
	// not yet settled.
	Receiver(ctx context.Context, prefetch int) (Receiver, error)
	// Depth returns what is currently on its way.
	Depth(ctx context.Context) (Depth, error)
	// Name describes the transport for reports: "direct", "RabbitMQ 3.10.8, queue …".
	Name() string
	// Close releases everything. What was not acknowledged stays where the transport
	// keeps it.
	Close() error
}

// Publisher sends the batches of one generator, on that generator's goroutine.
type Publisher interface {
	// Publish hands over a batch. It blocks while the transport accepts no more: that
	// is the back-pressure on the generator. After nil the envelope belongs to the
	// transport; after an error the caller keeps it and confirm is not called.
	Publish(ctx context.Context, e *Envelope) error
	// Close waits until every batch is confirmed or refused, or ctx ends.
	Close(ctx context.Context) error
}

// Receiver takes deliveries. Receive may be called by several goroutines; a
// delivery is settled once, by any goroutine.
type Receiver interface {
	// Receive waits for the next batch. It returns ErrClosed after Close, and the
	// context's error if that ends.
	Receive(ctx context.Context) (*Delivery, error)
	// Ack confirms that the batch is durable: it is not delivered again. The delivery
	// must not be used afterwards.
	Ack(d *Delivery) error
	// Nack reports that it is not durable: with requeue it is delivered again,
	// otherwise it goes to the dead letters.
	Nack(d *Delivery, requeue bool) error
	// Close ends the receiver as a crash would: what it has not settled is delivered
	// again, to the next receiver.
	Close() error
}

// ErrClosed is returned by a receiver that has been closed.
var ErrClosed = errors.New("the receiver is closed")

// Meta accompanies a batch: whose it is, when it should have left, and when it did.
// Times are nanoseconds of the run's own clock, which all stages share.
type Meta struct {
	// Generator is the number of the generator, First the sequence number of the
	// batch's first event and Count the number of events: together they identify every
	// event of the batch.
	Generator uint32
	First     int64
	Count     int32
	// Step is the segment of the run in which the batch was generated; Warm means that
	// it was in warm-up.
	Step uint16
	Warm bool
	// Due is when the batch was scheduled, Sent when it was handed over.
	Due, Sent int64
	// Size is the length of the encoded batch in bytes.
	Size int
}

// Envelope is a batch on its way to the transport. Envelopes are pooled.
type Envelope struct {
	Meta
	// Body is the encoded batch.
	Body []byte
}

var envelopes = sync.Pool{New: func() any { return new(Envelope) }}

// NewEnvelope takes an empty envelope from the pool; its body keeps its capacity.
func NewEnvelope() *Envelope { return envelopes.Get().(*Envelope) }

// Seal records whose batch the body is, its first event, and how many there are.
func (e *Envelope) Seal(generator int, first int64, events int) {
	e.Generator, e.First, e.Count, e.Size = uint32(generator), first, int32(events), len(e.Body)
}

// Release returns an envelope to the pool. Neither it nor its body may be used
// afterwards.
func (e *Envelope) Release() {
	e.Meta, e.Body = Meta{}, e.Body[:0]
	envelopes.Put(e)
}

// Delivery is a batch delivered to the store stage.
type Delivery struct {
	Meta
	Body []byte
	// Received is when it arrived, by the run's clock.
	Received int64
	// Redelivered means that it had been delivered before.
	Redelivered bool
	// Tag is the transport's own number for it; Origin is for the transport's own use.
	Tag    uint64
	Origin any
}

// Depth is what a transport currently holds, in batches unless noted otherwise. Unknown
// values are -1.
type Depth struct {
	// Ready batches wait for the store stage; Unacked ones have been delivered and not
	// settled.
	Ready, Unacked int64
	// Events and Bytes are those of both together.
	Events, Bytes int64
	// Idle means that nobody holds any beside these.
	Idle bool
	// DeadLettered batches were given up for good.
	DeadLettered int64
	// Blocked is why the transport currently accepts no more: "the broker's disk is
	// full"; empty if it does.
	Blocked string
}
