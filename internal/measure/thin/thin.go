// Package thin keeps a bounded number of samples of a run without an end.
package thin

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
)

// List is samples of a run, however long it takes: whenever there are Most of
// them, every two become one. One goroutine at a time may use it.
type List[T any] struct {
	// Most is how many samples are kept at most, an even number.
	Most int
	// At tells when a sample was taken, in nanoseconds.
	At func(T) int64
	// Join makes one sample of two neighbours, which stands at the time of the later.
	Join func(earlier, later T) T

	list   []T
	halved int
}

// Add keeps a sample, unless it comes so soon after the last one, which was late, that
// a rate between them would say nothing.
func (s *List[T]) Add(x T) {
	if n := len(s.list); n > 0 && time.Duration(s.At(x)-s.At(s.list[n-1])).Seconds() < measure.ShortestRate {
		return
	}
	if s.list = append(s.list, x); len(s.list) < s.Most {
		return
	}
	for i := range s.list[:s.Most/2] {
		s.list[i] = s.Join(s.list[2*i], s.list[2*i+1])
	}
	s.list = s.list[:s.Most/2]
	s.halved++
}

// Samples returns what is kept.
func (s *List[T]) Samples() []T { return slices.Clone(s.list) }

// Every is how far samples lie apart by now that are taken so far apart.
func (s *List[T]) Every(taken time.Duration) time.Duration { return taken << s.halved }
