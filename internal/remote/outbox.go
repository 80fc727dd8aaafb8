package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Outbox owns what a worker has reported and the stream does not have yet. Its methods may be
// called from any goroutine.
type Outbox struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	subject string
	id      string        // of its sender, for the stream
	more    chan struct{} // capacity 1
	sent    chan struct{} // closed when all is

	mu    sync.Mutex
	queue []Report
	n     int64 // of the last report
	why   error // the last try failed; nil: it did not
}

func newOutbox(nc *nats.Conn, js jetstream.JetStream, subject, id string) *Outbox {
	return &Outbox{nc: nc, js: js, subject: subject, id: id, more: make(chan struct{}, 1), sent: make(chan struct{})}
}

// Report sends a report, its number included, when it can: until then it is kept.
func (b *Outbox) Report(r Report) {
	b.mu.Lock()
	b.n++
	r.N = b.n
	b.queue = append(b.queue, r)
	b.mu.Unlock()
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// send sends report after report, each until it is kept by the stream. A report that
// arrives twice is dropped there, by its id.
func (b *Outbox) send(ctx context.Context) {
	defer close(b.sent)
	for {
		b.mu.Lock()
		var r Report
		have := len(b.queue) > 0
		if have {
			r = b.queue[0]
		}
		b.mu.Unlock()
		if !have {
			select {
			case <-b.more:
				continue
			case <-ctx.Done():
				return
			}
		}
		if !b.deliver(ctx, r) {
			return
		}
		b.mu.Lock()
		b.queue = b.queue[1:]
		b.mu.Unlock()
		if r.Over {
			return
		}
	}
}

// deliver sends a report until it is kept; false: ctx ended before.
func (b *Outbox) deliver(ctx context.Context, r Report) bool {
	data := r.pack()
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := b.js.Publish(once, b.subject, data.Bytes(), jetstream.WithMsgID(b.id+"-"+strconv.FormatInt(r.N, 10)))
		cancel()
		b.mu.Lock()
		b.why = err
		b.mu.Unlock()
		if err == nil {
			return true
		}
		if errors.Is(err, nats.ErrMaxPayload) && !r.Over {
			return b.deliver(ctx, Report{N: r.N, Over: true, Err: fmt.Sprintf("a second of figures takes %d bytes, and NATS takes %d: raise its max_payload", data.Len(), b.nc.MaxPayload())})
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
}

// refused is why the stream does not take what is sent at the moment; nil: it does.
func (b *Outbox) refused() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

// empty waits until all was sent, or ctx ends.
func (b *Outbox) empty(ctx context.Context) error {
	select {
	case <-b.sent:
		return nil
	case <-ctx.Done():
		if why := b.refused(); why != nil {
			return fmt.Errorf("not all of what was measured could be sent: %w", why)
		}
		return fmt.Errorf("not all of what was measured could be sent: %w", context.Cause(ctx))
	}
}
