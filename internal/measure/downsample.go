package measure

import (
	"slices"
	"time"
)

// Downsampled holds samples of a run, however long it takes: whenever there are Most of
// them, every two neighbours become one. One goroutine at a time may use it.
type Downsampled[T any] struct {
	// Most is the largest number of samples to keep, an even number.
	Most int
	// At returns when a sample was taken, in nanoseconds.
	At func(T) int64
	// Join merges two neighbouring samples into one, at the time of the later.
	Join func(earlier, later T) T

	list   []T
	halved int
}

// Add keeps a sample, unless it follows a late one so closely that a rate between
// the two would be meaningless.
func (s *Downsampled[T]) Add(x T) {
	if n := len(s.list); n > 0 && time.Duration(s.At(x)-s.At(s.list[n-1])).Seconds() < ShortestRate {
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

// Samples returns the samples kept.
func (s *Downsampled[T]) Samples() []T { return slices.Clone(s.list) }

// Every returns the current interval between kept samples if they are taken at
// the given interval.
func (s *Downsampled[T]) Every(taken time.Duration) time.Duration { return taken << s.halved }
