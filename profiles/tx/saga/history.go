package saga

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

const (
	// followEvery is of how many of its transactions a client follows one. After lookEvery it reads
	// one that is followed, which costs as much as some four transactions.
	followEvery = 32
	lookEvery   = 160
	// mostFollowed is how many of the last ones that are followed are read.
	mostFollowed = 16
)

// What is read of a transaction that is followed: until it has ended it counts as not there.
const (
	versionDone   datagen.Version = 1
	versionUndone datagen.Version = 2
)

// followed are transactions whose history is kept: each is a register that its client writes once,
// from its submit until it is told of the outcome, and that all clients read. It is safe for use by
// several goroutines.
type followed struct {
	*histories.History
	recent [mostFollowed]atomic.Pointer[register]
	next   atomic.Uint64
}

// register is one of them.
type register struct {
	gid    string
	shard  int
	number int32
	from   int64
	until  time.Time // it is kept at least so long
}

// history returns the history of one more client; nil if none is kept.
func (r *Run) history() *histories.Client {
	if r.followed == nil {
		return nil
	}
	return r.followed.Client()
}

// follow begins to follow the transaction that is about to be submitted, if it is its turn; nil if
// not.
func (k *Task) follow(seq int64) *register {
	if k.history == nil || seq%followEvery != 0 {
		return nil
	}
	f, now := k.run.followed, k.history.Now()
	one := &register{gid: k.s.Gid, shard: k.s.Shard, number: f.Follow(1), from: now, until: time.Now().Add(k.run.spec.FinishedExpire / 2)}
	k.history.Note(histories.Event{Call: now - 2, Back: now - 1, Version: histories.Missing, Register: one.number, Write: true})
	f.recent[f.next.Add(1)%mostFollowed].Store(one)
	return one
}

// became notes what a client was told about a transaction that it follows. If that is nothing, it may
// have ended in either way, or go on.
func (one *register) became(c *histories.Client, o outcome) {
	if one == nil {
		return
	}
	e := histories.Event{Call: one.from, Back: c.Now(), Register: one.number, Write: true, Version: versionDone}
	switch o {
	case ackedDone:
		c.Note(e)
	case ackedUndone:
		e.Version = versionUndone
		c.Note(e)
	case unknown:
		e.Failed = true
		c.Note(e)
		e.Version = versionUndone
		c.Note(e)
	}
}

// look reads one of the transactions that are followed, if it is time to.
func (k *Task) look(ctx context.Context, it *workload.Iteration, seq int64) {
	if k.history == nil || seq%lookEvery != lookEvery/2 {
		return
	}
	one := k.run.followed.recent[rand.N(mostFollowed)].Load() //nolint:gosec // no secret
	if one == nil || time.Now().After(one.until) {
		return
	}
	start, from := it.Now(), k.history.Now()
	got, err := k.run.beside.store.Read(ctx, one.shard, []string{one.gid})
	e := histories.Event{Call: from, Back: k.history.Now(), Register: one.number, Version: histories.Missing}
	it.Record(model.OpCheck, 1, start, start, it.Now(), err)
	if err != nil {
		return
	}
	switch got[0].Status {
	case model.Succeed:
		e.Version = versionDone
	case model.Failed:
		e.Version = versionUndone
	}
	k.history.Note(e)
}

// check checks the histories, if they are kept.
func (f *followed) check(ctx context.Context, out *workload.Verification) {
	if f == nil {
		return
	}
	c := f.Check(ctx).Check()
	if out.Checks = append(out.Checks, c); !c.OK {
		out.State = workload.Failed
	}
}

// found is what was found; nil before, and if none are kept.
func (f *followed) found() *histories.Outcome {
	if f == nil {
		return nil
	}
	return f.Found()
}
