package coherence

import (
	"context"

	client "github.com/oracle/coherence-go-client/v2/coherence"

	"github.com/perfbench/perfbench/internal/store"
)

// Queue is a queue of the client, whose elements are bytes: what is used of
// client.NamedQueue.
type Queue interface {
	OfferTail(ctx context.Context, v []byte) error
	PeekHead(ctx context.Context) (*[]byte, error)
	PollHead(ctx context.Context) (*[]byte, error)
	Clear(ctx context.Context) error
	Size(ctx context.Context) (int32, error)
}

func queueName(s store.Space) string { return prefixed(s.Namespace, s.Name) }

// queue returns the queue of that name, which the server creates if necessary.
func (l *link) queue(name string) (Queue, error) {
	if q, ok := l.queues.Load(name); ok {
		return q.(Queue), nil
	}
	l.making.Lock()
	defer l.making.Unlock()
	if q, ok := l.queues.Load(name); ok {
		return q.(Queue), nil
	}
	q, err := client.GetNamedQueue[[]byte](l.life, l.session.(*client.Session), name, client.Queue)
	if err != nil {
		return nil, err
	}
	l.queues.Store(name, q)
	return q, nil
}

func onQueue[T any](ctx context.Context, c *Conn, what string, s store.Space, f func(ctx context.Context, q Queue) (T, error)) (T, error) {
	name := queueName(s)
	v, err := call(ctx, c, func(ctx context.Context, l *link) (T, error) {
		q, err := l.queue(name)
		if err != nil {
			var zero T
			return zero, err
		}
		return f(ctx, q)
	})
	return v, wrap(what, name, err)
}

// Offer appends an element to the tail of a queue.
func (c *Conn) Offer(ctx context.Context, s store.Space, val []byte) error {
	if err := fits(val); err != nil {
		return err
	}
	v := bytesOf(val)
	_, err := onQueue(ctx, c, "offer", s, func(ctx context.Context, q Queue) (none, error) { return none{}, q.OfferTail(ctx, v) })
	return err
}

// Poll removes the head of a queue and returns it; false if the queue is empty.
func (c *Conn) Poll(ctx context.Context, s store.Space) ([]byte, bool, error) {
	return head(onQueue(ctx, c, "poll", s, func(ctx context.Context, q Queue) (*[]byte, error) { return q.PollHead(ctx) }))
}

// Peek returns the head of a queue without removing it; false if the queue is empty.
func (c *Conn) Peek(ctx context.Context, s store.Space) ([]byte, bool, error) {
	return head(onQueue(ctx, c, "peek", s, func(ctx context.Context, q Queue) (*[]byte, error) { return q.PeekHead(ctx) }))
}

func head(v *[]byte, err error) ([]byte, bool, error) {
	if v == nil || err != nil {
		return nil, false, err
	}
	return *v, true, nil
}

// QueueSize returns how many elements a queue has.
func (c *Conn) QueueSize(ctx context.Context, s store.Space) (int64, error) {
	n, err := onQueue(ctx, c, "count", s, func(ctx context.Context, q Queue) (int32, error) { return q.Size(ctx) })
	return int64(n), err
}

// ClearQueue removes all elements of a queue.
func (c *Conn) ClearQueue(ctx context.Context, s store.Space) error {
	_, err := onQueue(ctx, c, "clear", s, func(ctx context.Context, q Queue) (none, error) { return none{}, q.Clear(ctx) })
	return err
}
