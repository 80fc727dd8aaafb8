package tx

import (
	"context"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// usage is what a run has used up to a moment.
type usage struct {
	at time.Time
	// client is CPU seconds of this process.
	client float64
	// Usage is the store's.
	store.Usage
}

// meter tells what a run has used: perfbench, and a store that tells.
type meter struct {
	of store.Metered // nil of a store that does not tell
	// commits says that each call of the store is a transaction that it commits.
	commits bool
}

func meterOf(c store.Conn) meter {
	m, _ := c.(store.Metered)
	_, sql := c.(sqlstore.Typed)
	return meter{of: m, commits: sql}
}

func (m meter) usage(ctx context.Context) usage {
	u := usage{at: time.Now(), client: self.Processor().Seconds(), Usage: store.Untold()}
	if m.of != nil {
		u.Usage = m.of.Usage(ctx)
	}
	return u
}
