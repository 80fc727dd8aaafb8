package watch

import (
	"context"
	"sync"
)

// Set is the processes that are watched together, each by the role that it plays:
// "perfbench", "cassandra", "rabbitmq". Any goroutine may call its methods.
type Set struct {
	mu   sync.Mutex
	list []*Member
	told []func(*Member, Point)
	then []func(context.Context)
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
