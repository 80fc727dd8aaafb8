package remote

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Pulse owns whether a worker and its coordinator hear each other. Its methods may be called
// from any goroutine.
type Pulse struct {
	nc      *nats.Conn
	subject string // of the worker's beat

	mu    sync.Mutex
	heard time.Time // of the coordinator
}

// beats says that the worker is there, until ctx ends.
func (p *Pulse) beats(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	answers := p.nc.NewInbox()
	if _, err := p.nc.Subscribe(answers, p.hear); err != nil {
		return // the connection is closed
	}
	for {
		if p.nc.IsConnected() {
			_ = p.nc.PublishRequest(p.subject, answers, nil)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// hear notes that the coordinator is there: NATS itself answers where nobody is.
func (p *Pulse) hear(m *nats.Msg) {
	if m.Header.Get("Status") != "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = time.Now()
}

// Hears says whether the coordinator has been heard of of late.
func (p *Pulse) Hears() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.heard) <= silent
}
