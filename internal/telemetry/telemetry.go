// Package telemetry lets the figures of a run leave the machine while it goes: it serves
// them to a Prometheus that asks, and pushes them by OpenTelemetry. Both tell the same. It
// reads what a run publishes once a second, and has no part in the calls.
package telemetry

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options say where figures go.
type Options struct {
	// Addr is where they are served, host:port; empty: nowhere.
	Addr string
	// URL is where they are pushed to; empty: nowhere.
	URL string
	// Version is that of perfbench.
	Version string
}

// Outlet is where figures leave. A nil one has no way out: its methods do nothing. They
// may be called from any goroutine.
type Outlet struct {
	registry *prometheus.Registry
	server   *server
	pusher   *pusher
	feed     atomic.Pointer[Feed]
}

// Check says what is wrong with the options as far as that shows without opening
// anything. Its errors are of input.
func Check(o Options) error {
	_, err := endpointOf(o.URL)
	return errors.Join(checkAddr(o.Addr), err)
}

// Open begins to serve and to push: nothing, until a run has begun. It returns nil when
// nothing is to leave. Its errors are of input. Close it.
func Open(ctx context.Context, o Options) (*Outlet, error) {
	if err := Check(o); err != nil || o == (Options{Version: o.Version}) {
		return nil, err
	}
	out := &Outlet{registry: prometheus.NewRegistry()}
	out.registry.MustRegister(out)
	var err error
	if o.Addr != "" {
		if out.server, err = serve(ctx, o.Addr, out.registry); err != nil {
			return nil, err
		}
	}
	if o.URL != "" {
		if out.pusher, err = push(ctx, o, out.registry); err != nil {
			out.server.close()
			return nil, err
		}
	}
	return out, nil
}

// Begin makes a run the one whose figures leave, in place of any before.
func (o *Outlet) Begin(s Source) *Feed {
	if o == nil {
		return nil
	}
	f := newFeed(s)
	o.feed.Store(f)
	return f
}

// Where says in a line each where the figures are.
func (o *Outlet) Where() []string {
	if o == nil {
		return nil
	}
	var out []string
	if o.server != nil {
		out = append(out, "metrics are served at "+o.server.url())
	}
	if o.pusher != nil {
		out = append(out, "metrics are pushed to "+o.pusher.to.shown)
	}
	return out
}

// OnTrouble has tell called with a sentence when a push fails for the first time, on a
// goroutine of the outlet.
func (o *Outlet) OnTrouble(tell func(sentence string)) {
	if o != nil && o.pusher != nil {
		o.pusher.tell.Store(&tell)
	}
}

// patience is how long what receives figures may take to take them.
const patience = 3 * time.Second

// Close pushes what the last run has come to, and ends. It returns a sentence when not
// everything could be pushed, else "". It takes some seconds at most.
func (o *Outlet) Close() string {
	if o == nil {
		return ""
	}
	trouble := o.pusher.close()
	o.server.close()
	return trouble
}

// Describe is part of a collector: what is told depends on the run.
func (o *Outlet) Describe(chan<- *prometheus.Desc) {}

// Collect is part of a collector: it sends the figures of the run as they are.
func (o *Outlet) Collect(out chan<- prometheus.Metric) {
	if f := o.feed.Load(); f != nil {
		f.collect(out)
	}
}
