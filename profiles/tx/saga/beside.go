package saga

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// beside is what clients do beside their transactions, whichever comes first when it is due: they take
// up unfinished ones, read finished ones back, and remove old ones. It is safe for use by several
// goroutines.
type beside struct {
	spec  *model.Spec
	store model.Store
	usage *usage
	// polls counts calls outside sagas, if each is one call of the store.
	polls               atomic.Int64
	nextPoll, nextCheck turn
	shard               atomic.Int64 // the prefix to look at next
	// others are the processes that do the work, if this one does not.
	others *workload.Each[besideDelta]

	mu    sync.Mutex
	notes findings
	inRun recovery
	swept int64
}

func newBeside(r *Run) *beside {
	b := &beside{spec: r.spec, store: r.layer.Open(), usage: r.usage}
	b.nextPoll.every, b.nextCheck.every = int64(r.spec.Cron), int64(r.spec.Check)
	b.others = workload.EachOf(b.delta, (*besideDelta).sound)
	return b
}

// begin begins to count the time until something is due: all processes together do it as often as one.
func (b *beside) begin(s workload.Stake) {
	b.nextPoll.begin(b.spec.Cron, s)
	b.nextCheck.begin(b.spec.Check, s)
}

// recordSaga records a saga that was taken up.
func (b *beside) recordSaga(s *model.Saga) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inRun.add(s)
}

// turn says when something is due again, in Unix ns.
type turn struct {
	every int64
	next  atomic.Int64
}

func (t *turn) begin(every time.Duration, s workload.Stake) {
	t.every = int64(every) * int64(max(s.Of, 1))
	t.next.Store(time.Now().Add(every * time.Duration(s.Process+1)).UnixNano())
}

// due reports whether it is due, to one caller only.
func (t *turn) due(now int64) bool {
	next := t.next.Load()
	return now >= next && t.next.CompareAndSwap(next, now+t.every)
}

// housekeeping takes up unfinished sagas, reads back some finished ones and, if the
// store does not do so, removes old ones. It is done by whichever worker comes first
// when it is due.
func (k *Task) housekeeping(ctx context.Context, it *workload.Iteration) error {
	b := k.run.beside
	now := time.Now().UnixNano()
	if b.nextPoll.due(now) {
		if err := k.poll(ctx, it); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if k.run.spec.Check > 0 && b.nextCheck.due(now) {
		if err := k.sample(ctx, it); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// poll takes up one unfinished saga. If there was one, the next worker looks again at
// once.
func (k *Task) poll(ctx context.Context, it *workload.Iteration) error {
	r, b := k.run, k.run.beside
	for range r.spec.Shards {
		shard := int(b.shard.Add(1)) % r.spec.Shards
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
			b.nextPoll.next.Store(0)
			b.recordSaga(s)
			return nil
		}
	}
	start := it.Now()
	n, err := b.store.Sweep(ctx, time.Now())
	if n > 0 || err != nil {
		it.Record(model.OpSweep, 1, start, start, it.Now(), err)
		b.mu.Lock()
		b.swept += n
		b.mu.Unlock()
	}
	if err != nil {
		return fmt.Errorf("remove finished transactions: %w", err)
	}
	return nil
}

// sample reads back some of a worker's own finished sagas during the run, and
// occasionally adds up the money.
func (k *Task) sample(ctx context.Context, it *workload.Iteration) error {
	const some = 16
	r, b, t := k.run, k.run.beside, k.t
	byShard := map[int][]int64{}
	oldest := t.kept(time.Now(), r.spec.FinishedExpire)
	for range some {
		if t.seq <= oldest {
			break
		}
		seq := oldest + k.c.Rand.Int64N(t.seq-oldest)
		if t.get(seq) != unknown {
			shard := int(seq+int64(k.worker)) % r.spec.Shards
			if !slices.Contains(byShard[shard], seq) {
				byShard[shard] = append(byShard[shard], seq)
			}
		}
	}
	start := it.Now()
	var err error
	for shard, seqs := range byShard {
		gids := make([]string, len(seqs))
		for i, seq := range seqs {
			gids[i] = string(model.AppendGid(nil, r.spec.Stamp, k.worker, seq))
		}
		var got []model.Stored
		if got, err = b.store.Read(ctx, shard, gids); err != nil {
			break
		}
		b.mu.Lock()
		for i := range got {
			r.comparison().judge(&b.notes, &got[i], t.get(seqs[i]), checkSampled)
			b.notes.sampled++
		}
		b.mu.Unlock()
	}
	if err == nil {
		err = b.addUp(ctx)
	}
	it.Record(model.OpCheck, 1, start, start, it.Now(), err)
	return err
}

// fewAccounts is how many accounts can be added up during the run without a noticeable
// effect.
const fewAccounts = 20000

// addUp checks that no money was made or lost, including what is in unfinished
// transactions. With several prefixes there is no moment at which all could be seen.
func (b *beside) addUp(ctx context.Context) error {
	if b.spec.Accounts == 0 || b.spec.Shards > 1 || b.spec.Accounts > fewAccounts {
		return nil
	}
	b.polls.Add(1)
	got, err := b.store.Money(ctx)
	if err != nil || len(got) == 0 {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes.moneys++
	b.notes.ask(checkMoney, 1)
	if want := b.spec.Accounts * b.spec.Balance; got[0].Sum-got[0].Flying != want {
		b.notes.offend(checkMoney, "mid-run: %d on the accounts and %d under way, instead of %d", got[0].Sum, -got[0].Flying, want)
	}
	return nil
}

// besideDelta is what a process did beside the transactions of its clients, as it stands.
type besideDelta struct {
	Polls, Swept int64
	InRun        recovery
	Notes        notesDelta
	Saw          model.Noticed
	Client       float64 // CPU seconds
}

type notesDelta struct {
	Bad, Asked      map[string]int64
	Examples        map[string][]string
	Sampled, Moneys int64
}

// delta returns what this process did beside transactions.
func (b *beside) delta() besideDelta {
	used := b.usage.used()
	b.mu.Lock()
	defer b.mu.Unlock()
	n := &b.notes
	return besideDelta{
		Polls: b.polls.Load(), Swept: b.swept, InRun: b.inRun, Saw: b.usage.saw(), Client: used,
		Notes: notesDelta{maps.Clone(n.bad), maps.Clone(n.asked), cloned(n.examples), n.sampled, n.moneys},
	}
}

func cloned(in map[string][]string) map[string][]string {
	out := make(map[string][]string, len(in))
	for k, v := range in {
		out[k] = slices.Clone(v)
	}
	return out
}

// mostFindings is how many different things that were found wrong a process may tell of.
const mostFindings = 100

// sound reports whether a process can have done this.
func (b *besideDelta) sound() bool {
	n := &b.Notes
	if len(n.Bad) > mostFindings || len(n.Asked) > mostFindings || len(n.Examples) > mostFindings || len(b.InRun.Gids) > maxExamples {
		return false
	}
	for _, list := range n.Examples {
		if len(list) > maxExamples {
			return false
		}
	}
	return true
}

// together adds up what was done beside transactions by this process and the others, and what was
// found wrong: by them, and in addition at the end.
func (b *beside) together(atEnd *findings) (all besideDelta, notes findings) {
	used := b.usage.whole()
	b.mu.Lock()
	defer b.mu.Unlock()
	all = besideDelta{Polls: b.polls.Load(), Swept: b.swept, InRun: b.inRun, Saw: b.usage.saw(), Client: used}
	notes.merge(&b.notes)
	notes.sampled, notes.moneys = b.notes.sampled, b.notes.moneys
	notes.merge(atEnd)
	for i, o := range b.others.Told() {
		if i == 0 {
			all.Client = 0 // this one conducts, and does nothing of it
		}
		all.Polls += o.Polls
		all.Swept += o.Swept
		all.InRun.join(&o.InRun)
		all.Saw.Beside += o.Saw.Beside
		all.Saw.Conflicts += o.Saw.Conflicts
		all.Saw.Waited += o.Saw.Waited
		all.Client += o.Client
		n := &o.Notes
		notes.merge(&findings{bad: n.Bad, asked: n.Asked, examples: n.Examples})
		notes.sampled += n.Sampled
		notes.moneys += n.Moneys
	}
	return all, notes
}
