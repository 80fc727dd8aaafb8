package generate

import (
	"strconv"
	"sync"
)

// Authors finds out which generator made an event. Its methods may be called from any
// goroutine.
type Authors struct {
	Shape  *Shape
	mu     sync.Mutex
	number map[string]int // of a generator, by the prefix of its ids
}

// NewAuthors returns Authors that know no generator yet.
func NewAuthors(s *Shape) *Authors {
	return &Authors{Shape: s, number: map[string]int{}}
}

// Know adds the generator with this number. The prefix is the one that NewMaker
// derives, so the generator itself is not needed.
func (a *Authors) Know(generator int) {
	prefix := string(NewMaker(a.Shape, generator).Prefix)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.number[prefix] = generator
}

// Of returns which generator made an event, and the event's number.
func (a *Authors) Of(id []byte) (generator int, seq int64, ok bool) {
	if len(id) <= PrefixLen {
		return 0, 0, false
	}
	a.mu.Lock()
	g, known := a.number[string(id[:PrefixLen])]
	a.mu.Unlock()
	if !known {
		return 0, 0, false
	}
	seq, err := strconv.ParseInt(string(id[PrefixLen:]), 10, 64)
	return g, seq, err == nil && seq > 0
}
