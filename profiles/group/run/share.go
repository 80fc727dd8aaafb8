package run

import (
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
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
func (w *work) share(s *workload.Shared) {
	for k, r := range w.runs {
		workload.Share(s, r.Work)
		workload.Pass(s, k, r, 0)
		s.WhenLost(r.Lose)
	}
	for _, st := range w.structures.all {
		s.Keep(nil, &st.before, &st.loaded)
		workload.Share(s, workload.CountersOf(mostMoved, &st.pushed, &st.popped, &st.maybePushed, &st.maybePopped, &st.unanswered, &st.over))
		for _, form := range slices.Sorted(maps.Keys(st.ledgers)) {
			l := st.ledgers[form]
			workload.Share(s, workload.BitsOf(l.acked, l.tried)) // what is acknowledged was tried before, so it is told first
			workload.Share(s, workload.Flag{Bool: &l.spilled})
			workload.Share(s, workload.Payloads{SizeSet: &l.payloads})
		}
	}
	s.WhenLost(func(workload.Process) { w.lose() })
}

func (c *counts) list() (out []*atomic.Int64) {
	for i := range c.ops {
		o := &c.ops[i]
		out = append(out, &o.calls, &o.entries, &o.misses, &o.failed)
	}
	return out
}

// lose takes for attempted whatever may be done to a structure.
func (w *work) lose() {
	for _, r := range w.runs {
		for _, o := range r.g.Ops {
			for _, of := range o.Family() {
				if of.Kind != model.KindSleep {
					w.structures.at[of.Space].lose()
				}
			}
		}
	}
}
