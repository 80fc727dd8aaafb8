// Package transport carries batches from the generators to the store stage: what a
// transport promises, and the direct one within this process.
package transport

import (
	"context"
	"errors"
	"sync"
)

// Transport carries encoded batches from the generators to the store stage. Its
// methods may be called from any goroutine.
//
// What a transport promises is that nothing gets lost that it has confirmed: a
// batch is delivered until it has been acknowledged, more than once if need be.
type Transport interface {
	// Publisher opens the sending side of one generator. confirm is called exactly
	// once for every batch that Publish has taken, from any goroutine: with nil when
	// the transport answers for it, else with the reason why it does not.
	Publisher(ctx context.Context, generator int, confirm func(Meta, error)) (Publisher, error)
	// Receiver opens the receiving side, with at most prefetch batches delivered and
	// not yet settled.
	Receiver(ctx context.Context, prefetch int) (Receiver, error)
	// Depth tells what is on its way now.
	Depth(ctx context.Context) (Depth, error)
	// Name says what it is, for reports: "direct", "RabbitMQ 3.10.8, queue …".
	Name() string
	// Close lets go of everything. What was not acknowledged stays where the
	// transport keeps it.
	Close() error
}

// Publisher sends the batches of one generator, on that generator's goroutine.
type Publisher interface {
	// Publish hands a batch over. It blocks while the transport takes no more: that is
	// the back-pressure on the generator. After nil the envelope belongs to the
	// transport; after an error the caller keeps it and confirm is not called.
	Publish(ctx context.Context, e *Envelope) error
	// Close waits until every batch is confirmed or refused, or ctx ends.
	Close(ctx context.Context) error
}

// Receiver takes deliveries. Receive may be called by several goroutines; a
// delivery is settled once, by any goroutine.
type Receiver interface {
	// Receive waits for the next batch. It returns ErrClosed after Close, and the
	// context's error when that ends.
	Receive(ctx context.Context) (*Delivery, error)
	// Ack says that the batch is durable: it is not delivered again. The delivery
	// must not be used afterwards.
	Ack(d *Delivery) error
	// Nack says that it is not: requeue puts it back to be delivered again, else it
	// goes to the dead letters.
	Nack(d *Delivery, requeue bool) error
	// Close ends the receiver as a crash would: what it has not settled is delivered
	// again, to the next receiver.
	Close() error
}

// ErrClosed is returned by a receiver that has been closed.
var ErrClosed = errors.New("the receiver is closed")

// Meta goes along with a batch: whose it is, and when it should have left and did.
// Times are nanoseconds of the run's own clock, which all stages share.
type Meta struct {
	// Generator is the number of the generator, First the sequence number of the
	// batch's first event and Count the number of events: together they name every
	// event of the batch.
	Generator uint32
	First     int64
	Count     int32
	// Step is the segment of the run in which the batch was generated, Warm that it
	// was in warm-up.
	Step uint16
	Warm bool
	// Due is when the schedule wanted the batch, Sent when it was handed over.
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

// Seal says whose batch the body is, its first event and how many there are.
func (e *Envelope) Seal(generator int, first int64, events int) {
	e.Generator, e.First, e.Count, e.Size = uint32(generator), first, int32(events), len(e.Body)
}

// Release gives an envelope back. Neither it nor its body may be used afterwards.
func (e *Envelope) Release() {
	e.Meta, e.Body = Meta{}, e.Body[:0]
	envelopes.Put(e)
}

// Delivery is a batch in the hands of the store stage.
type Delivery struct {
	Meta
	Body []byte
	// Received is when it arrived, by the run's clock.
	Received int64
	// Redelivered says that it had been delivered before.
	Redelivered bool
	// Tag is the transport's own number of it; Origin whatever else it keeps.
	Tag    uint64
	Origin any
}

// Depth is what a transport holds at an instant, in batches unless it says
// otherwise. What it cannot tell is -1.
type Depth struct {
	// Ready waits for the store stage, Unacked has been delivered and not settled.
	Ready, Unacked int64
	// Events and Bytes are those of both together.
	Events, Bytes int64
	// DeadLettered were given up for good.
	DeadLettered int64
	// Blocked is why the transport takes no more at the moment: "the broker's disk is
	// full"; empty when it does.
	Blocked string
}
