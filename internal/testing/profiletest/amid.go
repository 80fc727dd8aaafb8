package profiletest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// Middle is the middle of a run, where it waits for its test: what a test does to a run from
// outside comes too late for one that was quick, and too early for one that has not begun.
type Middle struct {
	track string
	begun atomic.Int64 // iterations of the track
	stops []*stop
	next  int
}

// stop is where all workers of a track wait.
type stop struct {
	at      int64
	reached chan struct{}
	once    sync.Once
	on      chan struct{}
}

// Amid returns the case with a middle: whenever a track has begun one of that many
// iterations, all of its workers wait until the test has done its part ([Middle.Do]).
func (c Case) Amid(t testing.TB, track string, at ...int64) (Case, *Middle) {
	t.Helper()
	m := &Middle{track: track}
	for _, n := range at {
		m.stops = append(m.stops, &stop{at: n, reached: make(chan struct{}), on: make(chan struct{})})
	}
	design := c.Profile.Design
	c.Profile.Design = func(in workload.Inputs) (*workload.Plan, error) {
		p, err := design(in)
		if err == nil {
			p.Binder = halting{p.Binder, m}
		}
		return p, err
	}
	return c, m
}

// Do waits until the run has come to its next stop, calls f, and lets the run go on.
func (m *Middle) Do(t testing.TB, f func()) {
	t.Helper()
	s := m.stops[m.next]
	m.next++
	select {
	case <-s.reached:
	case <-time.After(enough):
		require.FailNow(t, "the run does not come to its middle", "%s has begun %d iterations of %d", m.track, m.begun.Load(), s.at)
	}
	f()
	close(s.on)
}

// pass holds an iteration where it is to wait.
func (m *Middle) pass(ctx context.Context) {
	n := m.begun.Add(1)
	for _, s := range m.stops {
		if n < s.at {
			return
		}
		s.once.Do(func() { close(s.reached) })
		select {
		case <-s.on:
		case <-ctx.Done():
			return
		}
	}
}

// halting is a Binder whose plan has a middle.
type halting struct {
	workload.Binder
	m *Middle
}

// Connector makes the tasks of the track wait.
func (h halting) Connector(driver string) workload.Connector {
	connect := h.Binder.Connector(driver)
	if connect == nil {
		return nil
	}
	return func(ctx context.Context, b *workload.Bound) error {
		if err := connect(ctx, b); err != nil {
			return err
		}
		for i := range b.Phases {
			for j := range b.Phases[i].Tracks {
				t := &b.Phases[i].Tracks[j]
				if t.Name != h.m.track {
					continue
				}
				task := t.NewTask
				t.NewTask = func(worker int) (workload.Task, error) {
					k, err := task(worker)
					if err != nil {
						return nil, err
					}
					return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
						if !it.Warmup {
							h.m.pass(ctx)
						}
						return k.Do(ctx, it)
					}), nil
				}
			}
		}
		return nil
	}
}
