// Package meter tells what a run has used, perfbench and its store.
package meter

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// Usage is what a run has used up to a moment.
type Usage struct {
	At time.Time
	// Client is CPU seconds of this process.
	Client float64
	// Usage is the store's.
	store.Usage
}

// Meter tells what a run has used: perfbench, and a store that tells.
type Meter struct {
	of store.Metered // nil of a store that does not tell
	// Commits says that each call of the store is a transaction that it commits.
	Commits bool
}

// Of is the meter of a connection, whether or not its store tells what it uses.
func Of(c store.Conn) Meter {
	m, _ := c.(store.Metered)
	_, sql := c.(sqlstore.Typed)
	return Meter{of: m, Commits: sql}
}

// Client is the CPU seconds of this process so far. Any goroutine may call it.
func (Meter) Client() float64 { return self.Processor().Seconds() }

// Usage is what has been used up to now; what the store does not tell is -1. It asks the
// server, so that it belongs before and after what is measured. Any goroutine may call it.
func (m Meter) Usage(ctx context.Context) Usage {
	u := Usage{At: time.Now(), Client: m.Client(), Usage: store.Untold()}
	if m.of != nil {
		u.Usage = m.of.Usage(ctx)
	}
	return u
}
