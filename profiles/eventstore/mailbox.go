package eventstore

import (
	"sync"

	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// mailbox receives the outcomes of a generator's batches, from any goroutine, until its
// worker records them.
type mailbox struct {
	mu  sync.Mutex
	in  []outcome
	out []outcome // the worker's
}

// outcome is a batch that is durable, or will not be.
type outcome struct {
	m   transport.Meta
	at  int64
	err error
}

func (x *mailbox) put(o outcome) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.in = append(x.in, o)
}

// drain returns what has arrived since; it is valid until the next call.
func (x *mailbox) drain() []outcome {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.in, x.out = x.out[:0], x.in
	return x.out
}

// durable puts the outcome of a batch into the mailbox of its generator.
func (b *binding) durable(m transport.Meta, at int64, err error) {
	b.mu.Lock()
	var x *mailbox
	if int(m.Generator) < len(b.boxes) {
		x = b.boxes[m.Generator]
	}
	b.mu.Unlock()
	if x != nil {
		x.put(outcome{m, at, err})
	}
}

// box returns the mailbox of a generator, which is made if necessary.
func (b *binding) box(generator int) *mailbox {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.boxes) <= generator {
		b.authors.Know(len(b.boxes))
		b.boxes = append(b.boxes, &mailbox{})
	}
	return b.boxes[generator]
}
