package saga

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
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
func (r *Run) share(p *workload.Plan) {
	s := p.Shared
	r.shared = s
	s.Keep(&r.mu, &r.atStart, &r.base, &r.foreign, &r.before)
	workload.Share(s, &r.clients)
	workload.Share(s, workload.Payloads{SizeSet: &r.sizes})
	workload.Share(s, r.others)
	workload.Pass(s, 0, int(model.OpSaga), remainder{r, p})
}

// Succeed notes that this process takes the place of another.
func (r *Run) Succeed(context.Context, workload.Predecessor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resumed = true
	return nil
}

// Join begins in a worker what Setup has begun where the run is conducted. All workers
// together look after unfinished transactions as often as one process does.
func (r *Run) Join(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn := func(every time.Duration) int64 {
		return time.Now().Add(every * time.Duration(r.stake.Process+1)).UnixNano()
	}
	r.nextPoll.Store(turn(r.spec.Cron))
	r.nextCheck.Store(turn(r.spec.Check))
	r.tells = true
	r.before.Client = r.conn.Client()
	return nil
}

// processes is how many share the work.
func (r *Run) processes() int { return max(r.stake.Of, 1) }

// besideTold is what a process did beside the transactions of its clients, as it stands.
type besideTold struct {
	Polls, Swept int64
	InRun        recovery
	Notes        notesTold
	Saw          model.Noticed
	Client       float64 // CPU seconds
}

type notesTold struct {
	Bad, Asked      map[string]int64
	Examples        map[string][]string
	Sampled, Moneys int64
}

// beside is what this process did beside transactions.
func (r *Run) beside() besideTold {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := &r.notes
	return besideTold{
		Polls: r.polls.Load(), Swept: r.swept, InRun: r.inRun, Saw: r.layer.Saw(), Client: r.conn.Client() - r.before.Client,
		Notes: notesTold{maps.Clone(n.bad), maps.Clone(n.asked), cloned(n.examples), n.sampled, n.moneys},
	}
}

func cloned(in map[string][]string) map[string][]string {
	out := make(map[string][]string, len(in))
	for k, v := range in {
		out[k] = slices.Clone(v)
	}
	return out
}

// mostFindings is how many different things that were found wrong a process may tell of.
const mostFindings = 100

// sound reports whether a process can have done this.
func (b *besideTold) sound() bool {
	n := &b.Notes
	if len(n.Bad) > mostFindings || len(n.Asked) > mostFindings || len(n.Examples) > mostFindings || len(b.InRun.Gids) > maxExamples {
		return false
	}
	for _, list := range n.Examples {
		if len(list) > maxExamples {
			return false
		}
	}
	return true
}

// together adds up what was done beside transactions, by this process and the others. The
// caller holds r.mu.
func (r *Run) together() (all besideTold, notes findings) {
	all = besideTold{Polls: r.polls.Load(), Swept: r.swept, InRun: r.inRun, Saw: r.layer.Saw(), Client: r.after.Client - r.before.Client}
	notes.merge(&r.notes)
	notes.sampled, notes.moneys = r.notes.sampled, r.notes.moneys
	for i, o := range r.others.Told() {
		if i == 0 {
			all.Client = 0 // this one conducts, and does nothing of it
		}
		all.Polls += o.Polls
		all.Swept += o.Swept
		all.InRun.join(&o.InRun)
		all.Saw.Beside += o.Saw.Beside
		all.Saw.Conflicts += o.Saw.Conflicts
		all.Saw.Waited += o.Saw.Waited
		all.Client += o.Client
		n := &o.Notes
		notes.merge(&findings{bad: n.Bad, asked: n.Asked, examples: n.Examples})
		notes.sampled += n.Sampled
		notes.moneys += n.Moneys
	}
	return all, notes
}

func (r *recovery) join(o *recovery) {
	r.Found += o.Found
	r.Done += o.Done
	r.Undone += o.Undone
	r.Undecided += o.Undecided
	r.Seconds += o.Seconds
	r.Gids = append(slices.Clone(r.Gids), o.Gids...)
	r.Gids = r.Gids[:min(len(r.Gids), maxExamples)]
}

// remainder is what of the transactions another process can carry out.
type remainder struct {
	r *Run
	p *workload.Plan
}

// Rest tells how many transactions a process has left: what it may have begun since it told is
// taken up by whoever finds it, and others are made in its place.
func (m remainder) Rest(of workload.Process, did workload.Did) int64 {
	all := m.r.spec.Start.Threads
	from, to := workload.Stretch(all, of.Of, of.Part)
	return max(share(m.r.spec.Count, from, to, all)-did.Units-did.Failed, 0)
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
