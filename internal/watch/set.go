package watch

import (
	"context"
	"errors"
	"sync"
)

// Set is the processes that are watched together, each under its role: "perfbench",
// "cassandra", "rabbitmq". Any goroutine may call its methods.
type Set struct {
	mu   sync.Mutex
	list []*Member
	told []func(*Member, Point)
	then []func(context.Context)
	// counts are the functions to call, by role.
	counts map[string]func(context.Context) ([]Count, error)
}

// At separates the role of one of several processes that share it from the address at
// which it listens.
const At = " at "

// Member is a process of a set.
type Member struct {
	*Watched
	Role string
}

// Put adds a process to the set, replacing any process with the same role.
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

// OnSample makes f be called with each sample of a process, on the sampling goroutine.
func (s *Set) OnSample(f func(*Member, Point)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, f)
}

// After makes f be called after each Look, on the same goroutine and with the same
// context.
func (s *Set) After(f func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.then = append(s.then, f)
}

// Each calls f with every process, in the order in which they were added. Until it
// returns, none is sampled.
func (s *Set) Each(f func(*Member)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.list {
		f(m)
	}
}

// Sample samples every process that was found, and reports the samples.
func (s *Set) Sample(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var c census
	for _, m := range s.list {
		if !m.Found() {
			continue
		}
		x := m.sample(ctx, &c)
		for _, f := range s.told {
			f(m, x)
		}
	}
	for _, f := range s.then {
		f(ctx)
	}
}

// Count is one number that something beside the store reports about itself at a moment.
type Count struct {
	// Name ends in its unit, for a counter in the unit of its growth: "memory_bytes",
	// "published_per_s".
	Name string
	// Value is a current state or, if Sum is set, what has been counted since the
	// start.
	Value float64
	Sum   bool
}

// Counts registers f as the source of what the process with a role reports about
// itself. It is called about once a second, on the sampling goroutine, after processes
// have been sampled.
func (s *Set) Counts(role string, f func(context.Context) ([]Count, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[string]func(context.Context) ([]Count, error){}
	}
	s.counts[role] = f
}

// Counted queries all registered sources and returns their numbers by role. The error
// says why some report nothing.
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
