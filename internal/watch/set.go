package watch

import (
	"context"
	"errors"
	"sync"
)

// Set is the processes that are watched together, each by the role that it plays:
// "perfbench", "cassandra", "rabbitmq". Any goroutine may call its methods.
type Set struct {
	mu   sync.Mutex
	list []*Member
	told []func(*Member, Point)
	then []func(context.Context)
	// counts are asked by role.
	counts map[string]func(context.Context) ([]Count, error)
}

// At is between the role of one of several processes that play it and where it listens.
const At = " at "

// Member is a process of a set.
type Member struct {
	*Watched
	Role string
}

// Put adds a process to the set, in the place of the one that had its role.
func (s *Set) Put(role string, w *Watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		if m.Role == role {
			m.Watched = w
			return
		}
	}
	s.list = append(s.list, &Member{w, role})
}

// Tell has f called with each sample of a process, on the goroutine that looks.
func (s *Set) Tell(f func(*Member, Point)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, f)
}

// After has f called after each look, on the goroutine that looks, with its context.
func (s *Set) After(f func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.then = append(s.then, f)
}

// Each calls f with every process, in the order in which they came; until it returns
// nobody samples them.
func (s *Set) Each(f func(*Member)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		f(m)
	}
}

// Look samples every process that was found, and tells of it.
func (s *Set) Look(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		if !m.Found() {
			continue
		}
		x := m.Take(ctx)
		for _, f := range s.told {
			f(m, x)
		}
	}
	for _, f := range s.then {
		f(ctx)
	}
}

// Count is one number that something beside the store tells of itself at a moment.
type Count struct {
	// Name ends in its unit, of a sum in that of its growth: "memory_bytes",
	// "published_per_s".
	Name string
	// Value is a state, or with Sum what has been counted since it began.
	Value float64
	Sum   bool
}

// Counts has f asked for what the one with a role tells of itself. It is called about once
// a second, on the goroutine that looks, after processes have been looked at.
func (s *Set) Counts(role string, f func(context.Context) ([]Count, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[string]func(context.Context) ([]Count, error){}
	}
	s.counts[role] = f
}

// Counted asks all that tell of themselves, by their roles. The error says why some tell
// nothing.
func (s *Set) Counted(ctx context.Context) (map[string][]Count, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	out := map[string][]Count{}
	for role, f := range s.counts {
		list, err := f(ctx)
		out[role] = list
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}
