// Package stage is the store stage: it takes batches from the transport, validates,
// compresses and stores them, and settles them.
package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Options are what the store stage needs to know about the run.
type Options struct {
	// Codec compresses content of more than CompressOver bytes; content over BatchLimit
	// is split.
	Codec                    byte
	CompressOver, BatchLimit int
	// MaxTasks and MaxTaskBytes limit what the stage holds. Composers is how many
	// goroutines compose, PerCall how many records one call stores at most.
	MaxTasks           int
	MaxTaskBytes       int64
	Composers, PerCall int
	// Timeout is that of one call, Retries how often it is repeated, first after
	// RetryBase; with Requeue, what still fails is delivered again.
	Timeout   time.Duration
	Retries   int
	RetryBase time.Duration
	Requeue   bool
	// FlushEvery is how often statistics are written; 0: never.
	FlushEvery time.Duration
	// RandomID gives a batch an id that is not derived from its events; Compat loses
	// what the original loses.
	RandomID, Compat bool
}

// Stage is the store stage: composers take deliveries and make records of them; writers
// store these, several at a time, and settle the deliveries. It holds no more than the
// gate admits.
//
//	Receive ─▶ composer: decode, validate, [gate], encode, compress ─▶ writer: store, retry ─▶ Ack
type Stage struct {
	Options  *Options
	Layer    model.Intake
	Traits   model.Traits
	Receiver transport.Receiver
	Gate     *Gate
	Counts   *Counts
	Failures *Failures
	Ledger   *ledger.Ledger
	Clock    func() int64 // the run's
	Wall     func() int64 // ns since 1970
	// Took is called with how long a stage took, Durable with a batch that is durable or will not
	// be, Stored with a record that is.
	Took    func(m transport.Meta, stage int, from, to int64)
	Durable func(m transport.Meta, at int64, err error)
	Stored  func(r *model.Record)

	items  chan *item
	cancel context.CancelCauseFunc
	ctx    context.Context
	all    sync.WaitGroup
	// process is the id of the stage in random batch ids, which number counts.
	process uint64
	number  atomic.Int64

	tmu     sync.Mutex
	tallies model.Tallies
}

// errCrashed ends a stage as a crash would.
var errCrashed = errors.New("the store stage was ended without notice")

// Start begins the work of a stage, which goes on until Crash or Stop.
func (st *Stage) Start() error {
	st.ctx, st.cancel = context.WithCancelCause(context.Background())
	st.items = make(chan *item, st.Options.MaxTasks)
	st.process = rand.Uint64()
	st.tallies.Frames = map[model.Frame]model.Amount{}
	for range st.Options.Composers {
		c, err := newComposer(st)
		if err != nil {
			st.cancel(err)
			return err
		}
		st.all.Go(fault.Guarded(func() { st.compose(c) }))
	}
	for range min(st.Traits.Writers, st.Options.MaxTasks) {
		st.all.Go(fault.Guarded(st.write))
	}
	if st.Options.FlushEvery > 0 {
		st.all.Go(fault.Guarded(st.flushing))
	}
	return nil
}

// Crash ends the stage at once: what it has not settled is delivered again.
func (st *Stage) Crash() {
	st.cancel(errCrashed)
	_ = st.Receiver.Close() // the transport takes back what is unsettled
	st.all.Wait()
}

// Stop ends the stage when its work is done or given up, and writes the statistics.
func (st *Stage) Stop(ctx context.Context) error {
	st.Crash()
	if st.Options.FlushEvery == 0 {
		return nil
	}
	return st.flush(ctx)
}

func (st *Stage) compose(c *composer) {
	for {
		d, err := st.Receiver.Receive(st.ctx)
		if err != nil {
			if errors.Is(err, transport.ErrClosed) || st.ctx.Err() != nil {
				return
			}
			st.Failures.Add(fmt.Errorf("receive: %w", err))
			if !st.sleep(100 * time.Millisecond) {
				return
			}
			continue
		}
		st.Counts.received(d)
		st.Took(d.Meta, Receive, d.Sent, d.Received)
		if err := c.work(st.ctx, d); err != nil {
			return // the stage is over
		}
	}
}

// reject gives up a delivery that violates a rule.
func (st *Stage) reject(d *transport.Delivery, err error) {
	if st.Options.Compat {
		st.Failures.Lose(func(l *report.Losses) {
			if d.First == 1 {
				l.RootRejected += int64(d.Count)
			} else {
				l.Rejected += int64(d.Count)
			}
		})
	}
	st.Failures.Add(err)
	st.refuse(d, err)
}

// refuse gives up a delivery for good.
func (st *Stage) refuse(d *transport.Delivery, err error) {
	meta := d.Meta
	if st.Receiver.Nack(d, false) != nil {
		return // it will be delivered again
	}
	st.Ledger.Refused(meta)
	st.Counts.refused(&meta)
	st.Durable(meta, st.Clock(), err)
}

// giveUp ends a job that cannot be stored.
func (st *Stage) giveUp(j *job, err error) {
	if !j.failed.Swap(true) {
		st.Failures.Add(err)
	}
	st.settle(j, err)
}

// settle notes that one record of a job is finished, and settles the delivery with the
// last one.
func (st *Stage) settle(j *job, err error) {
	if j.left.Add(-1) > 0 {
		return
	}
	if !j.failed.Load() {
		meta := j.d.Meta
		now := st.Clock()
		if e := j.from.Ack(j.d); e != nil {
			st.Failures.Add(fmt.Errorf("acknowledge: %w", e))
			return // it will be delivered again, and stored again under the same id
		}
		if st.Ledger.Acked(meta) > 0 { // unless it was already acknowledged
			st.Counts.acked(&meta)
			st.Took(meta, Durable, meta.Due, now)
			st.Durable(meta, now, nil)
		}
		return
	}
	if err == nil {
		err = errors.New("a part of the batch could not be stored")
	}
	if st.Options.Requeue && !errors.Is(err, errInvalid) && !errors.Is(err, model.ErrPermanent) {
		_ = j.from.Nack(j.d, true)
		return
	}
	if st.Options.Compat {
		st.Failures.Lose(func(l *report.Losses) { l.Exhausted += int64(j.d.Count) })
	}
	st.refuse(j.d, err)
}

// write stores records until the stage ends.
func (st *Stage) write() {
	var group []*item
	var rs []*model.Record // the records of the group
	for {
		group, rs = group[:0], rs[:0]
		select {
		case r := <-st.items:
			group = append(group, r)
		case <-st.ctx.Done():
			return
		}
	more:
		for len(group) < min(st.Traits.Group, st.Options.PerCall) {
			select {
			case r := <-st.items:
				group = append(group, r)
			default:
				break more
			}
		}
		for _, r := range group {
			rs = append(rs, &r.Record)
		}
		st.keep(group, rs)
	}
}

// keep stores a group of records, and if that fails each on its own.
func (st *Stage) keep(group []*item, rs []*model.Record) {
	if len(group) > 1 {
		if st.attempt(group, rs) == nil {
			st.done(group, nil)
			return
		}
		st.Counts.retried(group[0].job.d.Warm, len(group))
	}
	for i := range group {
		err := st.persist(group[i:i+1], rs[i:i+1])
		if st.ctx.Err() != nil {
			return // to be delivered again
		}
		st.done(group[i:i+1], err)
	}
}

// persist stores one record, repeatedly until it is stored or its retries are
// exhausted.
func (st *Stage) persist(one []*item, rs []*model.Record) error {
	for try := 0; ; try++ {
		err := st.attempt(one, rs)
		if err == nil || errors.Is(err, model.ErrPermanent) || try >= st.Options.Retries {
			return err
		}
		st.Counts.retried(one[0].job.d.Warm, 1)
		if !st.sleep(st.backoff(try)) {
			return err
		}
	}
}

// backoff returns the wait before the next attempt: doubling up to 5 s with jitter or,
// like the original, a multiple of the base.
func (st *Stage) backoff(try int) time.Duration {
	base := st.Options.RetryBase
	if st.Options.Compat {
		return time.Duration(try+1) * base
	}
	d := min(base<<min(try, 16), max(5*time.Second, base))
	return d/2 + rand.N(d/2+1)
}

// sleep waits, and returns false if the stage ends first.
func (st *Stage) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-st.ctx.Done():
		return false
	}
}

// attempt calls the store once.
func (st *Stage) attempt(group []*item, rs []*model.Record) error {
	ctx, cancel := context.WithTimeout(st.ctx, st.Options.Timeout)
	defer cancel()
	began := st.Clock()
	n, err := st.Layer.Store(ctx, rs)
	if err != nil {
		if st.ctx.Err() == nil {
			st.Failures.Add(err)
		}
		return err
	}
	now := st.Clock()
	for _, r := range group {
		d := r.job.d
		st.Counts.wrote(d.Warm, &r.Record, r.failed, r.rawLinks)
		st.Took(d.Meta, Work, now-r.worked, now)
	}
	first := group[0].job.d
	st.Counts.called(first.Warm, n)
	st.Took(first.Meta, Store, began, now)
	return nil
}

// done releases records that are stored or given up.
func (st *Stage) done(group []*item, err error) {
	for _, r := range group {
		j, size := r.job, r.size
		if err == nil {
			st.Stored(&r.Record)
			st.settle(j, nil)
		} else {
			st.giveUp(j, fmt.Errorf("store: %w", err))
		}
		later, _ := model.PartOf(r.ID)
		r.release()
		if later < 2 { // an item in parts entered as one
			st.Gate.leave(size)
		}
	}
}

// nextID makes an id as the original does: that of the process, with a counter.
func (st *Stage) nextID(dst []byte) []byte {
	d := generate.Dice(st.process)
	dst = generate.AppendUUID(dst, d.Next(), d.Next())
	return strconv.AppendInt(append(dst, '-'), st.number.Add(1), 10)
}

// count adds events to the statistics.
func (st *Stage) count(es []wire.Event) {
	st.tmu.Lock()
	defer st.tmu.Unlock()
	st.tallies.Add(es)
	first, last := es[0].ID.Start.NS(), es[0].ID.Start.NS()
	for i := range es {
		first, last = min(first, es[i].ID.Start.NS()), max(last, es[i].ID.Start.NS())
	}
	st.tallies.Longest = max(st.tallies.Longest, (last-first)/1e6)
}

// flushing writes statistics at intervals.
func (st *Stage) flushing() {
	for st.sleep(st.Options.FlushEvery) {
		if err := st.flush(st.ctx); err != nil && st.ctx.Err() == nil {
			st.Failures.Add(fmt.Errorf("statistics: %w", err))
		}
	}
}

// flush writes what was counted; what could not be written is added back.
func (st *Stage) flush(ctx context.Context) error {
	st.tmu.Lock()
	t := st.tallies
	st.tallies = model.Tallies{Frames: map[model.Frame]model.Amount{}, Longest: t.Longest}
	st.tmu.Unlock()
	if len(t.Frames) == 0 {
		return nil
	}
	err := st.Layer.Flush(ctx, &t)
	if err != nil {
		st.tmu.Lock()
		defer st.tmu.Unlock()
		for f, a := range t.Frames {
			b := st.tallies.Frames[f]
			st.tallies.Frames[f] = model.Amount{Count: a.Count + b.Count, Bytes: a.Bytes + b.Bytes}
		}
	}
	return err
}
