// Package ledger accounts for every event of a run, and reads all of them back to check
// whether the account is right.
package ledger

import (
	"sync"

	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// Ledger accounts for every event of the run. Its methods may be called from any
// goroutine.
type Ledger struct {
	trees int64 // how many events of each generator, the first, are its trees
	mu    sync.Mutex
	books map[uint32]*book
	news  map[uint32]*BookDelta // nil: nothing is reported
}

// book is the account of one generator's events, by their sequence numbers.
type book struct {
	// generated is the highest number used, sent how many events were handed over.
	generated, sent int64
	// unsent events were made but not accepted by the transport.
	unsent    int64
	confirmed seqset
	acked     seqset
	// refused events were given up by the store stage: invalid, or retries exhausted.
	refused seqset
	// settled is how many of the events that a run is asked for are durable or were given up: neither
	// trees nor those of its warm-up.
	settled int64
	lost    bool // together with its process
}

// New returns an empty ledger of generators whose first events, so many of each, are trees.
func New(trees int64) *Ledger { return &Ledger{trees: trees, books: map[uint32]*book{}} }

// of returns the book of a generator. The caller holds l.mu.
func (l *Ledger) of(generator uint32) *book {
	b := l.books[generator]
	if b == nil {
		b = &book{}
		l.books[generator] = b
	}
	return b
}

// Generated notes that a batch was made.
func (l *Ledger) Generated(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of(m.Generator)
	b.generated = max(b.generated, m.First+int64(m.Count)-1)
}

// Sent notes that the transport has accepted a batch.
func (l *Ledger) Sent(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(m.Generator).sent += int64(m.Count)
}

// Confirmed notes that the transport has confirmed a batch.
func (l *Ledger) Confirmed(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(m.Generator, m.First, int64(m.Count), toldConfirmed)
	l.of(m.Generator).confirmed.add(m.First, int64(m.Count))
}

// Acked notes that a batch is durable, and returns how many of its events were not
// durable before.
func (l *Ledger) Acked(m transport.Meta) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(m.Generator, m.First, int64(m.Count), toldAcked)
	b := l.of(m.Generator)
	return l.settle(b, &m, b.acked.add(m.First, int64(m.Count)))
}

// Refused notes that the store stage has given up a batch.
func (l *Ledger) Refused(m transport.Meta) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.note(m.Generator, m.First, int64(m.Count), toldRefused)
	b := l.of(m.Generator)
	return l.settle(b, &m, b.refused.add(m.First, int64(m.Count)))
}

// settle counts events of a batch that were not durable or given up before. The caller holds l.mu.
func (l *Ledger) settle(b *book, m *transport.Meta, added int64) int64 {
	if !m.Warm && m.First > l.trees {
		b.settled += added
	}
	return added
}

// Done returns how many of a generator's events that the run was asked for are durable or given up.
func (l *Ledger) Done(generator uint32) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(generator).settled
}

// Settled reports whether everything that was sent is durable or given up.
func (l *Ledger) Settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.books {
		if b.left() > 0 {
			return false
		}
	}
	return true
}

// Left returns how many events were sent and are neither durable nor given up.
func (l *Ledger) Left() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.books {
		n += b.left()
	}
	return n
}

// Unconfirmed returns how many events were sent that the transport has not confirmed.
func (l *Ledger) Unconfirmed() (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.books {
		n += b.sent - b.confirmed.n
	}
	return n
}

// Sums fills in what is known without reading back.
func (l *Ledger) Sums(f *report.Ledger) {
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

// Unsent reverts Sent: the transport did not accept the batch.
func (l *Ledger) Unsent(m transport.Meta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of(m.Generator)
	b.sent -= int64(m.Count)
	b.unsent += int64(m.Count)
}

// Has reports whether an event, and all before it, are durable or given up.
func (l *Ledger) Has(generator uint32, seq int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.of(generator)
	return b.acked.n+b.refused.n+b.unsent >= seq
}
