package workload

import (
	"math"
	"sync"
)

// Seconds is a Mergeable of what is observed once a second in each process. Where the whole is,
// what they observed at the end of the same second is added up, once all have told of it or it is
// long past. Its methods may be called from any goroutine.
type Seconds[T any] struct {
	// See observes; nil: there is nothing yet.
	See func() *T
	// At returns when something was observed, in ns of the run's time.
	At func(*T) int64
	// Fits reports whether a process can have observed that.
	Fits func(*T) bool
	// Sum takes what all that observed anything by a moment observed last.
	Sum func(at int64, all []*T)

	mu sync.Mutex
	// seen holds, for each process, the last that has been added up and what came since; nil: nobody
	// has told anything.
	seen map[int][]T
	done int64 // the second that was added up last
}

// mostUnsummed is how much of one process waits at most.
const mostUnsummed = 1000

// lateSeconds is for how many seconds one process is waited for.
const lateSeconds = 4

// SecondDelta is what a process observed; nil: nothing yet.
type SecondDelta[T any] struct{ Seen *T }

// Delta observes, and returns what it saw.
func (s *Seconds[T]) Delta() SecondDelta[T] { return SecondDelta[T]{s.See()} }

// Merge takes in what another process observed.
func (s *Seconds[T]) Merge(from Process, told SecondDelta[T]) bool {
	if told.Seen != nil && !s.Fits(told.Seen) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[int][]T{}
	}
	if told.Seen == nil {
		return true
	}
	row := append(s.seen[from.Number], *told.Seen)
	s.seen[from.Number] = row[max(len(row)-mostUnsummed, 0):]
	newest, all := int64(0), int64(math.MaxInt64)
	for _, row := range s.seen {
		last := s.second(&row[len(row)-1])
		newest, all = max(newest, last), min(all, last)
	}
	if len(s.seen) < from.Of {
		all = 0
	}
	s.upTo(max(all, newest-lateSeconds))
	return true
}

// Shared reports whether other processes observe.
func (s *Seconds[T]) Shared() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen != nil
}

// Close adds up what has not been yet. Of a run that was over within half a second that is what was
// seen at its end.
func (s *Seconds[T]) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest, at := int64(0), int64(0)
	for _, row := range s.seen {
		last := &row[len(row)-1]
		newest, at = max(newest, s.second(last)), max(at, s.At(last))
	}
	if s.upTo(newest); newest == 0 && at > 0 {
		s.sum(at)
	}
}

// second returns the second at the end of which something was observed.
func (s *Seconds[T]) second(x *T) int64 { return (s.At(x) + 5e8) / 1e9 }

// upTo adds up what was observed in each second up to last. The caller holds s.mu.
func (s *Seconds[T]) upTo(last int64) {
	for ; s.done < last; s.done++ {
		for process, row := range s.seen {
			for len(row) > 1 && s.second(&row[1]) <= s.done+1 {
				row = row[1:]
			}
			s.seen[process] = row
		}
		s.sum((s.done + 1) * 1e9)
	}
}

// sum adds up what was observed up to a moment, where that comes first. The caller holds s.mu.
func (s *Seconds[T]) sum(at int64) {
	var all []*T
	for _, row := range s.seen {
		if s.second(&row[0]) <= s.done+1 {
			all = append(all, &row[0])
		}
	}
	if len(all) > 0 {
		s.Sum(at, all)
	}
}
