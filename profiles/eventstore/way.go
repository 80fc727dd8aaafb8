package eventstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/broker"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// way leads events from the generators to the store: a transport, and behind it a store stage,
// which may end without notice and begin again. Its methods may be called from any goroutine.
type way struct {
	spec     *spec
	clock    *runClock
	failures *stage.Failures
	// through is what connections to a broker go through; nil: they are direct.
	through *proxy.Proxy
	// newStage makes a store stage behind a receiver and a gate.
	newStage func(transport.Receiver, *stage.Gate) *stage.Stage

	// These are there once it is open. stopped ends when nothing goes on any more.
	via        transport.Transport
	stopped    context.Context
	stop       context.CancelFunc
	background sync.WaitGroup

	turning    sync.Mutex // held while the stage is ended or replaced
	mu         sync.Mutex // guards the following
	stage      *stage.Stage
	gate       *stage.Gate
	publishers []transport.Publisher
	crashes    []int64
	ended      bool
}

// maxPendingBytes limits how much unconfirmed data each generator holds.
const maxPendingBytes = 64 << 20

// open opens the transport, and starts the store stage.
func (w *way) open(ctx context.Context) (err error) {
	s := w.spec
	if s.route.via == report.ViaDirect {
		w.via = transport.NewDirect(w.clock.now, s.route.prefetch, s.stage.MaxTaskBytes)
	} else if w.via, err = transport.OverAMQP(ctx, s.route.via, broker.Options{
		Prefix: s.namespace, Profile: Name, Run: s.runID,
		Lossy: s.Compat, FireAndForget: s.route.publish == publishForget, Transient: s.route.publish == publishTransient, Quorum: s.route.quorum, Proxy: w.through,
		MaxPending: s.stage.MaxTasks, MaxBytes: min(s.stage.MaxTaskBytes, maxPendingBytes),
	}, w.clock.now); err != nil {
		return err
	}
	w.stopped, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := w.begin(); err != nil {
		return err
	}
	if s.crash > 0 {
		w.background.Go(fault.Guarded(w.crashing))
	}
	return nil
}

// begin starts a store stage.
func (w *way) begin() error {
	recv, err := w.via.Receiver(w.stopped, w.spec.route.prefetch)
	if err != nil {
		return fault.Code(fmt.Errorf("event-store: open the receiver: %w", err), fault.CodeStore)
	}
	g := stage.NewGate(int64(w.spec.stage.MaxTasks), w.spec.stage.MaxTaskBytes)
	_, _, g.Peak, g.PeakBytes = w.inside()
	st := w.newStage(recv, g)
	if err := st.Start(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gate, w.stage = g, st
	return nil
}

// crashing ends the store stage without notice now and then, and starts another.
func (w *way) crashing() {
	t := time.NewTicker(w.spec.crash)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-w.stopped.Done():
			return
		}
		if err := w.crash(); err != nil {
			w.failures.Add(fmt.Errorf("start the store stage again: %w", err))
		}
	}
}

// crash ends the store stage as a kill would, and starts another.
func (w *way) crash() error {
	w.turning.Lock() // not w.mu, which the stage's own goroutines take
	defer w.turning.Unlock()
	w.mu.Lock()
	ended := w.ended
	if !ended {
		w.crashes = append(w.crashes, w.clock.now())
	}
	w.mu.Unlock()
	if ended {
		return nil
	}
	w.stage.Crash()
	return w.begin()
}

// crashed returns when the store stage was ended, by the run's time.
func (w *way) crashed() (at []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.crashes {
		at = append(at, w.clock.since(c))
	}
	return at
}

// inside returns what the store stage holds, and the most that it has held.
func (w *way) inside() (count, bytes, peak, peakBytes int64) {
	w.mu.Lock()
	gate := w.gate
	w.mu.Unlock()
	if gate == nil {
		return 0, 0, 0, 0
	}
	return gate.Inside()
}

// leads reports whether it is open: there is a store stage in this process.
func (w *way) leads() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stage != nil
}

// publisher opens the sending side of a generator, and keeps it for confirm.
func (w *way) publisher(generator int, answer func(transport.Meta, error)) (transport.Publisher, error) {
	p, err := w.via.Publisher(w.stopped, generator, answer)
	if err != nil {
		return nil, fmt.Errorf("event-store: open the publisher: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.publishers = append(w.publishers, p)
	return p, nil
}

// confirm waits until the transport has confirmed or refused all batches, within a time.
func (w *way) confirm(within time.Duration) {
	w.mu.Lock()
	publishers := slices.Clone(w.publishers)
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(w.stopped, within)
	defer cancel()
	for _, p := range publishers {
		if err := p.Close(ctx); err != nil {
			w.failures.Add(fmt.Errorf("wait for confirmations: %w", err))
		}
	}
}

// end ends everything that runs beside the workers. It may be called again.
func (w *way) end(ctx context.Context) {
	w.turning.Lock()
	w.mu.Lock()
	over := w.ended || w.stage == nil
	w.ended = true
	w.mu.Unlock()
	if !over {
		if err := w.stage.Stop(ctx); err != nil {
			w.failures.Add(fmt.Errorf("statistics: %w", err))
		}
	}
	w.turning.Unlock()
	if over {
		return
	}
	w.stop()
	w.background.Wait()
	if err := w.via.Close(); err != nil {
		w.failures.Add(fmt.Errorf("close the transport: %w", err))
	}
}

// broker is the broker between generators and store stage, nil if there is none.
func (w *way) broker() *transport.AMQP {
	b, _ := w.via.(*transport.AMQP)
	return b
}

// Answer asks the broker: without one that confirms, no batch reaches the store, and no call
// fails that would show it.
func (w *way) Answer(ctx context.Context) error {
	if err := w.broker().Answer(ctx); err != nil {
		return fmt.Errorf("the broker does not answer: %w", err)
	}
	return nil
}

// name describes the transport for reports.
func (w *way) name() string {
	if w.via == nil {
		return report.ViaDirect
	}
	return w.via.Name()
}
