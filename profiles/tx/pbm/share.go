package pbm

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/workload"
)

// Share gives process i of n its clients: those that follow the clients of the processes
// before it, with what they would do in one process.
func (s *Spec) Share(p *workload.Plan, i, n int) error {
	if s.linearizable {
		if err := histories.OneProcess(n); err != nil {
			return err
		}
	}
	if s.load == loadOnly {
		return fault.Hint(errors.New("load=only loads before the run begins, which one process does"), "leave --workers out")
	}
	q := *s
	q.maps = slices.Clone(s.maps)
	workload.Own(p)
	for k := range q.maps {
		m := &q.maps[k]
		var err error
		if m.from, m.to, err = workload.Divide(&p.Phases[0].Tracks[k], "map "+m.name, m.start.Threads, i, n, n*len(q.maps)); err != nil {
			return err
		}
	}
	p.Binder = &q
	return nil
}

// Passes says that any client can do what another has left.
func (s *Spec) Passes() error { return nil }

// share registers what processes share: what was found in the store, what was loaded, and the
// work on each map.
func (b *run) share(s *workload.Shared) {
	s.Found(nil, &b.s.layout, &b.s.left, &b.s.hadSummaries)
	s.Keep(&b.mu, &b.loaded)
	for k, w := range b.works {
		workload.Share(s, w.Work)
		workload.Share(s, workload.Payloads{SizeSet: &w.sizes})
		workload.Share(s, workload.BitsOf(w.touched))
		workload.Pass(s, k, w.Work, int(opWork))
		s.WhenLost(func(of workload.Process) {
			w.Lose(of)
			w.sizes.Note(w.m.start.Payload)
		})
	}
}

// Succeed takes the maps that a process has loaded in whose place this one is for complete.
func (b *run) Succeed(ctx context.Context, _ workload.Predecessor) error {
	for _, name := range b.missing {
		if err := b.claim.Update(ctx, b.s.space(name), b.params(name, "")); err != nil {
			return err
		}
	}
	return nil
}

func (c *counts) list() []*atomic.Int64 {
	return []*atomic.Int64{&c.missing, &c.conflicts, &c.gaveUp, &c.unanswered}
}
