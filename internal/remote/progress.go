package remote

import (
	"slices"

	"github.com/perfbench/perfbench/internal/measure"
)

// Progress owns what the engine waits for: how far the members of a run are, all together, and
// when they are through. Its methods may be called from any goroutine.
type Progress struct {
	roster *Roster
	tell   *Commands
	over   map[int]chan struct{} // of tracks; guarded by Roster.mu
}

func newProgress(roster *Roster, tell *Commands) *Progress {
	return &Progress{roster: roster, tell: tell, over: map[int]chan struct{}{}}
}

// Over is closed when no worker is at work on a track any more; of a track below 0, when
// each has told everything, too.
func (p *Progress) Over(track int) <-chan struct{} {
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	over := p.over[track]
	if over == nil {
		over = make(chan struct{})
		p.over[track] = over
		p.check()
	}
	return over
}

// check closes what says that nobody works on a track any more, and lets those go that nobody
// needs. Whatever may end the work of a member is followed by it. The caller holds Roster.mu.
func (p *Progress) check() {
	for track, over := range p.over {
		busy := func(m *member) bool {
			return !m.standing.done() && m.ends[track] == 0 && (track < 0 || !m.duty.through())
		}
		if !p.roster.full() || slices.ContainsFunc(p.roster.members, busy) {
			continue
		}
		select {
		case <-over:
		default:
			close(over)
		}
	}
	p.letGo()
}

// letGo lets members leave that have stayed for the parts of others, once all are through.
// The caller holds Roster.mu.
func (p *Progress) letGo() {
	if slices.ContainsFunc(p.roster.members, func(m *member) bool { return !m.duty.through() && !m.standing.done() }) {
		return
	}
	for i, m := range p.roster.members {
		if m.duty == staying && !m.standing.done() {
			m.duty = released
			p.tell.command(i, Command{Release: true}, false)
		}
	}
}

// Complete says whether all workers that work have told of a second.
func (p *Progress) Complete(second int) bool {
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	return !slices.ContainsFunc(p.roster.members, func(m *member) bool {
		return m.standing.now == Working && !m.duty.through() && m.last < second
	})
}

// Seen tells what all workers know of a track. Of those that are gone it has the sessions that
// they had begun.
func (p *Progress) Seen(track int) (all measure.Seen) {
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	known := true
	for _, m := range p.roster.members {
		if track < len(m.gauges) {
			g := &m.gauges[track]
			sessions := g.Sessions
			if m.standing.done() {
				sessions.Open = 0
			} else {
				all.Backlog += g.Backlog
			}
			all.Sessions = all.Sessions.Plus(sessions)
		}
		known = known && (m.standing.done() || m.ends[track] > 0)
		all.Ended = max(all.Ended, m.ends[track])
	}
	if !known {
		all.Ended = 0
	}
	return all
}

// Unstarted is how many units of a track were due in a segment and never begun.
func (p *Progress) Unstarted(segment, track int) int64 {
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	var n int64
	for _, m := range p.roster.members {
		if segment < len(m.unstarted) && track < len(m.unstarted[segment]) {
			n += m.unstarted[segment][track]
		}
	}
	return n
}
