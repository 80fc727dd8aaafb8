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

// wanted is what a run of that id claims.
func (l *Live) wanted(run string) place.Want {
	return place.Want{
		Namespace: l.Inputs.Namespace, Profile: l.Profile.Name, Run: run,
		Spaces: l.plan.Claims, Allow: l.Inputs.AllowExisting, Admit: l.plan.Admit,
	}
}

// probe asks the store whether it would take the writes of a plan without claims.
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

// abandon ends the claim of a run that could not begin. When it was interrupted its
// connection is closed, and the lease lapses by itself.
func (l *Live) abandon(ctx context.Context, because error) error {
	defer l.closeKeeper()
	if l.claim == nil || ctx.Err() != nil {
		return nil
	}
	return l.claim.Abandon(ctx, because)
}

// closeKeeper closes the store of the claims when it is another than the run's.
func (l *Live) closeKeeper() {
	if l.plan != nil && l.plan.Keeps != nil {
		_ = l.plan.Keeps.Close() // a temporary one of this process
	}
}

// whileClaimed stops the run when somebody else takes its spaces over.
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

// claimLost returns why the spaces are somebody else's by now, nil when they are not.
func (l *Live) claimLost() error {
	if l.claim == nil {
		return nil
	}
	return l.claim.Err()
}

// releaseTimeout is how long giving the lease up may take: after that it has lapsed.
const releaseTimeout = place.TTL

// letGo gives the lease up. A store that does not answer is not asked: there it lapses.
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
