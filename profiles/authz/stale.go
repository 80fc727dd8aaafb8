package authz

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// settled is how often in a row a revoked permission must be denied before the probe
// considers it gone: what was read before the revocation may still be put into a cache
// afterwards.
const settled = 4

// staleTask revokes cached permissions and observes, through another worker that keeps
// asking, how long they remain granted.
type staleTask struct {
	*worker
	tally    *tally
	n        int64
	wrap     bool
	made     int
	observer *Checker // its own memory is not cleared by revocations
}

// probe is one permission to be revoked: a user is in a group, which may see
// something.
type probe struct{ user, group, resource string }

// Do makes one probe: a user is admitted through a group, is checked so that caches
// fill, is removed from the group, and is checked by another worker until denied.
// "stale" records the time from the acknowledged revocation to the end of the last
// check, begun after it, that still said yes; 0 if there was none.
func (k *staleTask) Do(ctx context.Context, it *workload.Iteration) error {
	if _, ok := k.t.next(3, k.n, k.wrap, it); !ok {
		return workload.ErrDone
	}
	k.made++
	suffix := fmt.Sprintf(":%s:%s-probe-%d-%d", k.t.name, k.t.site.runID, k.number, k.made)
	p := probe{"u" + suffix, "g" + suffix, "c" + suffix}
	from := it.Now()
	if err := k.fill(ctx, p); err != nil {
		m := it.Begin(0)
		err = it.End(m, 1, err)
		k.count(it, from, err)
		return err
	}
	w := &watcher{c: k.observer, p: p, limit: k.b.s.staleLimit}
	done := make(chan error, 1) // one value: the watcher never waits
	fault.Go(func() { done <- w.watch(ctx) })
	m := it.Begin(0)
	err := it.End(m, 1, k.c.Change(ctx, model.Grant{Resource: p.group, Member: p.user, Role: ""}))
	acked := it.Now()
	if err != nil {
		w.stop.Store(true)
	}
	w.revoked.Store(time.Now().UnixNano())
	if watched := <-done; err == nil {
		err = watched
	}
	if err == nil {
		it.Record(1, 1, acked, acked, acked+int64(w.last), nil)
		if !it.Warmup {
			k.tally.stale.Add(min(w.yes, 1))
			if w.stuck {
				k.tally.stuck.Add(1)
			}
		}
	}
	k.count(it, from, err)
	return err
}

// fill admits a user, and makes both workers see it.
func (k *staleTask) fill(ctx context.Context, p probe) error {
	if k.c.Exists {
		if err := k.b.l.Accounts.PutAccount(ctx, &k.c.Work, model.Account{ID: p.user, Tenant: k.t.name, Kind: "u", Visibility: "public"}); err != nil {
			return err
		}
	}
	err := k.b.l.Edges.Change(ctx, &k.c.Work, []model.Grant{{Resource: p.resource, Member: p.group, Role: "viewer"}, {Resource: p.group, Member: p.user, Role: "member"}})
	for _, c := range []*Checker{k.c, k.observer} {
		var ok bool
		if err == nil {
			ok, err = c.Allowed(ctx, p.user, p.resource, "viewer")
		}
		if err == nil {
			k.t.judge(ok, true, p.user, p.resource, "viewer")
		}
	}
	return err
}

func (k *staleTask) count(it *workload.Iteration, from int64, err error) {
	cost := k.cost()
	cost.Statements += k.observer.Work.Statements
	cost.Lookups += k.observer.Work.Lookups
	cost.Hits += k.observer.Work.Hits
	k.observer.Work = model.Work{}
	if !it.Warmup {
		k.tally.note(from, it.Now(), cost, err)
	}
}

// watcher keeps asking for one permission.
type watcher struct {
	c     *Checker
	p     probe
	limit time.Duration

	revoked atomic.Int64 // when, in ns since 1970; 0: not yet
	stop    atomic.Bool

	last  time.Duration // from the revocation to the end of the last check that said yes
	yes   int64         // checks begun after the revocation that said yes
	stuck bool          // it was still granted at the end
}

// watch asks until the permission has been denied several times after it was revoked,
// or the limit has passed.
func (w *watcher) watch(ctx context.Context) error {
	for denied := 0; denied < settled; {
		revoked, began := w.revoked.Load(), time.Now()
		ok, err := w.c.Allowed(ctx, w.p.user, w.p.resource, "viewer")
		if err != nil || w.stop.Load() {
			return err
		}
		if revoked == 0 {
			_ = store.Pause(ctx, time.Millisecond)
			continue
		}
		at := time.Unix(0, revoked)
		if denied++; ok {
			denied = 0
			w.yes++
			w.last = time.Since(at)
		}
		if began.Sub(at) > w.limit {
			w.stuck = ok
			return nil
		}
		_ = store.Pause(ctx, time.Millisecond) // the next call says if ctx has ended
	}
	return nil
}
