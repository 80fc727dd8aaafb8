package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// delay makes a store slow on purpose, for demonstrations: every call takes latency,
// and at regular intervals all calls stall for a while. With a service time, calls
// queue for one of several servers, so that queueing theory predicts what the store can
// do.
type delay struct {
	latency, stall, every time.Duration
	since                 time.Time
	line                  *line // nil: no queueing
}

// line is a queue in front of servers that take the same time for each call.
type line struct {
	service time.Duration
	mu      sync.Mutex
	free    []time.Time // when each server will be free
}

// maxServers is the most servers that a line may have.
const maxServers = 1024

func newLine(t store.Target) (*line, error) {
	service, err := t.Duration("service")
	if err != nil {
		return nil, err
	}
	servers, err := t.Int("servers", 1, 1, maxServers)
	switch {
	case err != nil:
		return nil, err
	case service == 0 && servers > 1:
		return nil, fault.Input(errors.New("memory: servers= says how many calls are served at a time, but service=, how long each takes, is missing"), "add service=1ms")
	case service == 0:
		return nil, nil
	}
	return &line{service: service, free: make([]time.Time, servers)}, nil
}

// enter takes the next place in the queue and returns how long it takes until the call
// is done.
func (l *line) enter() time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now, first := time.Now(), 0
	for i, free := range l.free {
		if free.Before(l.free[first]) {
			first = i
		}
	}
	begin := l.free[first]
	if begin.Before(now) {
		begin = now
	}
	l.free[first] = begin.Add(l.service)
	return l.free[first].Sub(now)
}

func newDelay(t store.Target) (delay, error) {
	latency, err1 := t.Duration("latency")
	stall, err2 := t.Duration("stall")
	every, err3 := t.Duration("stall_every")
	if every == 0 {
		every = 5 * time.Second
	}
	line, err4 := newLine(t)
	err := errors.Join(err1, err2, err3, err4)
	if err == nil && stall > 0 && stall >= every {
		err = fault.Input(fmt.Errorf("memory: stall=%v is not shorter than stall_every=%v", stall, every), "")
	}
	return delay{latency, stall, every, time.Now(), line}, err
}

// wait takes as long as one call does, or until ctx ends. A stall begins at each
// multiple of every since the store was opened.
func (d *delay) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pause := d.latency + d.line.enter()
	if d.stall > 0 {
		if age := time.Since(d.since); age >= d.every && age%d.every < d.stall {
			pause += d.stall - age%d.every
		}
	}
	return store.Pause(ctx, pause)
}
