package run

import (
	"context"

	"github.com/perfbench/perfbench/internal/workload"
)

// mostCounted is how much a number may change between two reports of a process.
const mostCounted = 1 << 50

// share registers what processes share: what was there, what was found, and how far inserts
// came.
func (r *Run) share(p *workload.Bound) {
	s := p.Shared
	s.Found(&r.there.mu, &r.there.Loaded, &r.there.Base, &r.there.Open)
	s.Keep(&r.there.mu, &r.there.Sums)
	numbers := append(r.tallies.others.numbers(), &r.wrongs, &r.losts, &r.stales, &r.allowed, &r.ones, &r.read, &r.unread, &r.readFound, &r.stored, &r.absent, &r.loader.done)
	for _, set := range r.sets {
		numbers = append(numbers, &set.sum, &set.low, &set.high, &set.unanswered, &set.unsureAdds)
	}
	workload.Share(s, &counted{workload.CountersOf(mostCounted, numbers...), r})
	workload.Share(s, workload.Payloads{SizeSet: &r.payloads})
	workload.Share(s, r.others)
	if r.spec.Load == LoadOnly {
		return
	}
	ops := make([]int, len(r.work.Operations))
	for i := range ops {
		ops[i] = i
	}
	workload.Pass(s, 0, remainder{r, p.Plan}, ops...)
}

// counted tells the counters once what the clients have found is among them.
type counted struct {
	*workload.Counters
	r *Run
}

// Delta returns by how much they have changed.
func (c *counted) Delta() workload.CountersDelta {
	c.r.tallies.gather()
	return c.Counters.Delta()
}

// gather moves what the clients have found into the sums.
func (t *tallies) gather() {
	t.mu.Lock()
	defer t.mu.Unlock()
	to := t.others.numbers()
	for _, one := range t.all {
		for i, n := range one.numbers() {
			to[i].Add(n.Swap(0))
		}
	}
}

// progressDelta is how far a process came: the numbers of inserts that it has given out, by
// data set, and what was wrong.
type progressDelta struct {
	Of       int
	Issued   []int64
	Examples []string
	Broken   string
	// Due is how many records the process is to read back at its end, and Settled that it has.
	Due     int64
	Settled bool
}

// progress is what this process tells.
func (r *Run) progress() progressDelta {
	t := progressDelta{Of: r.stake.Of, Settled: r.settled.Load()}
	for _, s := range r.sets {
		t.Issued = append(t.Issued, s.issued.Load())
		if kept(s) && !s.absent {
			t.Due += Part(s.loaded, r.stake.Process, max(r.stake.Of, 1)) + s.acked.Load()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Examples, t.Broken = append(t.Examples, r.examples...), r.broken
	return t
}

// sound reports whether a process can have told that.
func (r *Run) sound(t *progressDelta) bool {
	return len(t.Issued) == len(r.sets) && t.Of <= workload.MaxProcesses && len(t.Examples) <= maxExamples && t.Due >= 0 && t.Due <= mostCounted
}

// mergeOthers reports whether other processes do the work, and takes over what they found wrong.
// unchecked is how many records they had stored, or were to check, and were lost before they did.
func (r *Run) mergeOthers() (others bool, unchecked int64) {
	all := r.others.Told()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range all {
		for _, e := range t.Examples {
			if len(r.examples) < maxExamples {
				r.examples = append(r.examples, e)
			}
		}
		if t.Broken != "" {
			r.broken = t.Broken
		}
		if !t.Settled && !r.forgets {
			unchecked += t.Due
		}
	}
	return len(all) > 0, unchecked
}

// nexts returns the number behind the last insert of any process into a data set.
func (r *Run) nexts(i int) int64 {
	of := int64(max(r.stake.Of, 1))
	most := r.sets[i].issued.Load()
	for _, t := range r.others.Told() {
		most, of = max(most, t.Issued[i]), int64(max(t.Of, 1))
	}
	return r.there.Base[i] + most*of
}

// remainder is what of the operations another process can carry out.
type remainder struct {
	r *Run
	p *workload.Plan
}

// Left tells how many operations a process has left.
func (m remainder) Left(of workload.Process, did []workload.Did) int64 {
	left := Part(m.r.spec.Count, of.Part, of.Of)
	for _, d := range did {
		left -= d.Units + d.Failed
	}
	return max(left, 0)
}

// Inherit goes on with the operations that another process has left.
func (m remainder) Inherit(left int64, again int) bool {
	m.r.stake.Again = again
	if m.r.spec.Count == 0 {
		return true
	}
	t := &m.p.Phases[0].Tracks[0]
	depth, _ := m.r.work.Pipelined() // it has been checked
	t.Iterations, t.Total = Iterations(left, depth), left
	if left == 0 {
		t.NewTask = func(int) (workload.Task, error) {
			return workload.TaskFunc(func(context.Context, *workload.Iteration) error { return workload.ErrDone }), nil
		}
	}
	return true
}

// Iterations is how many calls of a task carry out a number of operations, of which a client
// sends so many at a time.
func Iterations(count int64, depth int) int64 {
	return (count + int64(depth) - 1) / int64(depth)
}

// Part is how many of a number process i of n has.
func Part(count int64, i, n int) int64 {
	return count*int64(i+1)/int64(n) - count*int64(i)/int64(n)
}
