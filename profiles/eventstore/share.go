package eventstore

import (
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// Share gives process i of n its generators: those that follow the generators of the
// processes before it, with their share of the events, and a store stage of their own.
func (s *spec) Share(p *workload.Plan, i, n int) error {
	refuse := func(why, hint string) error { return fault.Hint(errors.New(why), hint) }
	switch {
	case s.search.on:
		return refuse("search=on paces the generators of one process", "leave --workers or search=on out")
	case s.route.via != report.ViaDirect:
		return refuse("batches in one queue would reach the store stage of a worker other than the one that waits for them", "use via=direct, or leave --workers out")
	case s.crash > 0:
		return refuse("crash ends the store stage of one process", "leave --workers or crash out")
	}
	q := *s
	workload.Own(p)
	for k := range p.Phases {
		for j := range p.Phases[k].Tracks {
			t := &p.Phases[k].Tracks[j]
			if err := q.divide(t, i, n); err != nil {
				return err
			}
		}
	}
	p.Binder = &q
	return nil
}

// divide leaves in a track what is done by process i of n.
func (s *spec) divide(t *workload.Track, i, n int) error {
	switch t.Name {
	case trackEvents:
		all := t.Start.Threads
		from, to, err := workload.Divide(t, "event-store", all, i, n, n)
		if err != nil {
			return err
		}
		s.load.stake = workload.Stake{Process: i, Of: n, From: from, To: to, All: all}
		if s.load.events > 0 && s.load.events < int64(all) {
			return fault.Hint(fmt.Errorf("there are %s for %s", units.Plural(int(s.load.events), "event"), units.Plural(all, "generator")), "use more events, or leave --workers out")
		}
		s.load.events = share(s.load.events, s.load.stake)
		t.Total = s.load.events
		return nil
	case trackDrain:
		t.First = i
		return nil
	}
	all := t.Start.Threads
	from, to, err := workload.Divide(t, "track "+t.Name, all, i, n, n)
	if err != nil {
		return fault.Hint(err, fmt.Sprintf("use --set queryThreads=%d or query=off", n))
	}
	if t.Name == trackQuery { // readers have no count
		s.query.count = s.query.count*to/all - s.query.count*from/all
	}
	return nil
}

// share registers what processes share: whose events these are and what the store is like, what
// became of the events, what was observed, and what another process can finish.
func (b *binding) share(p *workload.Plan) {
	s := p.Shared
	b.account.shared = s
	s.Found(nil, &b.s.Born, &b.s.SequenceOfAlias0, &b.s.page, &b.tr)
	workload.Share(s, b.clock)
	workload.Share(s, books{b.ledger, b.boxes})
	workload.Share(s, b.queries.sample)
	workload.Share(s, b.others)
	workload.Share(s, &b.series.seconds)
	workload.Share(s, workload.CountersOf(mostCounted, b.counts.Numbers()...))
	s.WhenLost(b.lose)
	b.pass(p)
}

// mostCounted is by how much a count may change within a second: a thousand times more than
// anybody stores.
const mostCounted = 1 << 42

// books are the accounts of all generators, as processes share them.
type books struct {
	*ledger.Ledger
	boxes *mailboxes
}

// Merge takes in what became of the events of another process.
func (k books) Merge(from workload.Process, told []ledger.BookDelta) bool {
	if !k.Ledger.Merge(from, told) {
		return false
	}
	for _, t := range told {
		k.boxes.box(int(t.Generator))
	}
	return true
}

// lose takes for attempted whatever the generators of a lost process may have sent.
func (b *binding) lose(of workload.Process) {
	gone := b.stake(of)
	most := gone.To // it may have as many more as others have
	for g := range b.boxes.each() {
		if g >= gone.All {
			most = max(most, gone.To+(g-gone.All)/of.Of%workload.MaxThreads+1)
		}
	}
	for w := gone.From; w < most; w++ {
		g := gone.Number(w)
		b.boxes.box(g)
		b.ledger.Lose(uint32(g))
	}
	b.queries.sample.reach(b.s.Born, b.clock.wall())
}

// stake returns which generators a process has, of all those of the run.
func (b *binding) stake(of workload.Process) workload.Stake {
	all := b.s.load.start.Threads
	from, to := workload.Stretch(all, of.Of, of.Part)
	return workload.Stake{Process: of.Part, Of: of.Of, From: from, To: to, All: all, Again: of.Again}
}
