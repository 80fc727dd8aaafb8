// Package meter reports what a run has used: perfbench and its store.
package meter

import (
	"context"
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
	of store.Metered // nil if the store does not report it
	// Commits means that each call of the store is a transaction that it commits.
	Commits bool
}

// Of returns the meter for a connection, whether or not its store reports what it uses.
func Of(c store.Conn) Meter {
	m, _ := c.(store.Metered)
	_, sql := c.(sqlstore.Typed)
	return Meter{of: m, Commits: sql}
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
