package saga

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/histories"
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

// Run is what the clients of a run share: where they carry out their transactions, and what each has
// done. It is safe for use by several goroutines.
type Run struct {
	spec  *model.Spec
	layer *model.Adapter
	// log is where outcomes are written that clients were told; nil: nowhere.
	log *ackLog
	// sizes are the sizes of payloads set in this run.
	sizes   datagen.Sizes
	clients clients
	beside  *beside
	usage   *usage
	// stake is which of the clients are this process's; tells means that it reports to another.
	stake workload.Stake
	tells bool
	// shared is what processes share; nil: there is one.
	shared *workload.Shared
	// followed are transactions whose history is kept; nil: none is.
	followed *followed
}

// NewRun returns a run of sp over a layer; conn reports what it uses.
func NewRun(sp *model.Spec, l *model.Adapter, conn common.Meter) *Run {
	r := &Run{spec: sp, layer: l}
	if sp.Linearizable {
		r.followed = &followed{History: histories.New("saga")}
	}
	r.usage = &usage{conn: conn, saw: l.Saw, counts: sp.CountCalls}
	r.beside = newBeside(r)
	r.clients = clients{tallies: map[int]*tally{}, seconds: r.usage.seconds}
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
	// history is what this client has seen of followed transactions; nil: none is kept.
	history *histories.Client
}

// NewTask returns the client for a worker. Any goroutine may call it; the task belongs
// to its worker.
func (r *Run) NewTask(worker int) *Task {
	sp, t := r.spec, r.clients.of(worker)
	// A worker that is restarted draws other numbers than before.
	rnd := rand.New(rand.NewPCG(uint64(sp.Seed), uint64(worker)<<40|uint64(t.seq))) //nolint:gosec // no secret depends on it
	k := &Task{run: r, worker: worker, noted: -1, t: t, history: r.history(), c: coordinator.Coordinator{Spec: sp, Store: r.layer.Open(), Rand: rnd, Counts: &t.Counts}}
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
	one := k.follow(seq)
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
	one.became(k.history, o)
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
	k.look(ctx, it, seq)
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

// kept returns the first of a worker's sagas that is still kept at a time.
func (t *tally) kept(now time.Time, expire time.Duration) int64 {
	first := int64(0)
	for i, m := range t.marks {
		if now.Sub(m.at) < expire-max(2*time.Second, expire/4) {
			break
		}
		if i+1 < len(t.marks) {
			first = t.marks[i+1].seq
		} else {
			first = t.seq
		}
	}
	return first
}
