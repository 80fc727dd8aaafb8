package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/fault"
)

// How a coordinator goes on in the place of one that died: it is told who has joined and
// when all began, and reads what the stream has kept from its first message on, as if it
// came now. Workers notice nothing but that their connection is back.

// Known is a worker as one coordinator tells of it to another.
type Known struct {
	Hello  Hello         `json:"hello"`
	Offset time.Duration `json:"offset_ns"`
	Trip   time.Duration `json:"trip_ns"`
}

// Restored is what a coordinator must know to go on in the place of another.
type Restored struct {
	// At is when the run began.
	At      time.Time `json:"at"`
	Workers []Known   `json:"workers"`
}

// Past tells another coordinator what it must know. The run has begun.
func (c *Coordinator) Past() Restored {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := Restored{At: c.at}
	for _, w := range c.workers {
		p.Workers = append(p.Workers, Known{w.Hello, w.Offset, w.Trip})
	}
	return p
}

// recall takes the past of another coordinator for its own.
func (c *Coordinator) recall(p *Restored) {
	c.at = p.At
	for _, k := range p.Workers {
		w := newWorker(k.Hello)
		w.ready, w.Offset, w.Trip, w.part = true, k.Offset, k.Trip, len(c.workers)
		c.workers = append(c.workers, w)
	}
}

// stream is where figures are kept: a new one, or that of the coordinator before.
func (c *Coordinator) stream(ctx context.Context) (jetstream.Stream, error) {
	if c.o.Past == nil {
		return c.keep(ctx)
	}
	all, err := offers(ctx, c.nc, "")
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, func(o offer) bool { return o.Run == c.o.Run }) {
		return nil, fault.Input(errors.New("another coordinator is at work on this run"), "a run has one coordinator")
	}
	s, err := c.js.Stream(ctx, c.on.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, fault.Input(errors.New("what workers sent is not there any more: the stream "+c.on.stream+" is gone"), "perfbench report shows what the run had come to")
	}
	if err != nil {
		return nil, fmt.Errorf("read what workers sent: %w", err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("read what workers sent: %w", err)
	}
	if info.State.FirstSeq > 1 {
		return nil, fault.Input(errors.New("what workers sent at first is not there any more: the disk had no room for it"), "perfbench report shows what the run had come to")
	}
	c.last = info.State.LastSeq
	c.upto.Store(math.MinInt64)
	if c.last == 0 {
		c.caughtUp()
	}
	return s, nil
}

// passed takes that a message of the stream has been dealt with.
func (c *Coordinator) passed(m jetstream.Msg) {
	if c.upto.Load() == math.MaxInt64 {
		return
	}
	if meta, err := m.Metadata(); err == nil && meta.Sequence.Stream >= c.last {
		c.caughtUp()
	}
}

// caughtUp says that all that was kept has been read again. Nobody is silent before that.
func (c *Coordinator) caughtUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.workers {
		w.beat = time.Now()
	}
	c.upto.Store(math.MaxInt64)
	close(c.reread)
}

// Reread is closed when all that was kept has been read again.
func (c *Coordinator) Reread() <-chan struct{} { return c.reread }

// Upto says up to when, in ns since measurement began, what was kept has been read again;
// math.MaxInt64 when all has.
func (c *Coordinator) Upto() int64 { return c.upto.Load() }

// Leave ends like Close and removes nothing, so that another can go on.
func (c *Coordinator) Leave() {
	c.mu.Lock()
	c.stays = true
	c.mu.Unlock()
	c.Close()
}

// knows says that settings are those in force, as another coordinator tells them once more,
// or older: messages overtake each other. The caller holds w.mu.
func (w *Worker) knows(c *Command) bool {
	same := c.Segment == w.last.Segment && reflect.DeepEqual(c.Settings, w.last.Settings)
	return c.Settings != nil && w.last.Settings != nil && (same || c.Told < w.last.Told)
}
