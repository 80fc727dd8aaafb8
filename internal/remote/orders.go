package remote

import (
	"reflect"
	"sync"
	"time"
)

// Orders owns what a worker was told: each word counts once, however often it is said, and waits
// until somebody listens. Its methods may be called from any goroutine.
type Orders struct {
	begin chan time.Time // capacity 1

	mu     sync.Mutex
	do     func(Command)
	early  []Command          // that came before somebody listened
	heeded map[string]applied // by its number, what was answered to a command
	last   Command            // the last settings that it told, and what was answered
	said   applied
}

func newOrders() *Orders {
	return &Orders{begin: make(chan time.Time, 1), heeded: map[string]applied{}}
}

// OnCommand has f called with what the coordinator tells, and has told already.
func (o *Orders) OnCommand(f func(Command)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.early {
		f(c)
	}
	o.do, o.early = f, nil
}

// startAt takes the moment at which all begin.
func (o *Orders) startAt(at time.Time) {
	select {
	case o.begin <- at:
	default: // it was told already
	}
}

// obey does what a command of that number says, and returns what is to be answered.
func (o *Orders) obey(number string, c Command) applied {
	o.mu.Lock()
	do, said := o.do, o.said
	before, again := o.heeded[number]
	switch {
	case again: // the answer was lost, or somebody says once more what was said
		o.mu.Unlock()
		return before
	case o.knows(&c):
		o.mu.Unlock()
		return said
	case do == nil:
		o.early = append(o.early, c)
	}
	o.mu.Unlock()
	if do != nil {
		do(c)
	}
	said = applied{At: time.Now().UnixNano()}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heeded[number] = said
	if c.Settings != nil {
		o.last, o.said = c, said
	}
	return said
}

// knows says that settings are those in force, as another coordinator tells them once more,
// or older: messages overtake each other. The caller holds mu.
func (o *Orders) knows(c *Command) bool {
	same := c.Segment == o.last.Segment && reflect.DeepEqual(c.Settings, o.last.Settings)
	return c.Settings != nil && o.last.Settings != nil && (same || c.Told < o.last.Told)
}
