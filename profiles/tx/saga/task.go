package saga

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// outcome is what a client was told about its saga.
type outcome uint8

const (
	unknown outcome = iota
	ackedDone
	ackedUndone
)

// Run is a saga run in progress: what its workers share. It is safe for use by several
// goroutines.
type Run struct {
	spec  *model.Spec
	layer *model.Adapter
	db    store.Conn  // where it is all kept
	store model.Store // for calls that belong to no single transaction
	conn  common.Meter
	log   *ackLog
	// polls counts calls outside sagas, if each is one call of the store.
	polls atomic.Int64
	// whole means that the run consists only of sagas, so that the store's counters are
	// about them; extra counts the statements outside transactions during measurement.
	whole bool
	extra int64
	// nextPoll is when to look for unfinished sagas next, in Unix ns.
	nextPoll  atomic.Int64
	nextCheck atomic.Int64
	shard     atomic.Int64 // the prefix to look at next
	// sizes are the sizes of payloads set in this run.
	sizes datagen.Sizes

	clients clients

	mu     sync.Mutex
	notes  findings
	before common.Usage
	after  common.Usage
	// neighbour says who else of perfbench used the server at the beginning or the end.
	neighbour string
	// existed means that an earlier run made the space; atStart is what it left.
	existed  bool
	atStart  recovery
	inRun    recovery
	atEnd    recovery
	base     map[int64]int64                   // balances before the run
	foreign  map[string]map[string]model.Entry // ledgers of others' unfinished sagas before the run
	earlier  map[string]outcome                // from the log of a run that was killed
	swept    int64
	verified bool
	balances int64 // accounts whose balance was compared
	left     int64 // sagas that are unfinished at the end
	flying   int64 // what these have taken off the accounts (negative) or put on them
	readBack int64
	absent   int64           // requested, not found, and never acknowledged
	moved    map[int64]int64 // what the ledgers of this run add up to, by account
	// resumed means that this process has replaced another one.
	resumed bool
	// shared is what processes share; nil: there is one. others are those that do the work, if
	// this one does not. tells means that this process reports to another, as its stake.
	shared *workload.Shared
	others *workload.Each[besideTold]
	tells  bool
	stake  workload.Stake
}

// recovery counts unfinished sagas that were taken up again.
type recovery struct {
	Found     int64    `json:"found"`
	Done      int64    `json:"done"`
	Undone    int64    `json:"undone"`
	Undecided int64    `json:"undecided"`
	Seconds   float64  `json:"seconds"`
	Gids      []string `json:"examples,omitempty"`
}

// took records a saga that was taken up.
func (r *Run) took(in *recovery, s *model.Saga) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in.add(s)
}

func (r *recovery) add(s *model.Saga) {
	r.Found++
	switch {
	case s != nil && s.Status == model.Succeed:
		r.Done++
	case s != nil && s.Status == model.Failed:
		r.Undone++
	default:
		r.Undecided++
	}
	if s != nil && len(r.Gids) < maxExamples {
		r.Gids = append(r.Gids, s.Gid+" "+s.Status)
	}
}

const maxExamples = 10

// NewRun returns a run of sp over a layer; conn reports what it uses.
func NewRun(sp *model.Spec, l *model.Adapter, conn common.Meter) *Run {
	r := &Run{spec: sp, layer: l, store: l.Open(), conn: conn, foreign: map[string]map[string]model.Entry{}, earlier: map[string]outcome{}, moved: map[int64]int64{}}
	r.clients = clients{tallies: map[int]*tally{}, seconds: r.seconds}
	r.others = workload.EachOf(r.beside, (*besideTold).sound)
	return r
}

// tally is what one worker has done. Only the worker writes it; anybody may read the
// numbers, and the rest once the worker has ended.
type tally struct {
	done, undone, undecided, unknown atomic.Int64
	coordinator.Counts
	// expected is the number of calls that the store should have counted, uncertain the
	// number of sagas for which that is unknown.
	expected, uncertain atomic.Int64
	early, late         atomic.Int64 // before and after the first expiry
	all                 atomic.Int64 // warm-up included
	seq                 int64
	outcomes            []uint8 // two bits for each saga
	marks               []mark
	mu                  sync.Mutex // guards gaps and, if they are reported, seq, outcomes and marks
	gaps                []gap
	told                tellings
	last, tried         atomic.Int64 // end of the last completion and of the last attempt, in ns since measurement began
	_                   [64]byte
}

// mark says how many sagas a worker had begun at a moment.
type mark struct {
	at  time.Time
	seq int64
}

// gap is a period without a completion, in ns since measurement began.
type gap struct{ from, to int64 }

const (
	markEvery = time.Second
	longGap   = int64(100 * time.Millisecond)
	maxGaps   = 10000
)

func (t *tally) set(seq int64, o outcome) {
	for int64(len(t.outcomes)) <= seq/4 {
		t.outcomes = append(t.outcomes, 0)
	}
	t.outcomes[seq/4] |= uint8(o) << (seq % 4 * 2)
}

func (t *tally) get(seq int64) outcome {
	if seq/4 >= int64(len(t.outcomes)) {
		return unknown
	}
	return outcome(t.outcomes[seq/4] >> (seq % 4 * 2) & 3)
}

// completed notes the time of a completion.
func (t *tally) completed(now int64) {
	if last := t.last.Load(); now-last >= longGap {
		t.mu.Lock()
		if len(t.gaps) < maxGaps {
			t.gaps = append(t.gaps, gap{last, now})
		}
		t.mu.Unlock()
	}
	t.last.Store(now)
}

// Task is one client. It belongs to its worker.
type Task struct {
	run    *Run
	t      *tally
	c      coordinator.Coordinator
	worker int
	s      model.Saga
	from   *datagen.Zipf
	gid    []byte
	noted  int // the last size of payloads that was noted
}

// NewTask returns the client for a worker. Any goroutine may call it; the task belongs
// to its worker.
func (r *Run) NewTask(worker int) *Task {
	sp, t := r.spec, r.clients.of(worker)
	// A worker that is restarted draws other numbers than before.
	rnd := rand.New(rand.NewPCG(uint64(sp.Seed), uint64(worker)<<40|uint64(t.seq))) //nolint:gosec // no secret depends on it
	k := &Task{run: r, worker: worker, noted: -1, t: t, c: coordinator.Coordinator{Spec: sp, Store: r.layer.Open(), Rand: rnd, Counts: &t.Counts}}
	if sp.Accounts > 0 {
		k.from = datagen.New(rnd, sp.Zipf, sp.Accounts)
	}
	return k
}

// Do runs one saga, and occasionally takes care of those left unfinished.
func (k *Task) Do(ctx context.Context, it *workload.Iteration) error {
	if err := k.housekeeping(ctx, it); err != nil {
		return err
	}
	t := k.t
	seq := t.seq
	k.guarded(func() { t.seq++ })
	k.Prepare(it, seq)
	t.all.Add(1)
	m := it.Begin(model.OpSaga)
	err := k.c.Submit(ctx, it, &k.s)
	if k.c.Store.Session != nil {
		k.c.Store.Session.Detach()
	}
	k.account(err)
	units := 0
	o := unknown
	switch {
	case err != nil:
	case k.s.Status == model.Succeed:
		o, units = ackedDone, 1
	default:
		o, units = ackedUndone, 1
	}
	if err == nil {
		k.guarded(func() { t.set(seq, o) })
		if k.run.log != nil {
			err = k.run.log.add(k.s.Gid, o)
			if err != nil {
				err = workload.Fatal(err)
			}
		}
	}
	if err = it.End(m, units, err); !it.Warmup {
		k.count(it, o, err)
	}
	return err
}

// guarded modifies a tally with the lock held if others read it meanwhile in order to
// report it.
func (k *Task) guarded(do func()) {
	if k.run.tells {
		k.t.mu.Lock()
		defer k.t.mu.Unlock()
	}
	do()
}

func (k *Task) count(it *workload.Iteration, o outcome, err error) {
	t := k.t
	switch {
	case o == ackedDone:
		t.done.Add(1)
	case o == ackedUndone:
		t.undone.Add(1)
	case errors.Is(err, coordinator.ErrUndecided):
		t.undecided.Add(1)
	default:
		t.unknown.Add(1)
	}
	now := it.Now()
	t.tried.Store(now)
	if o == unknown {
		return
	}
	t.completed(now)
	if now < int64(k.run.spec.FinishedExpire) {
		t.early.Add(1)
	} else {
		t.late.Add(1)
	}
}

// Prepare makes the next saga. It is not part of the operation's time.
func (k *Task) Prepare(it *workload.Iteration, seq int64) {
	sp, s := k.run.spec, &k.s
	now := time.Now()
	if t := k.t; len(t.marks) == 0 || now.Sub(t.marks[len(t.marks)-1].at) >= markEvery {
		k.guarded(func() { t.marks = append(t.marks, mark{now, seq}) })
	}
	k.gid = model.AppendGid(k.gid[:0], sp.Stamp, k.worker, seq)
	s.Reset(string(k.gid), int(seq+int64(k.worker))%sp.Shards, sp.Branches, now)
	s.Empty, s.Timeout, s.Size = sp.Accounts == 0, sp.Timeout, it.Settings.Payload
	if s.Size != k.noted {
		k.run.sizes.Note(s.Size)
		k.noted = s.Size
	}
	if sp.FailRate > 0 && k.c.Rand.Float64() < sp.FailRate {
		s.Fate.FailAt = sp.FailAt
		if sp.FailAt == 0 {
			s.Fate.FailAt = 1 + k.c.Rand.IntN(sp.Branches)
		}
		if sp.Kind == model.KindMsg {
			s.Fate.FailAt = 1 // only its local transaction can be refused
		}
	}
	if sp.Accounts > 0 {
		k.transfers()
	}
	s.As(sp.Kind)
}

// transfers decides who pays whom: the first branch takes what the others get, with a
// different account for each.
func (k *Task) transfers() {
	s, sp := &k.s, k.run.spec
	var total int64
	for i := range s.Steps {
		a := k.from.Next()
		for j := 0; j < i; j++ {
			if s.Steps[j].Account == a {
				a, j = (a+1)%sp.Accounts, -1
			}
		}
		s.Steps[i] = model.Transfer{Account: a}
		if i > 0 {
			s.Steps[i].Amount = 1 + k.c.Rand.Int64N(sp.Amount)
			total += s.Steps[i].Amount
		}
	}
	s.Steps[0].Amount = -total
}

// housekeeping takes up unfinished sagas, reads back some finished ones and, if the
// store does not do so, removes old ones. It is done by whichever worker comes first
// when it is due.
func (k *Task) housekeeping(ctx context.Context, it *workload.Iteration) error {
	r := k.run
	now := time.Now().UnixNano()
	if next := r.nextPoll.Load(); now >= next && r.nextPoll.CompareAndSwap(next, now+int64(r.spec.Cron)*int64(r.processes())) {
		if err := k.poll(ctx, it); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if next := r.nextCheck.Load(); r.spec.Check > 0 && now >= next && r.nextCheck.CompareAndSwap(next, now+int64(r.spec.Check)*int64(r.processes())) {
		if err := k.sample(ctx, it); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// poll takes up one unfinished saga. If there was one, the next worker looks again at
// once.
func (k *Task) poll(ctx context.Context, it *workload.Iteration) error {
	r := k.run
	for range r.spec.Shards {
		shard := int(r.shard.Add(1)) % r.spec.Shards
		start := it.Now()
		s, hit, err := k.c.Recover(ctx, shard)
		k.accountPoll(err)
		if errors.Is(err, coordinator.ErrWaiting) {
			continue
		}
		if errors.Is(err, coordinator.ErrUndecided) || errors.Is(err, model.ErrMoved) || errors.Is(err, model.ErrNone) {
			err = nil // it was attempted; or somebody else was faster
		}
		if hit || err != nil {
			it.Record(model.OpRecover, 1, start, start, it.Now(), err)
		}
		if err != nil {
			return err
		}
		if hit {
			r.nextPoll.Store(0)
			r.took(&r.inRun, s)
			return nil
		}
	}
	start := it.Now()
	n, err := r.store.Sweep(ctx, time.Now())
	if n > 0 || err != nil {
		it.Record(model.OpSweep, 1, start, start, it.Now(), err)
		r.mu.Lock()
		r.swept += n
		r.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("remove finished transactions: %w", err)
	}
	return nil
}
