package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// mostCounted is how much a number may change between two reports of a process.
const mostCounted = 1 << 50

// Share returns the part of a replay that has the threads from up to to, without it, and how many
// calls are theirs. It goes through the recording once more.
func (s *Spec) Share(from, to int) (*Spec, int64, error) {
	if s.KeepAnswers != "" || s.ExpectAnswers != "" {
		return nil, 0, fault.Input(errors.New("answers are kept and compared by one process"), "run without --workers, or without --keep-answers, --expect-answers and --order key")
	}
	part := *s
	part.part = dealing{from, to, s.Threads, s.ByKey}
	var err error
	part.when, err = s.Recording.part(part.part)
	return &part, part.when.n, err
}

// dealt is how the calls are dealt out to the threads of this process.
func (s *Spec) dealt() dealing {
	if s.part.of > 0 {
		return s.part
	}
	return dealing{0, s.Threads, s.Threads, s.ByKey}
}

// moments are when the calls of this process were made.
func (s *Spec) moments() index {
	if s.part.of > 0 {
		return s.when
	}
	return s.Recording.when
}

// share registers what processes share: which capture it is, and what was done.
func (r *Run) share(s *workload.Shared) {
	s.Found(&r.mu, &r.of)
	workload.Share(s, &counted{workload.CountersOf(mostCounted, r.total.numbers()...), r})
}

// Join compares the capture of this process with that of the one that prepared the run.
func (r *Run) Join(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of != r.answersOf() {
		return fault.Input(fmt.Errorf("capture: %s is another one here than where the run was prepared", r.Path), "each worker needs the same file, under the same name")
	}
	return nil
}

// counted tells the totals once what the threads have done is among them.
type counted struct {
	*workload.Counters
	r *Run
}

// Delta returns by how much they have changed.
func (c *counted) Delta() workload.CountersDelta {
	c.r.gather()
	return c.Counters.Delta()
}

// gather adds what the threads have done to the totals.
func (r *Run) gather() {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &r.total
	for _, one := range r.tallies {
		t.hits.Add(one.hits.Swap(0))
		t.misses.Add(one.misses.Swap(0))
		t.foundThen.Add(one.foundThen.Swap(0))
		t.missedThen.Add(one.missedThen.Swap(0))
		t.foundNow.Add(one.foundNow.Swap(0))
		t.missedNow.Add(one.missedNow.Swap(0))
	}
	made, through := r.lanes.Made(), r.lanes.through()
	t.made.Add(made - r.told.made)
	t.through.Add(through - r.told.through)
	r.told.made, r.told.through = made, through
}
