package remote

import (
	"context"
	"sync"

	"github.com/nats-io/nats.go"
)

// line owns what follows a run with the same workers: whether another does, whether they wait for
// it, and who of them knows that none will come.
type line struct {
	mu      sync.Mutex
	more    bool // others follow
	held    bool // the run has ended, and another follows
	parted  map[string]bool
	changed chan struct{} // closed and replaced when one has parted
}

func newLine(more bool) *line {
	return &line{more: more, parted: map[string]bool{}, changed: make(chan struct{})}
}

// stands says whether the run has ended, and whether others follow it.
func (l *line) stands() (over, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held, l.more
}

// hold takes that the run has ended, and another follows.
func (l *line) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = true
}

// part takes that a worker knows that no other run follows.
func (l *line) part(m *nats.Msg) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id := string(m.Data[:min(len(m.Data), mostWord)]); isID(id) && len(l.parted) < mostParted {
		l.parted[id] = true
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// dismiss says from now on that no other run follows, and waits a little until so many workers
// know.
func (l *line) dismiss(ctx context.Context, workers int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		l.mu.Lock()
		l.more = false
		know, changed := len(l.parted), l.changed
		l.mu.Unlock()
		if know >= workers {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
