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
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
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

// found is what workers go by: whose events these are, and what the store is like.
type found struct {
	Born     int64        `json:"born"`
	Sequence int64        `json:"sequence"`
	Page     string       `json:"page"`
	Traits   model.Traits `json:"traits"`
}

func (b *binding) found() []byte {
	data, err := json.Marshal(found{b.s.Born, b.s.SequenceOfAlias0, b.s.page, b.tr})
	if err != nil {
		panic(err) // plain data
	}
	return data
}

// adopt begins in a worker what setup has begun where the run is conducted.
func (b *binding) adopt(data []byte) error {
	b.ledger.Record()
	return b.join(context.Background(), data)
}

// resume goes on with the run of another process, of which it has kept what it had found.
func (b *binding) resume(ctx context.Context, p workload.Restored) error {
	var last facts.Facts
	if err := json.Unmarshal(p.Facts, &last); err == nil { // what is not there is missing in the report
		b.watched = last.Processes
	}
	b.zero.Store(int64(p.Began.Sub(b.epoch)))
	return b.join(ctx, p.Kept)
}

// join begins what setup has begun in another process.
func (b *binding) join(ctx context.Context, data []byte) error {
	var f found
	if err := json.Unmarshal(data, &f); err != nil {
		return fmt.Errorf("event-store: read what was found in the store: %w", err)
	}
	b.s.Born, b.s.SequenceOfAlias0, b.s.page, b.tr = f.Born, f.Sequence, f.Page, f.Traits
	b.reopen()
	return b.open(ctx)
}

// delta is what a process tells of its part.
type delta struct {
	Process, Of int
	Now         int64 `told:"signed"` // the time of the run
	Meter       stage.Delta
	Books       []ledger.BookTold
	First, Last int64 `told:"time"` // starts of what was stored
	Look        *look
	Drain       *facts.Drain
	Peaks       facts.Limits
}

// export tells what became of the part since the last call.
func (b *binding) export() (out []byte) {
	first, last, _ := b.sample.span()
	t := delta{
		Process: b.s.stake.Process, Of: b.s.stake.Of, Now: b.clock() - b.zero.Load(),
		Books: b.ledger.Export(), First: first, Last: last, Drain: b.drained(), Peaks: b.limits(),
	}
	if b.zero.Load() != 0 {
		if t.Look = b.series.see(context.Background()); t.Look != nil {
			t.Look.Own = b.sampleOwn(context.Background())
		}
	}
	b.meter.Export(func(m stage.Delta) {
		t.Meter = m
		out = workload.Ledger(t)
	})
	return out
}

// credit takes in what another process has told.
func (b *binding) credit(data []byte) error {
	var t delta
	if err := workload.ReadTold(data, &t); err != nil {
		return err
	}
	if !workload.Voiced(t.Process, t.Of) || t.Process >= t.Of || !ledger.Sound(t.Books) || !t.Meter.Sound() || b.toCome(t.Now) || t.Look != nil && b.toCome(t.Look.AtNs) {
		return workload.ErrAnotherRun
	}
	// What takes longest to come makes the beginning seem late.
	if zero := b.clock() - t.Now; t.Meter.Entered && (b.zero.Load() == 0 || zero < b.zero.Load()) {
		b.zero.Store(zero)
	}
	for _, book := range t.Books {
		b.box(int(book.Generator))
	}
	b.ledger.Credit(t.Books)
	b.sample.reach(t.First, t.Last)
	b.meter.Credit(t.Process, t.Meter)
	b.series.credit(t.Process, t.Of, t.Look)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.others == nil {
		b.others = map[int]heard{}
	}
	b.others[t.Process] = heard{t.Drain, t.Peaks}
	return nil
}

// toCome reports whether the run has not come to a moment by its time, as far as clocks can run
// apart.
func (b *binding) toCome(at int64) bool {
	return at > int64(workload.Elapsed(b.epoch)+time.Minute)-min(b.zero.Load(), 0)
}

// heard is what was told last of another process.
type heard struct {
	drain *facts.Drain
	peaks facts.Limits
}

// settle ends what goes on beside the workers, once what is on its way is durable.
func (b *binding) settle(ctx context.Context) {
	b.finish(ctx)
	b.end(ctx)
}

// lost takes for attempted whatever the generators of process i of n may have sent.
func (b *binding) lost(i, n int) {
	all := b.s.start.Threads
	from, to := workload.Stretch(all, n, i)
	b.mu.Lock()
	most := max(len(b.boxes), all)
	b.mu.Unlock()
	gone := workload.Stake{Process: i, Of: n, From: from, To: to, All: all}
	for w := from; ; w++ {
		g := gone.Number(w)
		if w >= to && g >= most {
			break
		}
		b.box(g)
		b.ledger.Lose(uint32(g))
	}
	b.sample.reach(b.s.Born, b.wall())
	b.gone.Store(true)
}

// drained tells of the drain of all processes; nil: none has begun.
func (b *binding) drained() *facts.Drain {
	zero := b.zero.Load()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.others == nil {
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
	for _, o := range b.others {
		switch {
		case o.drain == nil:
		case all == nil:
			all = new(*o.drain)
		default:
			all.Join(o.drain)
		}
	}
	return all
}

// limits are those of the store stages of all processes, and what they have held.
func (b *binding) limits() facts.Limits {
	one := facts.Limits{MaxTasks: b.s.maxTasks, MaxTaskBytes: b.s.maxTaskBytes}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.others == nil {
		_, _, one.PeakTasks, one.PeakBytes = b.gate.Inside()
		return one
	}
	var all facts.Limits
	for _, o := range b.others {
		all.MaxTasks += one.MaxTasks
		all.MaxTaskBytes += one.MaxTaskBytes
		all.PeakTasks += o.peaks.PeakTasks
		all.PeakBytes += o.peaks.PeakBytes
	}
	return all
}
