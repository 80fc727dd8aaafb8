package crew

import (
	"context"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nuid"

	"github.com/perfbench/perfbench/internal/remote"
)

// Relay is runs of one process that follow each other with the same workers, as those of a
// sweep. Each has a coordinator of its own, all at the same place: that of a run that has
// ended answers until the next one listens. Its methods may be called from any goroutine. A
// run by itself has none.
type Relay struct {
	id string

	mu      sync.Mutex
	another bool   // follows the run that begins next, or that goes on
	addr    string // where the first listened; empty: none has
	held    *Crew  // of the last run, while it waits for the next
	wait    int    // how many workers wait for that
}

// NewLine returns a line that has no runs yet.
func NewLine() *Relay { return &Relay{id: nuid.Next()} }

// Follows says, before a run begins, whether another follows it.
func (l *Relay) Follows(another bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.another = another
}

// freed is how long the next run waits for the place of the one before, which somebody else
// may have taken.
const freed = 5 * time.Second

// open has the coordinator of the next run listen.
func (l *Relay) open(ctx context.Context, o remote.Options) (*remote.Coordinator, error) {
	if l == nil {
		return remote.Open(ctx, o)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o.Line, o.More = l.id, l.another
	if l.addr != "" && o.NATS == nil {
		o.Listen = l.addr
	}
	l.shut()
	for until := time.Now().Add(freed); ; {
		c, err := remote.Open(ctx, o)
		if err == nil {
			l.addr = c.Connection.Addr()
			return c, nil
		}
		if l.addr == "" || !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(until) {
			return nil, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// hold has the crew of a run that has ended, or did not begin, answer until the next one
// listens; false: none follows.
func (l *Relay) hold(c *Crew) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := c.Coordinator.Roster.Members()
	all = all[:min(c.n, len(all))] // others are those who took on the rest of a part
	switch {
	case c.begun.wait() == nil: // it did not begin: those that have not joined it wait
		if l.wait = max(l.wait-len(all), 0); l.wait == 0 {
			return false
		}
	case !l.another:
		return false
	default:
		l.wait = len(slices.DeleteFunc(all, func(m remote.Member) bool { return m.State != remote.Ended }))
	}
	c.Coordinator.Hold()
	l.held = c
	return true
}

// shut ends the coordinator of the run before. The caller holds mu.
func (l *Relay) shut() {
	if l.held != nil {
		l.held.Coordinator.Close()
		l.held.folder.clear()
		l.held = nil
	}
}

// Close ends the line. Workers that wait for a run which does not come after all are told;
// ctx cuts that short.
func (l *Relay) Close(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		l.held.Coordinator.Dismiss(ctx, l.wait)
	}
	l.shut()
}
