package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Share gives process i of n its callers of each group: those that follow the callers of
// the processes before it, with the invocations that they would have in one process. It
// returns what that process goes by.
func Share(s *model.Spec, p *workload.Plan, i, n int) (*model.Spec, error) {
	if err := undivided(s); err != nil {
		return nil, err
	}
	q := *s
	q.Groups, q.Steps = nil, nil
	workload.Own(p)
	for k, step := range s.Steps {
		var mine []*model.Group
		for j, g := range step {
			part := *g
			var err error
			if part.From, part.To, err = workload.Divide(&p.Phases[k].Tracks[j], "group "+g.Track, len(g.Shares), i, n, n); err != nil {
				return nil, err
			}
			mine = append(mine, &part)
		}
		q.Steps, q.Groups = append(q.Steps, mine), append(q.Groups, mine...)
	}
	return &q, nil
}

// undivided says why the work of a plan is that of one process.
func undivided(s *model.Spec) error {
	refuse := func(why, hint string) error { return fault.Hint(errors.New(why), hint) }
	switch {
	case s.Load == model.LoadOnly:
		return refuse("load=only loads before the run begins, which one process does", "leave --workers out")
	case s.Resume:
		return refuse("resume=on leaves out what an earlier run has done, which one process finds out", "leave --workers or resume=on out")
	case s.Near:
		return refuse("nearCache=on measures the cache of one client", "leave --workers or nearCache=on out")
	}
	for k := range s.Steps {
		if len(s.Topics(k)) > 0 {
			return refuse("deliveries of a topic are timed in the process that sends them", "leave --workers out, or use subscribers=0")
		}
	}
	for _, o := range s.Order {
		if o.Shared != nil && o.Children != nil && o.Children.Spread == model.ChildrenUniform && o.Children.Least == 1 {
			return refuse("operation "+o.Name+" draws numbers of children from one sequence (compat=on), so they would differ", "use compat=off, or leave --workers out")
		}
	}
	return nil
}

// share registers what processes share: how much there was in the structures, the invocations of
// the groups, and what became of the structures. The tracks of groups come in their order, before
// those of the topics of a step, of which there are none.
func (b *binding) share(s *workload.Shared) {
	for k, r := range b.runs {
		workload.Share(s, r.Work)
		workload.Pass(s, k, 0, r)
		s.WhenLost(r.Lose)
	}
	for _, st := range b.inOrder() {
		s.Keep(nil, &st.before, &st.loaded)
		workload.Share(s, workload.CountersOf(mostMoved, &st.pushed, &st.popped, &st.maybePushed, &st.maybePopped))
		for _, form := range slices.Sorted(maps.Keys(st.ledgers)) {
			l := st.ledgers[form]
			workload.Share(s, workload.BitsOf(l.acked, l.tried)) // what is acknowledged was tried before, so it is told first
			workload.Share(s, workload.Flag{Bool: &l.spilled})
			workload.Share(s, workload.Payloads{SizeSet: &l.payloads})
		}
	}
	s.WhenLost(func(workload.Process) { b.lose() })
}

// Succeed takes the structures for such as a process has loaded in whose place this one is, and
// whose places are claimed as it found them.
func (b *binding) Succeed(ctx context.Context, _ workload.Predecessor) error {
	if r, ok := b.layer.(layer.Preparer); ok {
		if err := r.Prepare(ctx, b.claim); err != nil {
			return err
		}
	}
	for _, st := range b.inOrder() {
		if b.loads(st) {
			if err := b.record(ctx, st, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *counts) list() (out []*atomic.Int64) {
	for i := range c.ops {
		o := &c.ops[i]
		out = append(out, &o.calls, &o.entries, &o.misses, &o.failed)
	}
	return out
}

// unknown is how many elements a process that was lost may have pushed or popped: any
// number.
const unknown = 1 << 40

// mostMoved is how many elements other processes may tell of: those of a coordinator that
// died hold what is unknown of each that it lost.
const mostMoved = workload.MaxProcesses * 2 * unknown

// lose takes for attempted whatever may be done to a structure.
func (b *binding) lose() {
	for _, r := range b.runs {
		for _, o := range r.g.Ops {
			for _, of := range o.Family() {
				if of.Kind != model.KindSleep {
					b.stocks[of.Space].lose()
				}
			}
		}
	}
}

// lose takes for attempted all that may be done to a structure.
func (st *stock) lose() {
	if st.writes {
		st.maybePushed.Add(unknown)
	}
	if st.removes {
		st.maybePopped.Add(unknown)
	}
	for _, l := range st.ledgers {
		for n := range l.n {
			l.set(l.tried, l.lo+n)
		}
	}
}
