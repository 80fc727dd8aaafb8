package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// leased says that the run's own store has a lease for it.
func (l *lease) leased() bool {
	return l.claim != nil && l.claim.Lost() != nil && l.keeper == nil
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

// holder returns the store that holds the claim of a run on conn.
func (l *lease) holder(conn store.Conn) store.Conn {
	if l.keeper != nil {
		return l.keeper
	}
	return conn
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

// cedeTime is how long giving up a lease may keep somebody who has interrupted a start.
const cedeTime = 2 * time.Second

// cede gives up the claim of a run whose start was interrupted, and its connection closed with
// it; workers that cannot hear why they have lost their coordinator must not keep it for
// themselves. begun says that they were told to begin.
func (l *lease) cede(ctx context.Context, p *Prepared, begun bool) {
	if !l.leased() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cedeTime)
	defer cancel()
	conn, err := p.Driver.Open(ctx, p.Target, store.OpenOptions{Threads: 1, Log: p.env.Log, Existing: true})
	if err == nil {
		err = l.claim.Cede(ctx, conn, begun)
		err = errors.Join(err, conn.Close())
	}
	if err != nil {
		p.env.Log.Debug("the lease lapses by itself", "why", err)
	}
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
	fault.Go(func() { // ends with the run
		select {
		case <-l.claim.Lost():
			if byWorkers {
				run.Stop(l.claim.Err())
				return
			}
			run.GiveUp(l.claim.Err())
		case <-run.Done():
		}
	})
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
