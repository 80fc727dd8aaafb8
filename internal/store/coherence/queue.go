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

func onQueue[T any](ctx context.Context, ss *sessions, what string, s store.Space, f func(ctx context.Context, q Queue) (T, error)) (T, error) {
	name := queueName(s)
	v, err := call(ctx, ss, func(ctx context.Context, l *link) (T, error) {
		q, err := l.queue(name)
		if err != nil {
			var zero T
			return zero, err
		}
		return f(ctx, q)
	})
	return v, wrap(what, name, err)
}

// Queues are the queues that keep the elements of spaces.
type Queues struct{ sessions *sessions }

// Offer appends an element to the tail of a queue.
func (q *Queues) Offer(ctx context.Context, s store.Space, val []byte) error {
	if err := fits(val); err != nil {
		return err
	}
	v := bytesOf(val)
	_, err := onQueue(ctx, q.sessions, "offer", s, func(ctx context.Context, queue Queue) (none, error) { return none{}, queue.OfferTail(ctx, v) })
	return err
}

// Poll removes the head of a queue and returns it; false if the queue is empty.
func (q *Queues) Poll(ctx context.Context, s store.Space) ([]byte, bool, error) {
	return head(onQueue(ctx, q.sessions, "poll", s, func(ctx context.Context, queue Queue) (*[]byte, error) { return queue.PollHead(ctx) }))
}

// Peek returns the head of a queue without removing it; false if the queue is empty.
func (q *Queues) Peek(ctx context.Context, s store.Space) ([]byte, bool, error) {
	return head(onQueue(ctx, q.sessions, "peek", s, func(ctx context.Context, queue Queue) (*[]byte, error) { return queue.PeekHead(ctx) }))
}

func head(v *[]byte, err error) ([]byte, bool, error) {
	if v == nil || err != nil {
		return nil, false, err
	}
	return *v, true, nil
}

// Size returns how many elements a queue has.
func (q *Queues) Size(ctx context.Context, s store.Space) (int64, error) {
	n, err := onQueue(ctx, q.sessions, "count", s, func(ctx context.Context, queue Queue) (int32, error) { return queue.Size(ctx) })
	return int64(n), err
}

// Clear removes all elements of a queue.
func (q *Queues) Clear(ctx context.Context, s store.Space) error {
	_, err := onQueue(ctx, q.sessions, "clear", s, func(ctx context.Context, queue Queue) (none, error) { return none{}, queue.Clear(ctx) })
	return err
}
