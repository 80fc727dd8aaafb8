// Package telemetry exports the figures of a run while it goes on: it serves them to
// Prometheus, and pushes them with OpenTelemetry. Both get the same figures. It reads
// what a run publishes once a second, and is not involved in the calls.
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
	// Version is the version of perfbench.
	Version string
}

// Outlet exports figures. The methods of a nil Outlet do nothing. They may be called
// from any goroutine.
type Outlet struct {
	registry *prometheus.Registry
	server   *server
	pusher   *pusher
	feed     atomic.Pointer[Feed]
}

// Check returns what is wrong with the options, as far as that can be determined
// without opening anything. Errors have the code of bad input.
func Check(o Options) error {
	_, err := endpointOf(o.URL)
	return errors.Join(checkAddr(o.Addr), err)
}

// Open starts serving and pushing; nothing is exported until a run has begun. It
// returns nil if the options request nothing. Errors have the code of bad input. The
// caller must call Close.
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

// Begin makes a run the one whose figures are exported, replacing any earlier one.
func (o *Outlet) Begin(s Source) *Feed {
	if o == nil {
		return nil
	}
	f := newFeed(s)
	o.feed.Store(f)
	return f
}

// Where returns lines saying where the figures are.
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

// OnTrouble makes tell be called with a sentence when a push fails for the first time,
// on a goroutine of the outlet.
func (o *Outlet) OnTrouble(tell func(sentence string)) {
	if o != nil && o.pusher != nil {
		o.pusher.tell.Store(&tell)
	}
}

// patience is how long a receiver may take to accept figures.
const patience = 3 * time.Second

// Close pushes the final figures of the last run, and ends. It returns a sentence if
// not everything could be pushed, otherwise "". It takes a few seconds at most.
func (o *Outlet) Close() string {
	if o == nil {
		return ""
	}
	trouble := o.pusher.close()
	o.server.close()
	return trouble
}

// Describe implements prometheus.Collector: the metrics depend on the run.
func (o *Outlet) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector: it sends the current figures of the run.
func (o *Outlet) Collect(out chan<- prometheus.Metric) {
	if f := o.feed.Load(); f != nil {
		f.collect(out)
	}
}
