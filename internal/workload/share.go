package workload

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// Divide reduces a track to the threads of process i of n. Each thread has a
// share of the work; a process has the shares that follow those of the processes
// before it. Divide returns the range of its shares, with to excluded. In errors,
// what names the track's work and least is the smallest value of --threads that
// would do.
func Divide(t *Track, what string, all, i, n, least int) (from, to int, err error) {
	if all < n {
		return 0, 0, fault.Hint(fmt.Errorf("%s has %s and there are %d workers: each needs one at least", what, units.Plural(all, "thread"), n), fmt.Sprintf("use --threads %d or more, or fewer workers", least))
	}
	from, to = Stretch(all, n, i)
	t.First, t.Start.Threads = from, to-from
	t.Start.Rate *= float64(to-from) / float64(all)
	return from, to, nil
}

// Own gives p its own phases and tracks, not shared with copies of it.
func Own(p *Plan) {
	p.Phases = slices.Clone(p.Phases)
	for i := range p.Phases {
		p.Phases[i].Tracks = slices.Clone(p.Phases[i].Tracks)
	}
}

// Stretch returns the range of shares that process i of n has, with to excluded.
func Stretch(all, n, i int) (from, to int) {
	for before := range i {
		from += Split(all, n, before)
	}
	return from, from + Split(all, n, i)
}

// Stake says which workers of a track belong to process Process of Of: those in
// [From, To), out of All at the start.
type Stake struct {
	Process, Of, From, To, All int
	// Again is how many processes had this part before and were lost.
	Again int
}

// Number returns the number of one of this process's workers, as passed to
// NewTask, among the workers of all processes. No two workers get the same
// number: those added later are numbered in turns. With the zero Stake there is
// one process and the number is returned unchanged.
func (s *Stake) Number(worker int) int {
	switch {
	case s.Again > 0: // above all that those before may have had
		return s.All + (s.Again*MaxThreads+worker-s.From)*s.Of + s.Process
	case s.Of == 0 || worker < s.To:
		return worker
	}
	return s.All + (worker-s.To)*s.Of + s.Process
}

// Owns reports whether a number is that of a worker of this part, whichever process had it.
func (s *Stake) Owns(number int) bool {
	if number < s.All {
		return number >= s.From && number < s.To
	}
	return (number-s.All)%s.Of == s.Process
}
