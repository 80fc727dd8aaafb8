package common

import (
	"context"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// Usage is what a run has used so far.
type Usage struct {
	At time.Time
	// Client is in CPU seconds of this process.
	Client float64
	// Usage is the store's.
	store.Usage
}

// Meter reports what a run has used: perfbench and, if it reports that, the store.
type Meter struct {
	of         store.Metered    // nil if the store does not report it
	neighbours store.Neighbours // nil if the store does not tell who else uses it
	// Commits means that each call of the store is a transaction that it commits.
	Commits bool
}

// Of returns the meter for a connection, whether or not its store reports what it uses.
func Of(c store.Conn) Meter {
	m, _ := store.Has[store.Metered](c)
	n, _ := store.Has[store.Neighbours](c)
	_, sql := c.(sqlstore.Typed)
	return Meter{of: m, neighbours: n, Commits: sql}
}

// lookFor is how long a look for others may take.
const lookFor = 5 * time.Second

// Company says in words who else of perfbench uses the store's servers now; empty if nobody
// does, or the store does not tell. It looks through all keys, so it should be called before
// and after what is measured. Any goroutine may call it.
func (m Meter) Company(ctx context.Context) string {
	if m.neighbours == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	list, err := m.neighbours.Neighbours(ctx)
	if err != nil || len(list) == 0 { // what cannot be seen is not claimed
		return ""
	}
	who := fmt.Sprintf("%s (process %d on %s)", list[0].Run, list[0].PID, list[0].Host)
	if more := len(list) - 1; more > 0 {
		who += fmt.Sprintf(" and %d more", more)
	}
	return who
}

// Client returns the CPU seconds of this process so far. Any goroutine may call it.
func (Meter) Client() float64 { return self.Processor().Seconds() }

// Usage returns what has been used so far; -1 for what the store does not report. It
// queries the server, so it should be called before and after what is measured. Any
// goroutine may call it.
func (m Meter) Usage(ctx context.Context) Usage {
	u := Usage{At: time.Now(), Client: m.Client(), Usage: store.Untold()}
	if m.of != nil {
		u.Usage = m.of.Usage(ctx)
	}
	return u
}
