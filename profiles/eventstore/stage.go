package eventstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/profiles/eventstore/dice"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/layer"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// options are what the store stage is told of the run.
type options struct {
	// Codec compresses content of more than CompressOver bytes; over BatchLimit it is cut.
	Codec                    byte
	CompressOver, BatchLimit int
	// MaxTasks and MaxTaskBytes bound what the stage holds, Composers and PerCall how many
	// goroutines compose and how many records one call stores at most.
	MaxTasks           int
	MaxTaskBytes       int64
	Composers, PerCall int
	// Timeout is that of one call, Retries how often it is made again, after RetryBase at
	// first; with Requeue what fails then is delivered again.
	Timeout   time.Duration
	Retries   int
	RetryBase time.Duration
	Requeue   bool
	// FlushEvery is how often statistics are written; 0: never.
	FlushEvery time.Duration
	// RandomID gives a batch an id that does not follow from its events, Compat loses what
	// the original loses.
	RandomID, Compat bool
}

// stage is the store stage: composers take deliveries and make records of them,
// others store these, several at a time, and settle the deliveries. It holds no
// more than the gate lets in.
//
//	Receive ─▶ composer: decode, validate, [gate], encode, compress ─▶ writer: store, retry ─▶ Ack
type stage struct {
	o       *options
	l       layer.Intake
	traits  layer.Traits
	recv    transport.Receiver
	gate    *gate
	meter   *meter
	ledger  *ledger.Ledger
	clock   func() int64 // the run's
	wall    func() int64 // ns since 1970
	durable func(m transport.Meta, at int64, err error)
	stored  func(r *layer.Record)

	items  chan *item
	cancel context.CancelCauseFunc
	ctx    context.Context
	all    sync.WaitGroup
	// process is the id of the stage in random batch ids, number counts them.
	process uint64
	number  atomic.Int64

	tmu sync.Mutex
	t   layer.Tallies
}

// errCrashed ends a stage the way a crash does.
var errCrashed = errors.New("the store stage was ended without notice")

// start begins the work of a stage; it goes on until crash or stop.
func (st *stage) start() error {
	st.ctx, st.cancel = context.WithCancelCause(context.Background())
	st.items = make(chan *item, st.o.MaxTasks)
	st.process = rand.Uint64()
	st.t.Frames = map[layer.Frame]layer.Amount{}
	for range st.o.Composers {
		c, err := newComposer(st)
		if err != nil {
			st.cancel(err)
			return err
		}
		st.all.Go(func() { st.compose(c) })
	}
	for range min(st.traits.Writers, st.o.MaxTasks) {
		st.all.Go(st.write)
	}
	if st.o.FlushEvery > 0 {
		st.all.Go(st.flushing)
	}
	return nil
}

// crash ends the stage at once: what it has not settled is delivered again.
func (st *stage) crash() {
	st.cancel(errCrashed)
	_ = st.recv.Close() // the transport takes back what is unsettled
	st.all.Wait()
}

// stop ends the stage when its work is done or given up, and writes the statistics.
func (st *stage) stop(ctx context.Context) error {
	st.crash()
	if st.o.FlushEvery == 0 {
		return nil
	}
	return st.flush(ctx)
}

func (st *stage) compose(c *composer) {
	for {
		d, err := st.recv.Receive(st.ctx)
		if err != nil {
			if errors.Is(err, transport.ErrClosed) || st.ctx.Err() != nil {
				return
			}
			st.meter.failed(fmt.Errorf("receive: %w", err))
			if !st.sleep(100 * time.Millisecond) {
				return
			}
			continue
		}
		st.meter.received(d)
		if err := c.take(st.ctx, d); err != nil {
			return // the stage is over
		}
	}
}

// reject gives up a delivery that breaks a rule.
func (st *stage) reject(d *transport.Delivery, err error) {
	if st.o.Compat {
		st.meter.lose(func(l *facts.Losses) {
			if d.First == 1 {
				l.RootRejected += int64(d.Count)
			} else {
				l.Rejected += int64(d.Count)
			}
		})
	}
	st.meter.failed(err)
	st.refuse(d, err)
}

// refuse gives a delivery up for good.
func (st *stage) refuse(d *transport.Delivery, err error) {
	meta := d.Meta
	if st.recv.Nack(d, false) != nil {
		return // it will be delivered again
	}
	st.ledger.Refused(meta)
	st.meter.refused(meta)
	st.durable(meta, st.clock(), err)
}

// giveUp ends a job that cannot be stored.
func (st *stage) giveUp(j *job, err error) {
	if !j.failed.Swap(true) {
		st.meter.failed(err)
	}
	st.settle(j, err)
}

// settle notes that one record of a job is over, and settles the delivery with the
// last one.
func (st *stage) settle(j *job, err error) {
	if j.left.Add(-1) > 0 {
		return
	}
	if !j.failed.Load() {
		meta := j.d.Meta
		now := st.clock()
		if e := j.from.Ack(j.d); e != nil {
			st.meter.failed(fmt.Errorf("acknowledge: %w", e))
			return // it will be delivered again, and stored again under the same id
		}
		if st.ledger.Acked(meta) > 0 { // and not a second time
			st.meter.acked(meta, now)
			st.durable(meta, now, nil)
		}
		return
	}
	if err == nil {
		err = errors.New("a part of the batch could not be stored")
	}
	if st.o.Requeue && !errors.Is(err, errInvalid) && !errors.Is(err, layer.ErrPermanent) {
		_ = j.from.Nack(j.d, true)
		return
	}
	if st.o.Compat {
		st.meter.lose(func(l *facts.Losses) { l.Exhausted += int64(j.d.Count) })
	}
	st.refuse(j.d, err)
}

// write stores records until the stage ends.
func (st *stage) write() {
	var group []*item
	var rs []*layer.Record // of the group
	for {
		group, rs = group[:0], rs[:0]
		select {
		case r := <-st.items:
			group = append(group, r)
		case <-st.ctx.Done():
			return
		}
	more:
		for len(group) < min(st.traits.Group, st.o.PerCall) {
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

// keep stores a group of records, each on its own once that has failed.
func (st *stage) keep(group []*item, rs []*layer.Record) {
	if len(group) > 1 {
		if st.attempt(group, rs) == nil {
			st.done(group, nil)
			return
		}
		st.meter.note(group[0].job.d.Warm, func(f *facts.Step) { f.Retries += int64(len(group)) })
	}
	for i := range group {
		err := st.persist(group[i:i+1], rs[i:i+1])
		if st.ctx.Err() != nil {
			return // to be delivered again
		}
		st.done(group[i:i+1], err)
	}
}

// persist stores one record, again and again until it is stored or its retries are
// used up.
func (st *stage) persist(one []*item, rs []*layer.Record) error {
	for try := 0; ; try++ {
		err := st.attempt(one, rs)
		if err == nil || errors.Is(err, layer.ErrPermanent) || try >= st.o.Retries {
			return err
		}
		st.meter.note(one[0].job.d.Warm, func(f *facts.Step) { f.Retries++ })
		if !st.sleep(st.backoff(try)) {
			return err
		}
	}
}

// backoff is the wait before the next attempt: doubling up to 5 s with jitter, or as
// the original: so many times the base.
func (st *stage) backoff(try int) time.Duration {
	base := st.o.RetryBase
	if st.o.Compat {
		return time.Duration(try+1) * base
	}
	d := min(base<<min(try, 16), max(5*time.Second, base))
	return d/2 + rand.N(d/2+1)
}

// sleep waits, and returns false when the stage ends first.
func (st *stage) sleep(d time.Duration) bool {
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
func (st *stage) attempt(group []*item, rs []*layer.Record) error {
	ctx, cancel := context.WithTimeout(st.ctx, st.o.Timeout)
	defer cancel()
	began := st.clock()
	n, err := st.l.Store(ctx, rs)
	if err != nil {
		if st.ctx.Err() == nil {
			st.meter.failed(err)
		}
		return err
	}
	took := st.clock() - began
	for _, r := range group {
		st.meter.wrote(r.job.d.Warm, &r.Record, r.failed, r.rawLinks, r.worked)
	}
	st.meter.called(group[0].job.d.Warm, n, took)
	return nil
}

// done lets go of records that are stored or given up.
func (st *stage) done(group []*item, err error) {
	for _, r := range group {
		j, size := r.job, r.size
		if err == nil {
			st.stored(&r.Record)
			st.settle(j, nil)
		} else {
			st.giveUp(j, fmt.Errorf("store: %w", err))
		}
		later, _ := layer.PartOf(r.ID)
		r.release()
		if later < 2 { // what is in parts entered as one
			st.gate.leave(size)
		}
	}
}

// nextID makes an id as the original does: of the process, with a counter.
func (st *stage) nextID(dst []byte) []byte {
	d := dice.Dice(st.process)
	dst = dice.AppendUUID(dst, d.Next(), d.Next())
	return strconv.AppendInt(append(dst, '-'), st.number.Add(1), 10)
}

// count adds events to the statistics.
func (st *stage) count(es []wire.Event) {
	st.tmu.Lock()
	defer st.tmu.Unlock()
	st.t.Add(es)
	first, last := es[0].ID.Start.NS(), es[0].ID.Start.NS()
	for i := range es {
		first, last = min(first, es[i].ID.Start.NS()), max(last, es[i].ID.Start.NS())
	}
	st.t.Longest = max(st.t.Longest, (last-first)/1e6)
}

// flushing writes statistics now and then.
func (st *stage) flushing() {
	for st.sleep(st.o.FlushEvery) {
		if err := st.flush(st.ctx); err != nil && st.ctx.Err() == nil {
			st.meter.failed(fmt.Errorf("statistics: %w", err))
		}
	}
}

// flush writes what was counted; what could not be written is put back.
func (st *stage) flush(ctx context.Context) error {
	st.tmu.Lock()
	t := st.t
	st.t = layer.Tallies{Frames: map[layer.Frame]layer.Amount{}, Longest: t.Longest}
	st.tmu.Unlock()
	if len(t.Frames) == 0 {
		return nil
	}
	err := st.l.Flush(ctx, &t)
	if err != nil {
		st.tmu.Lock()
		defer st.tmu.Unlock()
		for f, a := range t.Frames {
			b := st.t.Frames[f]
			st.t.Frames[f] = layer.Amount{Count: a.Count + b.Count, Bytes: a.Bytes + b.Bytes}
		}
	}
	return err
}
