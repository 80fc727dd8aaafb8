package eventstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
)

// Share gives process i of n its generators: those that follow the generators of the
// processes before it, with their share of the events, and a store stage of their own.
func (s *spec) Share(p *workload.Plan, i, n int) error {
	refuse := func(why, hint string) error { return fault.Hint(errors.New(why), hint) }
	switch {
	case s.search:
		return refuse("search=on paces the generators of one process", "leave --workers or search=on out")
	case s.via != facts.ViaDirect:
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

// Passes says why nobody can do what another process has left.
func (s *spec) Passes() error {
	return errors.New("what a worker had generated and not stored yet is lost with it, and nobody else knows which events these are")
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
		s.stake = workload.Stake{Process: i, Of: n, From: from, To: to, All: all}
		if s.events > 0 && s.events < int64(all) {
			return fault.Hint(fmt.Errorf("there are %s for %s", units.Plural(int(s.events), "event"), units.Plural(all, "generator")), "use more events, or leave --workers out")
		}
		s.events = s.events*int64(to)/int64(all) - s.events*int64(from)/int64(all)
		t.Total = s.events
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
	s.queries = s.queries*to/all - s.queries*from/all
	return nil
}

// share registers what processes share: whose events these are and what the store is like, what
// became of the events, and what was observed.
func (b *binding) share(s *workload.Shared) {
	b.shared = s
	s.Found(nil, &b.s.Born, &b.s.SequenceOfAlias0, &b.s.page, &b.tr)
	workload.Share(s, clock{b})
	workload.Share(s, books{b})
	workload.Share(s, b.sample)
	workload.Share(s, b.others)
	workload.Share(s, b.series)
	workload.Share(s, b.meter)
	s.WhenLost(b.lose)
}

// join begins what setup has begun in another process.
func (b *binding) join(ctx context.Context, as workload.Joined) error {
	if as.Instead {
		var last facts.Facts
		if err := json.Unmarshal(as.Facts, &last); err == nil { // what is not there is missing in the report
			b.watched = last.Processes
		}
		b.zero.Store(int64(as.Began.Sub(b.epoch)))
	} else {
		b.ledger.Record()
	}
	b.reopen()
	return b.open(ctx)
}

// clock is the time of the run, as processes share it.
type clock struct{ *binding }

// clockTold is the time of the run in a process, and whether its measured part has begun there.
type clockTold struct {
	Now     int64 `told:"signed"`
	Entered bool
}

// Tell tells the time of the run.
func (c clock) Tell() clockTold {
	return clockTold{c.clock() - c.zero.Load(), c.meter.Entered.Load()}
}

// Take sets the time of the run by that of another process. What takes longest to come makes the
// beginning seem late.
func (c clock) Take(_ workload.Process, t clockTold) bool {
	if c.toCome(t.Now) {
		return false
	}
	if zero := c.clock() - t.Now; t.Entered && (c.zero.Load() == 0 || zero < c.zero.Load()) {
		c.zero.Store(zero)
	}
	return true
}

// books are the accounts of all generators, as processes share them.
type books struct{ *binding }

// Tell tells what became of events since the last call.
func (k books) Tell() []ledger.BookTold { return k.ledger.Tell() }

// Take takes in what became of the events of another process.
func (k books) Take(from workload.Process, told []ledger.BookTold) bool {
	if !k.ledger.Take(from, told) {
		return false
	}
	for _, t := range told {
		k.box(int(t.Generator))
	}
	return true
}

// toCome reports whether the run has not come to a moment by its time, as far as clocks can run
// apart.
func (b *binding) toCome(at int64) bool {
	return at > int64(workload.Elapsed(b.epoch)+time.Minute)-min(b.zero.Load(), 0)
}

// stand is how a process stands: its drain, nil before that has begun, and the most that its
// store stage has held.
type stand struct {
	Drain *facts.Drain
	Peaks facts.Limits
}

func (b *binding) stand() stand { return stand{b.drained(), b.limits()} }

// settle ends what goes on beside the workers, once what is on its way is durable.
func (b *binding) settle(ctx context.Context) {
	b.finish(ctx)
	b.end(ctx)
}

// lose takes for attempted whatever the generators of a lost process may have sent.
func (b *binding) lose(of workload.Process) {
	all := b.s.start.Threads
	from, to := workload.Stretch(all, of.Of, of.Part)
	b.mu.Lock()
	most := max(len(b.boxes), all)
	b.mu.Unlock()
	gone := workload.Stake{Process: of.Part, Of: of.Of, From: from, To: to, All: all}
	for w := from; ; w++ {
		g := gone.Number(w)
		if w >= to && g >= most {
			break
		}
		b.box(g)
		b.ledger.Lose(uint32(g))
	}
	b.sample.reach(b.s.Born, b.wall())
}

// drained tells of the drain of all processes; nil: none has begun.
func (b *binding) drained() *facts.Drain {
	zero := b.zero.Load()
	others := b.others.Told()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(others) == 0 {
		if b.drainFrom == 0 {
			return nil
		}
		d := &facts.Drain{FromNs: b.drainFrom - zero, ToNs: b.clock() - zero, Backlog: b.backlog, Left: b.ledger.Left()}
		if b.drainTo > 0 {
			d.ToNs = b.drainTo - zero
		}
		return d
	}
	var all *facts.Drain
	for _, o := range others {
		switch {
		case o.Drain == nil:
		case all == nil:
			all = new(*o.Drain)
		default:
			all.Join(o.Drain)
		}
	}
	return all
}

// limits are those of the store stages of all processes, and what they have held.
func (b *binding) limits() facts.Limits {
	one := facts.Limits{MaxTasks: b.s.maxTasks, MaxTaskBytes: b.s.maxTaskBytes}
	others := b.others.Told()
	if len(others) == 0 {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, _, one.PeakTasks, one.PeakBytes = b.gate.Inside()
		return one
	}
	var all facts.Limits
	for _, o := range others {
		all.MaxTasks += one.MaxTasks
		all.MaxTaskBytes += one.MaxTaskBytes
		all.PeakTasks += o.Peaks.PeakTasks
		all.PeakBytes += o.Peaks.PeakBytes
	}
	return all
}
