package ingestion

import (
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Share gives process i of n its loaders: those that follow the loaders of the processes
// before it, with the shares of keys that they would have in one process.
func (s *spec) Share(p *workload.Plan, i, n int) error {
	q := *s
	q.maps = slices.Clone(s.maps)
	workload.Own(p)
	for k := range q.maps {
		m := &q.maps[k]
		var err error
		if m.from, m.to, err = workload.Divide(&p.Phases[0].Tracks[k], "map "+m.name, len(m.shares), i, n, n*len(q.maps)); err != nil {
			return err
		}
	}
	p.Binder = &q
	return nil
}

// lost takes all that process i of n was to write for attempted.
func (b *binding) lost(i, n int) {
	for _, l := range b.loads {
		from, to := workload.Stretch(len(l.m.shares), n, i)
		l.work.Lost(from, to)
	}
}

// delta is what a process tells of its part of one map.
type delta struct {
	Work  padogrid.Delta
	Sizes []int `told:"payload"`
	Marks []words
}

// ledger tells what became of the part since the last call.
func (b *binding) ledger() []byte {
	var all []delta
	for _, l := range b.loads {
		all = append(all, delta{
			l.work.Export((*counts).list), l.sizes.All(), l.acked.export(),
		})
	}
	return workload.Ledger(all)
}

// Passes says that any loader can write what another has left.
func (s *spec) Passes() error { return nil }

// rest tells what process i of n has left to write.
func (b *binding) rest(p *workload.Plan, i, n int, did []workload.Did) []byte {
	var all []padogrid.Rest
	for k, l := range b.loads {
		from, to := workload.Stretch(len(l.m.shares), n, i)
		all = append(all, l.work.Rest(from, to, p.Of(did, k, 0).Units))
	}
	return workload.Ledger(all)
}

// takeOver goes on with what another process has left to write.
func (b *binding) takeOver(rest []byte) error {
	var all []padogrid.Rest
	if err := workload.ReadLedger(rest, &all); err != nil {
		return err
	}
	if len(all) != len(b.loads) {
		return workload.ErrAnotherRun
	}
	for k, l := range b.loads {
		if !l.work.TakeOver(all[k]) {
			return workload.ErrAnotherRun
		}
	}
	return nil
}

// credit takes in what another process has told.
func (b *binding) credit(ledger []byte) error {
	var all []delta
	if err := workload.ReadTold(ledger, &all); err != nil {
		return err
	}
	if len(all) != len(b.loads) {
		return workload.ErrAnotherRun
	}
	for i, l := range b.loads {
		ok := l.work.Credit(all[i].Work, (*counts).list) && l.acked.credit(all[i].Marks) && l.sizes.Credit(all[i].Sizes)
		if !ok {
			return workload.ErrAnotherRun
		}
	}
	return nil
}
