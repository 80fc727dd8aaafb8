package session

import (
	"context"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
)

// take claims the spaces of the bound plan.
func (l *Live) take(ctx context.Context) error {
	if l.plan.Claims == nil {
		return l.probe(ctx)
	}
	conn := l.conn
	if l.plan.Keeps != nil {
		conn = l.plan.Keeps
	}
	var err error
	l.claim, err = place.Take(ctx, conn, l.wanted(l.ID()))
	return err
}

// wanted returns what a run with that id claims.
func (l *Live) wanted(run string) place.Want {
	return place.Want{
		Namespace: l.Inputs.Namespace, Profile: l.Profile.Name, Run: run,
		Spaces: l.plan.Claims, Allow: l.Inputs.AllowExisting, Admit: l.plan.Admit,
	}
}

// probe asks the store whether it would accept the writes of a plan without claims.
func (l *Live) probe(ctx context.Context) error {
	prober, ok := l.conn.(store.Prober)
	if !ok {
		return nil
	}
	for _, s := range l.plan.Spaces {
		if err := prober.Probe(ctx, s); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	return nil
}

// abandon ends the claim of a run that could not begin. If the run was interrupted, its
// connection is closed and the lease expires by itself.
func (l *Live) abandon(ctx context.Context, because error) error {
	defer l.closeKeeper()
	if l.claim == nil || ctx.Err() != nil {
		return nil
	}
	return l.claim.Abandon(ctx, because)
}

// closeKeeper closes the store that holds the claims, if it is not the run's own.
func (l *Live) closeKeeper() {
	if l.plan != nil && l.plan.Keeps != nil {
		_ = l.plan.Keeps.Close() // a temporary one of this process
	}
}

// whileClaimed stops the run if somebody else takes over its spaces.
func (l *Live) whileClaimed() {
	if l.claim == nil {
		return
	}
	go func() { // ends with the run
		select {
		case <-l.claim.Lost():
			l.Stop(l.claim.Err())
		case <-l.run.Done():
		}
	}()
}

// claimLost says why the spaces now belong to somebody else; nil if they do not.
func (l *Live) claimLost() error {
	if l.claim == nil {
		return nil
	}
	return l.claim.Err()
}

// releaseTimeout is how long releasing the lease may take: after that it has expired.
const releaseTimeout = place.TTL

// letGo releases the lease, unless the store does not answer: then it is left to
// expire.
func (l *Live) letGo(ctx context.Context, silent bool) {
	defer l.closeKeeper()
	if l.claim == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if silent {
		cancel()
	}
	if err := l.claim.Release(ctx); err != nil {
		l.env.Log.Debug("the lease lapses by itself", "why", err)
	}
}
