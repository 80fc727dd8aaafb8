package saga

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Share gives process i of n its clients: those that follow the clients of the processes
// before it, with the numbers that their transactions have in one process, and as large a
// part of the transactions.
func (s Binding) Share(p *workload.Plan, i, n int) error {
	refuse := func(why, hint string) error { return fault.Hint(errors.New(why), hint) }
	all := s.Start.Threads
	if s.Linearizable {
		if err := histories.OneProcess(n); err != nil {
			return err
		}
	}
	switch {
	case s.AckLog != "":
		return refuse("ackLog is one file, which the clients of one process write", "leave ackLog or --workers out")
	case s.Driver == "dtm":
		return refuse("a dtm server calls participants, whose accounts are in the process of the clients", "leave --workers out, or use redis:// or a database")
	case s.Count > 0 && s.Count < int64(all):
		return refuse(fmt.Sprintf("there are %s for %s", units.Plural(int(s.Count), "transaction"), units.Plural(all, "client")), "use more transactions, or leave --workers out")
	}
	workload.Own(p)
	t := &p.Phases[0].Tracks[0]
	from, to, err := workload.Divide(t, "mode=saga", all, i, n, n)
	if err != nil {
		return err
	}
	t.Iterations = share(s.Count, from, to, all)
	t.Total = t.Iterations
	p.Binder = Binding{s.Spec, workload.Stake{Process: i, Of: n, From: from, To: to, All: all}}
	return nil
}

// Passes says that any client can carry out what another has left.
func (s Binding) Passes() error { return nil }

// share registers what processes share: how all stood when the run began, what clients did, and
// what was done beside that.
func (r *Run) share(p *workload.Plan, o *opening) {
	s := p.Shared
	r.shared = s
	s.Keep(&o.mu, &o.atStart, &o.base, &o.foreign)
	s.Keep(&r.usage.mu, &r.usage.before)
	workload.Share(s, &r.clients)
	workload.Share(s, workload.Payloads{SizeSet: &r.sizes})
	workload.Share(s, r.beside.others)
	workload.Pass(s, 0, remainder{r, p}, int(model.OpSaga))
}

// Succeed notes that this process takes the place of another.
func (o *opening) Succeed(context.Context, workload.Predecessor) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.resumed = true
	return nil
}

// Join begins in a worker what Setup has begun where the run is conducted.
func (o *opening) Join(context.Context) error {
	o.r.tells = true
	o.r.beside.begin(o.r.stake)
	o.r.usage.join()
	return nil
}

// remainder is what of the transactions another process can carry out.
type remainder struct {
	r *Run
	p *workload.Plan
}

// Left tells how many transactions a process has left: what it may have begun since it told is
// taken up by whoever finds it, and others are made in its place.
func (m remainder) Left(of workload.Process, did []workload.Did) int64 {
	all := m.r.spec.Start.Threads
	from, to := workload.Stretch(all, of.Of, of.Part)
	return max(share(m.r.spec.Count, from, to, all)-did[0].Units-did[0].Failed, 0)
}

// Inherit goes on with the transactions that another process has left.
func (m remainder) Inherit(left int64, again int) bool {
	m.r.stake.Again = again
	t := &m.p.Phases[0].Tracks[0]
	t.Iterations, t.Total = left, left
	if left == 0 {
		t.NewTask = func(int) (workload.Task, error) {
			return workload.TaskFunc(func(context.Context, *workload.Iteration) error { return workload.ErrDone }), nil
		}
	}
	return true
}

// share is how many of a number those from one of all on, before another, have.
func share(count int64, from, to, all int) int64 {
	return count*int64(to)/int64(all) - count*int64(from)/int64(all)
}
