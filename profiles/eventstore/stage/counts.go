package stage

import (
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// Stages that a batch passes, in display order.
const (
	Send = iota
	Confirm
	Receive
	Work
	Store
	Durable
	Count // how many there are
)

// Names are those of the stages, in the same order.
var Names = []string{report.StageSend, report.StageConfirm, report.StageReceive, report.StageWork, report.StageStore, report.StageDurable}

// Steps is how many steps have figures of their own. What happens in later ones counts in the
// last of them.
const Steps = measure.MostStaged

// Counts are how many events, batches and bytes have come how far, by step. A step is a segment
// of the run, or the drain. What is made, sent and confirmed counts in the step in which it was
// made, all else in the step in force.
//
// They are not operations, because operations count in one unit, and know nothing of bytes and
// of what was compressed. Adding to them takes neither lock nor memory.
type Counts struct {
	steps    [Steps]step
	drain    step
	warm     step // it is not reported
	segment  atomic.Int64
	draining atomic.Bool
	lastDue  atomic.Int64 // of the batch that became durable most recently
}

// amount is a number of events, and of the batches that they came in.
type amount struct{ events, batches atomic.Int64 }

func (a *amount) add(events int32) {
	a.events.Add(int64(events))
	a.batches.Add(1)
}

func (a *amount) read() report.Amount {
	return report.Amount{Events: a.events.Load(), Batches: a.batches.Load()}
}

// step has the fields of report.Step that are counted.
type step struct {
	offered, sent, confirmed, received, acked                                         amount
	stored, failed, dead, deadBatches                                                 atomic.Int64
	sentBytes, receivedBytes, rawBytes, compressedBytes, linkBytes, storedBytes, rows atomic.Int64
	statements, retries, blockedNs                                                    atomic.Int64
	maxBatch                                                                          atomic.Int64
}

// numbers are those that add up over processes.
func (s *step) numbers() []*atomic.Int64 {
	out := []*atomic.Int64{
		&s.stored, &s.failed, &s.dead, &s.deadBatches, &s.sentBytes, &s.receivedBytes, &s.rawBytes, &s.compressedBytes,
		&s.linkBytes, &s.storedBytes, &s.rows, &s.statements, &s.retries, &s.blockedNs,
	}
	for _, a := range []*amount{&s.offered, &s.sent, &s.confirmed, &s.received, &s.acked} {
		out = append(out, &a.events, &a.batches)
	}
	return out
}

// report returns what was counted in a step.
func (s *step) facts() report.Step {
	failed, dead := s.failed.Load(), s.deadBatches.Load()
	return report.Step{
		Offered: s.offered.read(), Sent: s.sent.read(), Confirmed: s.confirmed.read(), Received: s.received.read(), Acked: s.acked.read(),
		Stored:   report.Amount{Events: s.stored.Load(), Batches: s.acked.batches.Load()},
		MaxBatch: int(s.maxBatch.Load()), SentBytes: s.sentBytes.Load(), ReceivedBytes: s.receivedBytes.Load(), RawBytes: s.rawBytes.Load(),
		CompressedBytes: s.compressedBytes.Load(), LinkBytes: s.linkBytes.Load(), StoredBytes: s.storedBytes.Load(), Rows: s.rows.Load(),
		Statements: s.statements.Load(), Retries: s.retries.Load(), DeadLettered: s.dead.Load(), DeadBatches: &dead, Failed: &failed, BlockedNs: s.blockedNs.Load(),
	}
}

// Enter notes the segment in which a generator works.
func (c *Counts) Enter(segment uint16, warm bool) {
	if !warm {
		raise(&c.segment, int64(segment))
	}
}

// BeginDrain makes the drain the step in force.
func (c *Counts) BeginDrain() { c.draining.Store(true) }

// Now returns the segment in force, as generators know it, and whether the drain has begun.
func (c *Counts) Now() (segment uint16, drains bool) {
	return uint16(c.segment.Load()), c.draining.Load()
}

// LastDue returns when the batch was due that became durable most recently.
func (c *Counts) LastDue() int64 { return c.lastDue.Load() }

// of returns the step in which a batch was made.
func (c *Counts) of(m *transport.Meta) *step {
	if m.Warm {
		return &c.warm
	}
	return &c.steps[min(m.Step, Steps-1)]
}

// now returns the step in force.
func (c *Counts) now(warm bool) *step {
	switch {
	case warm:
		return &c.warm
	case c.draining.Load():
		return &c.drain
	}
	return &c.steps[min(c.segment.Load(), Steps-1)]
}

// Made counts a batch that was generated, whether or not it was handed over.
func (c *Counts) Made(m *transport.Meta) { c.of(m).offered.add(m.Count) }

// Sent counts a batch that the transport has accepted.
func (c *Counts) Sent(m *transport.Meta) {
	s := c.of(m)
	s.sent.add(m.Count)
	s.sentBytes.Add(int64(m.Size))
}

// Confirmed counts a batch that the transport has confirmed.
func (c *Counts) Confirmed(m *transport.Meta) { c.of(m).confirmed.add(m.Count) }

// received counts a delivery to the store stage.
func (c *Counts) received(d *transport.Delivery) {
	s := c.now(d.Warm)
	s.received.add(d.Count)
	s.receivedBytes.Add(int64(len(d.Body)))
	raise(&s.maxBatch, int64(d.Count))
}

// wrote counts a stored record with that many events with status FAILED, and the size of its
// links before compression.
func (c *Counts) wrote(warm bool, r *model.Record, failed, rawLinks int) {
	s := c.now(warm)
	s.rawBytes.Add(int64(r.Raw))
	s.compressedBytes.Add(int64(len(r.Body)))
	s.linkBytes.Add(int64(rawLinks))
	s.storedBytes.Add(int64(len(r.Body) + len(r.Links) + len(r.ID) + len(r.Parent)))
	s.rows.Add(1)
	s.failed.Add(int64(failed))
	s.stored.Add(int64(r.Count))
}

// acked counts a batch that is entirely durable.
func (c *Counts) acked(m *transport.Meta) {
	c.now(m.Warm).acked.add(m.Count)
	raise(&c.lastDue, m.Due)
}

// refused counts a batch that was rejected or given up.
func (c *Counts) refused(m *transport.Meta) {
	s := c.now(m.Warm)
	s.dead.Add(int64(m.Count))
	s.deadBatches.Add(1)
}

// retried counts attempts that are made again, blocked how long a thread waited for room.
func (c *Counts) retried(warm bool, n int)         { c.now(warm).retries.Add(int64(n)) }
func (c *Counts) blocked(warm bool, ns int64)      { c.now(warm).blockedNs.Add(ns) }
func (c *Counts) called(warm bool, statements int) { c.now(warm).statements.Add(int64(statements)) }

// raise makes n at least to.
func raise(n *atomic.Int64, to int64) {
	for now := n.Load(); to > now && !n.CompareAndSwap(now, to); now = n.Load() {
	}
}

// each calls f for every step there can be, and for the drain.
func (c *Counts) each(f func(*step)) {
	f(&c.drain)
	for i := range c.steps {
		f(&c.steps[i])
	}
}

// Numbers are those that add up over processes.
func (c *Counts) Numbers() (out []*atomic.Int64) {
	c.each(func(s *step) { out = append(out, s.numbers()...) })
	return out
}

// MaxBatch returns how many events the largest batch had that was received in the drain, and in
// each segment so far.
func (c *Counts) MaxBatch() []int64 {
	out := []int64{c.drain.maxBatch.Load()}
	for i := range min(c.segment.Load()+1, Steps) {
		out = append(out, c.steps[i].maxBatch.Load())
	}
	return out
}

// RaiseMaxBatch takes in the MaxBatch of another process.
func (c *Counts) RaiseMaxBatch(most []int64) {
	for i, n := range most {
		if i == 0 {
			raise(&c.drain.maxBatch, n)
		} else if i <= Steps {
			raise(&c.steps[i-1].maxBatch, n)
		}
	}
}

// Step returns what was counted in a segment.
func (c *Counts) Step(segment int) report.Step { return c.steps[min(segment, Steps-1)].facts() }

// Drained returns what was counted in the drain.
func (c *Counts) Drained() report.Step { return c.drain.facts() }

// Statements returns how many statements of the store have worked.
func (c *Counts) Statements() (n int64) {
	c.each(func(s *step) { n += s.statements.Load() })
	return n
}

// Sums are the totals over all steps at a moment.
type Sums struct {
	At                                      int64
	Offered, Sent, Received, Stored         int64
	Batches, ReceivedBytes, Raw, Compressed int64
}

// Add adds the totals of another process.
func (t *Sums) Add(o *Sums) {
	t.Offered += o.Offered
	t.Sent += o.Sent
	t.Received += o.Received
	t.Stored += o.Stored
	t.Batches += o.Batches
	t.ReceivedBytes += o.ReceivedBytes
	t.Raw += o.Raw
	t.Compressed += o.Compressed
}

// Sums returns the totals so far.
func (c *Counts) Sums() (t Sums) {
	c.each(func(s *step) {
		t.Add(&Sums{
			Offered: s.offered.events.Load(), Sent: s.sent.events.Load(), Received: s.received.events.Load(), Stored: s.stored.Load(),
			Batches: s.received.batches.Load(), ReceivedBytes: s.receivedBytes.Load(), Raw: s.rawBytes.Load(), Compressed: s.compressedBytes.Load(),
		})
	})
	return t
}
