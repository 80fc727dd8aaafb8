package remote

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/perfbench/perfbench/internal/fault"
)

// liveness owns who is heard of: it takes beats, finds out who is silent and who is gone, and has
// nobody wait for them for too long.
type liveness struct {
	o        *Options
	conn     *Connection
	roster   *Roster
	tell     *Commands
	replay   *Replay
	handoffs *handoffs
	idle     atomic.Bool // nobody is told anything any more
}

// beat takes that a member is there.
func (l *liveness) beat(m *nats.Msg) {
	r := l.roster
	r.mu.Lock()
	defer r.mu.Unlock()
	i, w := r.find(m.Subject)
	if w == nil || w.standing.ended() || !l.idle.Load() { // else it goes by what the store says
		answer(m, nil)
	}
	switch {
	case w == nil:
		return
	case w.duty.passedOn():
		l.handoffs.returned(i)
		return
	case !w.counts():
		return
	}
	w.beat = time.Now()
	if r.notice(i, heard) {
		w.stalls++
		w.LostAt = 0
	}
}

// watch looks for who is silent, until ctx ends.
func (l *liveness) watch(ctx context.Context) {
	tick := time.NewTicker(beatEvery / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !l.replay.done() {
			continue
		}
		if who := l.quiet(); len(who) > 0 {
			l.sortOut(ctx, who)
		}
	}
}

// quiet are the members that have not been heard of for a while, of those that are waited for.
func (l *liveness) quiet() (out []int) {
	l.roster.mu.Lock()
	defer l.roster.mu.Unlock()
	for i, m := range l.roster.members {
		if !m.standing.done() && time.Since(m.beat) > silent {
			out = append(out, i)
		}
	}
	return out
}

// sortOut tells those that are stalled from those that are gone: NATS says at once when
// nobody listens to what a worker listens to.
func (l *liveness) sortOut(ctx context.Context, quiets []int) {
	gone := make([]bool, len(quiets))
	var all sync.WaitGroup
	for k, i := range quiets {
		all.Go(fault.Guarded(func() {
			ctx, cancel := context.WithTimeout(ctx, beatEvery/2)
			defer cancel()
			_, err := l.conn.nc.RequestWithContext(ctx, l.tell.to(i, "clock"), nil)
			gone[k] = errors.Is(err, nats.ErrNoResponders) || !l.conn.nc.IsConnected()
		}))
	}
	all.Wait()
	r := l.roster
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, i := range quiets {
		m := r.members[i]
		if m.standing.done() || time.Since(m.beat) <= silent {
			continue
		}
		now := quiet
		if gone[k] {
			now = vanished
		}
		if r.notice(i, now); gone[k] && m.LostAt == 0 && !r.at.IsZero() {
			m.LostAt = time.Since(r.at)
		}
		l.giveUp(i, m)
		r.wake()
	}
}

// giveUp has nobody wait any longer for a member that has been silent for too long. The
// caller holds Roster.mu.
func (l *liveness) giveUp(i int, m *member) {
	if l.roster.at.IsZero() || time.Since(m.beat) <= l.o.Patience || !l.roster.notice(i, outwaited) {
		return
	}
	m.givenUp = true
	if m.LostAt == 0 {
		m.LostAt = time.Since(l.roster.at)
	}
	l.handoffs.pass(i, m)
	l.handoffs.progress.check()
}
