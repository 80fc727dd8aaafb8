package eventstore

import (
	"strconv"
	"sync"

	"github.com/perfbench/perfbench/profiles/eventstore/generate"
)

// authors tells which generator made an event. Its methods may be called from any
// goroutine.
type authors struct {
	shape  *generate.Shape
	mu     sync.Mutex
	number map[string]int // of a generator, by the prefix of its ids
}

// newAuthors knows no generator yet.
func newAuthors(s *generate.Shape) *authors {
	return &authors{shape: s, number: map[string]int{}}
}

// know adds the generator with this number. The prefix is the one that NewMaker gives,
// so there is no need to ask the generator.
func (a *authors) know(generator int) {
	prefix := string(generate.NewMaker(a.shape, generator).Prefix)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.number[prefix] = generator
}

// of finds out which generator made an event, and its number.
func (a *authors) of(id []byte) (generator int, seq int64, ok bool) {
	if len(id) <= generate.PrefixLen {
		return 0, 0, false
	}
	a.mu.Lock()
	g, known := a.number[string(id[:generate.PrefixLen])]
	a.mu.Unlock()
	if !known {
		return 0, 0, false
	}
	seq, err := strconv.ParseInt(string(id[generate.PrefixLen:]), 10, 64)
	return g, seq, err == nil && seq > 0
}
