package eventstore

import (
	"sync"

	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// ledger keeps account of every event of the run. Its methods may be called from any
// goroutine.
type ledger struct {
	mu    sync.Mutex
	books map[uint32]*book
}

// book is the account of one generator's events, by their sequence numbers.
type book struct {
	// generated is the highest number given out, sent how many events were handed over.
	generated, sent int64
	// unsent were made, and not taken by the transport.
	unsent    int64
	confirmed seqset
	acked     seqset
	// refused were given up by the store stage: not valid, or retries exhausted.
	refused seqset
}

func newLedger() *ledger { return &ledger{books: map[uint32]*book{}} }

// of returns the book of a generator. The caller holds l.mu.
func (l *ledger) of(generator uint32) *book {
	b := l.books[generator]
	if b == nil {
		b = &book{}
		l.books[generator] = b
	}
	return b
}

// generated notes that a batch was made.
func (l *ledger) generated(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of(m.Generator)
	b.generated = max(b.generated, m.First+int64(m.Count)-1)
}

// sent notes that a batch was taken by the transport.
func (l *ledger) sent(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(m.Generator).sent += int64(m.Count)
}

// confirmed notes that the transport answers for a batch.
func (l *ledger) confirmed(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(m.Generator).confirmed.add(m.First, int64(m.Count))
}

// acked notes that a batch is durable and tells how many of its events were not
// before.
func (l *ledger) acked(m transport.Meta) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(m.Generator).acked.add(m.First, int64(m.Count))
}

// refused notes that the store stage has given a batch up.
func (l *ledger) refused(m transport.Meta) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(m.Generator).refused.add(m.First, int64(m.Count))
}

// settled says whether everything that was sent is durable or given up.
func (l *ledger) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.books {
		if b.acked.n+b.refused.n < b.sent {
			return false
		}
	}
	return true
}

// left is how many events were sent and are neither durable nor given up.
func (l *ledger) left() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.books {
		n += max(b.sent-b.acked.n-b.refused.n, 0)
	}
	return n
}

// sums fills in what is known without reading back.
func (l *ledger) sums(f *facts.Ledger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.Generated, f.Sent, f.Confirmed, f.Acked, f.DeadLettered = 0, 0, 0, 0, 0
	for _, b := range l.books {
		f.Generated += b.generated
		f.Sent += b.sent
		f.Confirmed += b.confirmed.n
		f.Acked += b.acked.n
		f.DeadLettered += b.refused.n
	}
}

// unsent takes back what sent noted: the transport did not take the batch.
func (l *ledger) unsent(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of(m.Generator)
	b.sent -= int64(m.Count)
	b.unsent += int64(m.Count)
}

// has says whether an event, and all before it, are durable or given up.
func (l *ledger) has(generator uint32, seq int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of(generator)
	return b.acked.n+b.refused.n+b.unsent >= seq
}
