package remote

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// How the rest of a part is done by another, where Options.Pass is set: a worker that nobody
// waits for any longer has an heir, which is one more worker, in the process of one that is
// there. What the lost one told counts up to its last message, and whatever comes of it later
// does not: should it be back, it is told to end. So that somebody is there to take on a
// part, a worker that is through with its own stays until all are.

// Handoff is the rest of a part, as another takes it on.
type Handoff struct {
	// Index is the number of the worker that does it, Part that of the part.
	Index int `json:"index"`
	Part  int `json:"part"`
	// Left is what is left, in the profile's own words.
	Left []byte `json:"left"`
	// Phases have begun, that long after the run.
	Phases map[string]time.Duration `json:"phases,omitempty"`
	// Settings are those of the part's tracks, in force in the segment of that number.
	Segment  int                 `json:"segment"`
	Settings []workload.Settings `json:"settings"`
}

// handoffs owns who takes on what others have left to do.
type handoffs struct {
	o        *Options
	roster   *Roster
	tell     *Commands
	progress *Progress
	intake   *intake
}

// pass gives the rest of the part of a member that nobody waits for to an heir, whom nobody
// hosts yet. The caller holds Roster.mu.
func (h *handoffs) pass(i int, m *member) {
	if h.o.Pass == nil || m.duty != working {
		return
	}
	heir := newMember(Hello{})
	heir.part, heir.host = m.part, -1
	m.duty, m.heir = passed, h.roster.add(heir)
	number := m.heir
	fault.Go(func() { h.handOver(i, number) })
}

// handOver has a member take on the part of another, as its heir of that number.
func (h *handoffs) handOver(from, number int) {
	r := h.roster
	on := Handoff{Index: number}
	h.intake.pause(func() { // what it told has been taken, and nothing more is
		r.mu.Lock()
		on.Part = r.members[from].part
		did := slices.Clone(r.members[from].did)
		r.members[number].did = did
		r.mu.Unlock()
		on.Phases = h.tell.entered()
		rest := h.o.Pass(on.Part, slices.Clone(did))
		on.Left, on.Segment, on.Settings = rest.Left, rest.Segment, rest.Settings
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	heir := r.members[number]
	heir.host = h.idlest()
	if heir.host < 0 {
		heir.standing, heir.LostAt = standing{now: Gone, lost: true}, max(time.Since(r.at), 1)
		h.progress.check()
		return
	}
	host := r.members[heir.host]
	heir.Hello, heir.Offset, heir.Trip, heir.beat = host.Hello, host.Offset, host.Trip, time.Now()
	if h.o.Passed != nil {
		to := heir.host
		fault.Go(func() { h.o.Passed(from, number, to) })
	}
	h.tell.command(heir.host, Command{Handoff: &on}, false)
}

// idlest is the number of a worker that can take on a part, of those that have taken on the
// fewest; -1: there is none. The caller holds Roster.mu.
func (h *handoffs) idlest() int {
	best, least := -1, 0
	all, workers := h.roster.members, min(h.o.Workers, len(h.roster.members))
	for i, m := range all[:workers] {
		if m.standing.done() || m.duty.passedOn() {
			continue
		}
		load := 0
		for _, heir := range all[workers:] {
			if heir.host == i && !heir.standing.done() {
				load++
			}
		}
		if m.standing.now != Working {
			load += MaxWorkers // it is silent, and may be lost itself
		}
		if best < 0 || load < least {
			best, least = i, load
		}
	}
	return best
}

// returned tells a member that is back to end: its part is another's. The caller holds
// Roster.mu.
func (h *handoffs) returned(i int) {
	m := h.roster.members[i]
	if m.duty == dismissed {
		return
	}
	m.duty = dismissed
	h.tell.command(i, Command{Stop: fmt.Sprintf("the rest of its part was dealt to worker %d", m.heir+1)}, false)
	if h.o.Noticed != nil {
		host := m.Hello.Host
		fault.Go(func() { h.o.Noticed(i, host, Returned) })
	}
}
