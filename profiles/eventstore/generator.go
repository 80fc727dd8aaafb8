package eventstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// quota is how many events the generators have yet to make together.
type quota struct {
	limited bool
	left    atomic.Int64
	// anew is how many are to be made before these and not measured, in the place of events that
	// were measured in another process and not stored.
	anew atomic.Int64
}

func newQuota(events int64) *quota {
	q := &quota{limited: events > 0}
	q.left.Store(events)
	return q
}

// claim takes n events, or what is left.
func (q *quota) claim(n int, warm bool) int {
	if !q.limited || warm {
		return n
	}
	return take(&q.left, n)
}

// again takes n events, or what is left, of those to be made anew.
func (q *quota) again(n int, warm bool) int {
	if warm || q.anew.Load() <= 0 {
		return 0
	}
	return take(&q.anew, n)
}

// take takes n, or what is left.
func take(from *atomic.Int64, n int) int {
	left := from.Add(int64(-n)) + int64(n)
	return int(min(max(left, 0), int64(n)))
}

// over reports whether all events have been made.
func (q *quota) over() bool { return q.limited && q.left.Load() <= 0 && q.anew.Load() <= 0 }

// generatorTask is a worker that generates: one batch per iteration or, with ticks, all
// batches of a tick.
type generatorTask struct {
	b       *binding
	g       *generate.Generator
	box     *mailbox
	pub     transport.Publisher
	planted bool
	missing float64         // the remainder lost by integer division, in compat
	end     context.Context // ends when batches may no longer be handed over; see limited
}

func (b *binding) newGeneratorTask(worker int) (workload.Task, error) {
	number := b.s.load.stake.Number(worker)
	pub, err := b.way.publisher(number, b.answer)
	if err != nil {
		return nil, err
	}
	return &generatorTask{b: b, g: generate.New(&b.s.Shape, number), box: b.boxes.box(number), pub: pub}, nil
}

// answer notes the transport's answer about a batch.
func (b *binding) answer(m transport.Meta, err error) {
	if errors.Is(err, transport.ErrUnconfirmed) {
		return // no answer was requested
	}
	if err != nil {
		b.failures.Add(fmt.Errorf("publish: not confirmed: %w", err))
		return
	}
	b.counts.Confirmed(&m)
	b.boxes.stageTook(&m, stage.Confirm, true, m.Sent, b.clock.now())
	b.ledger.Confirmed(m)
}

// Do generates.
func (k *generatorTask) Do(ctx context.Context, it *workload.Iteration) error {
	b := k.b
	b.clock.follow(it)
	k.collect(it)
	b.counts.Enter(it.Segment, it.Warmup)
	if !k.planted {
		if b.s.load.stake.Again > 0 && b.quota.over() {
			return workload.ErrDone // whoever had this part had made all events
		}
		if err := k.plant(ctx, it); errors.Is(err, errTimeUp) {
			return workload.ErrDone
		} else if err != nil {
			return err
		}
		k.planted = true
	}
	if b.search != nil && !it.Warmup {
		return k.searched(ctx, it)
	}
	if n := b.quota.again(it.Settings.Batch, it.Warmup); n > 0 {
		if _, _, err := k.hand(ctx, it, n, it.Due()); !errors.Is(err, errTimeUp) {
			return err
		}
		return workload.ErrDone
	}
	if b.s.load.pacing == pacingTicked {
		return k.tick(ctx, it)
	}
	n := b.quota.claim(it.Settings.Batch, it.Warmup)
	if n == 0 {
		return workload.ErrDone
	}
	return k.publish(ctx, it, opPublish, n, it.Due())
}

// searched generates the next batch that a search wants.
func (k *generatorTask) searched(ctx context.Context, it *workload.Iteration) error {
	due, ok := k.b.search.pacer.Slot(ctx, it.Settings.Batch)
	if !ok {
		return workload.ErrDone
	}
	n := k.b.quota.claim(it.Settings.Batch, false)
	if n == 0 {
		return workload.ErrDone
	}
	return k.publish(ctx, it, opPublish, n, k.b.clock.since(due))
}

// collect records the outcomes of earlier batches.
func (k *generatorTask) collect(it *workload.Iteration) {
	k.box.record(it, opDurable, k.b.clock.zero.Load())
}

// hand generates a batch of n events and hands it over, from start on, and returns how
// many it has. due is by the iteration's clock.
func (k *generatorTask) hand(ctx context.Context, it *workload.Iteration, n int, due int64) (start int64, events int, err error) {
	start = it.Now()
	e := transport.NewEnvelope()
	var first int64
	e.Body, first, events = k.g.Make(e.Body[:0], wire.StampOf(k.b.clock.wall()), n, it.Settings.Payload)
	e.Seal(k.g.Number, first, events)
	return start, events, k.send(ctx, it, e, due)
}

// publish hands a batch over, and records that.
func (k *generatorTask) publish(ctx context.Context, it *workload.Iteration, op workload.Op, n int, due int64) error {
	start, events, err := k.hand(ctx, it, n, due)
	if errors.Is(err, errTimeUp) {
		return workload.ErrDone
	}
	it.Record(op, events, min(due, start), start, it.Now(), err)
	return err
}

// send hands a batch to the transport.
func (k *generatorTask) send(ctx context.Context, it *workload.Iteration, e *transport.Envelope, due int64) error {
	b := k.b
	e.Step, e.Warm = it.Segment, it.Warmup
	zero := b.clock.zero.Load()
	e.Sent = b.clock.now()
	e.Due = min(due+zero, e.Sent)
	m := e.Meta
	b.ledger.Generated(m)
	b.counts.Made(&m)
	b.ledger.Sent(m) // before it can be acknowledged
	if err := k.pub.Publish(k.limited(ctx, it), e); err != nil {
		e.Release()
		b.ledger.Unsent(m)
		return fmt.Errorf("publish: %w", err)
	}
	b.counts.Sent(&m)
	it.Stage(stage.Send, it.Segment, m.Due-zero, m.Sent-zero)
	return nil
}

// plant makes the trees and waits until they are durable, because children must come
// later than their parents. In compat they are part of the first batch instead.
func (k *generatorTask) plant(ctx context.Context, it *workload.Iteration) error {
	b := k.b
	if b.s.Compat {
		return nil
	}
	start := it.Now()
	err := k.g.Plant(wire.StampOf(b.clock.wall()), it.Settings.Payload, 1000, func(first int64) error {
		e := transport.NewEnvelope()
		e.Body = k.g.Encode(e.Body[:0])
		e.Seal(k.g.Number, first, len(k.g.Batch.Events))
		return k.send(ctx, it, e, it.Now())
	})
	if err == nil {
		err = b.awaitTree(k.limited(ctx, it), k.g)
	}
	it.Record(opTree, int(k.g.Next-1), start, start, it.Now(), err)
	return err
}

// awaitTree waits until the events of a generator's trees are durable. A broker that has lost them, after it
// confirmed them, holds up nothing: that they are missing is for the verification to tell.
func (b *binding) awaitTree(ctx context.Context, g *generate.Generator) error {
	q := quiet{asked: time.Now()}
	for !b.ledger.Has(uint32(g.Number), g.Next-1) {
		if (!b.s.answered() || b.ledger.Unconfirmed() == 0) && q.lasts(ctx, b.drain) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// tick generates the load of one tick at once.
func (k *generatorTask) tick(ctx context.Context, it *workload.Iteration) error {
	b := k.b
	total := b.s.unitsOf(it.Settings)
	due := it.Due()
	if b.s.Compat {
		if k.skips(it, total, due) {
			return nil
		}
	}
	if total = b.quota.claim(total, it.Warmup); total == 0 {
		return workload.ErrDone
	}
	for total > 0 {
		n := min(total, it.Settings.Batch)
		if err := k.publish(ctx, it, opPublish, n, due); err != nil {
			return err
		}
		total -= n
		k.collect(it)
	}
	return nil
}

// skips reports whether the original would not have sent this tick: because it did not
// catch up, or because integer division drops remainders that add up to one.
func (k *generatorTask) skips(it *workload.Iteration, total int, due int64) bool {
	b := k.b
	period := int64(time.Second) / int64(b.s.load.tickRate)
	if it.Now()-due > period {
		b.failures.Lose(func(l *report.Losses) { l.LateTicks += int64(total) })
		return true
	}
	per := it.Settings.Rate / float64(it.Settings.Threads) / float64(b.s.load.tickRate)
	if k.missing += per - float64(total); k.missing >= float64(total) {
		k.missing -= float64(total)
		b.failures.Lose(func(l *report.Losses) { l.Remainder += int64(total) })
		return true
	}
	return false
}

// limited returns a context that ends when the run's time is up: a transport that
// accepts nothing must not hold up a generator any longer.
func (k *generatorTask) limited(ctx context.Context, it *workload.Iteration) context.Context {
	if k.b.s.load.duration == 0 {
		return ctx
	}
	if k.end == nil {
		// The margin is for what is being handed over just then.
		left := k.b.s.load.duration - time.Duration(it.Now()) + 500*time.Millisecond
		var cancel context.CancelFunc
		k.end, cancel = context.WithTimeoutCause(ctx, left, errTimeUp)
		context.AfterFunc(k.b.way.stopped, cancel) // at the latest
	}
	return k.end
}
