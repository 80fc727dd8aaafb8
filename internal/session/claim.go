package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// lease is a run's hold on its spaces. The zero lease holds none.
type lease struct {
	claim *ownership.Claim // nil: there is none
	// keeper is the store that holds the claim, a temporary one of this process; nil if that
	// is the run's own.
	keeper store.Conn
	// fence keeps this process from writing once it has been stopped, until watch has asked
	// whether it still may; nil if the store is in this process. watched ends that.
	fence   *store.Fence
	watched func()
}

// claim claims the spaces of the bound plan for a new run.
func (o *Opened) claim(ctx context.Context, report func(Progress)) (err error) {
	if o.plan.Claims == nil {
		return probe(ctx, o.conn, o.plan.Spaces)
	}
	want := o.wanted(o.ID())
	want.Tell = func(sentence string) { report(Progress{Stage: "connecting", Note: sentence}) }
	if o.lease.claim, err = ownership.Take(ctx, o.keeper(), want); err == nil {
		o.watchLease(ctx)
	}
	return err
}

// reclaim takes over the claim of the session that died.
func (o *Opened) reclaim(ctx context.Context) (err error) {
	if o.plan.Claims == nil || o.restored.kept.Held == nil {
		return nil
	}
	if o.lease.claim, err = ownership.Resume(ctx, o.keeper(), o.wanted(o.restored.crew.Run), *o.restored.kept.Held); err == nil {
		o.watchLease(ctx)
	}
	return err
}

// leased says that the run's own store has a lease for it.
func (o *Opened) leased() bool {
	return o.lease.claim != nil && o.lease.claim.Lost() != nil && o.lease.keeper == nil
}

// watchLease has the store asked whether the claim still holds before anything is written
// after this process was stopped.
func (o *Opened) watchLease(ctx context.Context) {
	l := &o.lease
	if !o.leased() || l.fence == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	l.watched = sync.OnceFunc(func() {
		cancel()
		all.Wait()
	})
	all.Go(func() {
		_ = l.fence.Guard(ctx, nil, func(ctx context.Context) (gone, err error) { // the claim says it, too
			ctx, cancel := context.WithTimeout(ctx, ownership.TTL)
			defer cancel()
			conn, err := o.Driver.Open(ctx, o.Target, store.OpenOptions{Threads: 1, Log: o.env.Log, Existing: true})
			if err != nil {
				return nil, err
			}
			defer func() { _ = conn.Close() }() // it was only to ask
			err = l.claim.Confirm(ctx, conn)
			return l.claim.Err(), err
		})
	})
}

// endWorkers has workers stop that were lost: they may still be at work. What they have
// written by then is verified and removed with the rest. onWait, when set, is told of the wait.
func (l *lease) endWorkers(ctx context.Context, c *crew.Crew, onWait func(sentence string), log *slog.Logger) {
	astray := c.Astray()
	if l.claim == nil || astray == "" || l.claim.Err() != nil || ctx.Err() != nil {
		return
	}
	if onWait != nil {
		onWait(fmt.Sprintf("waiting %s until %s can no longer be writing", units.Duration(ownership.Settle), astray))
	}
	asking, cancel := context.WithTimeout(ctx, ownership.Settle)
	err := l.claim.End(asking)
	cancel()
	if err != nil {
		log.Debug("lost workers cannot be told to end", "why", err)
		return // if the store does not answer us, it does not answer them
	}
	select {
	case <-time.After(ownership.Settle):
	case <-ctx.Done():
	}
}

// whileOurs returns a context that ends when the claim is lost.
func (l *lease) whileOurs(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.claim == nil {
		return context.WithCancel(ctx)
	}
	return l.claim.WhileOurs(ctx)
}

// keeper is the store that holds the claim.
func (o *Opened) keeper() store.Conn {
	if o.lease.keeper != nil {
		return o.lease.keeper
	}
	return o.conn
}

// wanted returns what a run with that id claims.
func (o *Opened) wanted(run string) ownership.Want {
	workers := 0
	if o.workers != nil {
		workers = o.workers.Workers
	}
	return ownership.Want{
		Workers: workers, Namespace: o.Inputs.Namespace, Profile: o.Profile.Name, Run: run,
		Spaces: o.plan.Claims, Allow: o.Inputs.AllowExisting, Admit: o.plan.Admit,
	}
}

// probe asks the store whether it would accept the writes of a plan without claims.
func probe(ctx context.Context, conn store.Conn, spaces []store.Space) error {
	prober, ok := store.Has[store.Prober](conn)
	if !ok {
		return nil
	}
	for _, s := range spaces {
		if err := prober.Probe(ctx, s); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	return nil
}

// abandon ends the claim of a run that could not begin. If the run was interrupted, its
// connection is closed and the lease expires by itself.
func (l *lease) abandon(ctx context.Context, because error) error {
	defer l.close()
	if l.claim == nil || ctx.Err() != nil {
		return nil
	}
	return l.claim.Abandon(ctx, because)
}

// leave releases the claim and removes nothing, so that another can go on with the run.
func (l *lease) leave(ctx context.Context) error {
	defer l.close()
	if l.claim == nil || ctx.Err() != nil {
		return nil
	}
	return l.claim.Release(ctx)
}

// close ends watchLease, as nothing more is to be written, and closes the store that holds
// the claim, if it is not the run's own.
func (l *lease) close() {
	if l.watched != nil {
		l.watched()
	}
	if l.keeper != nil {
		_ = l.keeper.Close()
	}
}

// guard stops the run if somebody else takes over its spaces: calls of this process that are
// under way have no business there any more.
func (l *lease) guard(run *engine.Run, byWorkers bool) {
	if l.claim == nil {
		return
	}
	go func() { // ends with the run
		select {
		case <-l.claim.Lost():
			if byWorkers {
				run.Stop(l.claim.Err())
				return
			}
			run.GiveUp(l.claim.Err())
		case <-run.Done():
		}
	}()
}

// lost says why the spaces now belong to somebody else; nil if they do not.
func (l *lease) lost() error {
	if l.claim == nil {
		return nil
	}
	return l.claim.Err()
}

// releaseTimeout is how long releasing the lease may take: after that it has expired.
const releaseTimeout = ownership.TTL

// release ends the lease of a run that is over, unless the store is silent: then it is
// left to expire.
func (l *lease) release(ctx context.Context, silent bool, log *slog.Logger) {
	defer l.close()
	if l.claim == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if silent {
		cancel()
	}
	if err := l.claim.Release(ctx); err != nil {
		log.Debug("the lease lapses by itself", "why", err)
	}
}
