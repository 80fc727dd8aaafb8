package eventstore

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// mailbox receives what became of a generator's batches, from any goroutine, until its worker or
// the drain records it.
type mailbox struct {
	mu      sync.Mutex
	in, out mail // out is the reader's
}

// mail is what has arrived: batches that are durable, or will not be; and how long stages took.
type mail struct {
	outcomes []outcome
	timings  []timing
}

// outcome is a batch that is durable, or will not be.
type outcome struct {
	m   transport.Meta
	at  int64
	err error
}

// timing is how long a stage took, in a step.
type timing struct {
	stage    int
	segment  uint16
	from, to int64
}

// read returns what has arrived since; it is valid until the next call.
func (x *mailbox) read() *mail {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.out.outcomes, x.out.timings = x.out.outcomes[:0], x.out.timings[:0]
	x.in, x.out = x.out, x.in
	return &x.out
}

// record records what has arrived since as operations and stages of an iteration.
func (x *mailbox) record(it *workload.Iteration, durable workload.Op, zero int64) {
	m := x.read()
	for i := range m.outcomes {
		if o := &m.outcomes[i]; o.m.Warm == it.Warmup {
			it.Record(durable, int(o.m.Count), o.m.Due-zero, o.m.Due-zero, o.at-zero, o.err)
		}
	}
	for _, t := range m.timings {
		it.Stage(t.stage, t.segment, t.from-zero, t.to-zero)
	}
}

// mailboxes are those of all generators. Its methods may be called from any goroutine.
type mailboxes struct {
	counts  *stage.Counts
	authors *generate.Authors
	mu      sync.Mutex // held to add any
	all     atomic.Pointer[map[int]*mailbox]
}

// each returns all of them, by the numbers of their generators. The map does not change.
func (l *mailboxes) each() map[int]*mailbox {
	if all := l.all.Load(); all != nil {
		return *all
	}
	return nil
}

// box returns the mailbox of a generator, which is made if necessary.
func (l *mailboxes) box(generator int) *mailbox {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.each()
	if x := all[generator]; x != nil {
		return x
	}
	l.authors.Know(generator)
	x, more := &mailbox{}, make(map[int]*mailbox, len(all)+1)
	maps.Copy(more, all)
	more[generator] = x
	l.all.Store(&more)
	return x
}

// of returns the mailbox for a batch; nil: there is none.
func (l *mailboxes) of(m *transport.Meta) *mailbox { return l.each()[int(m.Generator)] }

// durable puts the outcome of a batch into the mailbox of its generator.
func (l *mailboxes) durable(m transport.Meta, at int64, err error) {
	if x := l.of(&m); x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.in.outcomes = append(x.in.outcomes, outcome{m, at, err})
	}
}

// stageTook puts how long a stage took for a batch there. That counts in the step in force; if made is
// set, in that in which the batch was made.
func (l *mailboxes) stageTook(m *transport.Meta, s int, made bool, from, to int64) {
	x := l.of(m)
	if x == nil || m.Warm {
		return
	}
	t := timing{s, m.Step, from, to}
	if !made {
		var drains bool
		if t.segment, drains = l.counts.Now(); drains {
			t.stage += stage.Count
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.in.timings = append(x.in.timings, t)
}
