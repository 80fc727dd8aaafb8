package ingestion

import (
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
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

// Passes says that any loader can write what another has left.
func (s *spec) Passes() error { return nil }

// share registers what processes share of the maps.
func (b *binding) share(s *workload.Shared) {
	for k, l := range b.loads {
		workload.Share(s, l.work)
		workload.Share(s, workload.Payloads{SizeSet: &l.sizes})
		workload.Share(s, workload.BitsOf(l.acked.shares...))
		workload.Pass(s, k, l.work, 0)
		s.WhenLost(l.work.Lose)
	}
}
