package workbench

import (
	"context"
	"errors"
	"sync"

	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/tui/screen"
)

// series are runs that follow each other, as the screens see them: those of a sweep or of a plan. They
// go on a goroutine of their own, which ends with them.
type series struct {
	of     sweeper
	driver *experiment.Driver
	// follow ends when no other run is to begin; ctx, by cancel, when all is to end.
	follow, ctx  context.Context
	halt, cancel context.CancelFunc
	done         chan struct{}

	mu      sync.Mutex
	run     *benchRun       // the one under way; nil between two
	turn    experiment.Turn // which it is
	stopped bool
	outcome screen.Outcome
}

func newSeries(w sweeper, d *experiment.Driver) *series {
	s := &series{of: w, driver: d, done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(w.hard)
	s.follow, s.halt = context.WithCancel(s.ctx)
	return s
}

// begin has do carry out the runs; dir is the folder of what they come to, which may be empty.
func (s *series) begin(do func() screen.Outcome, dir func() string) {
	fault.Go(func() {
		defer close(s.done)
		defer s.cancel()
		defer s.driver.Close(s.ctx)
		defer func() { // the screen owns the terminal, and must live to give it back
			if v := recover(); v != nil {
				s.end(screen.Outcome{Dir: dir(), Err: s.of.bug(v), Code: fault.CodeOther})
			}
		}()
		o := do()
		s.mu.Lock()
		if s.stopped && s.of.soft.Err() == nil {
			o.Err = nil // as with a run that its user stops
		}
		s.mu.Unlock()
		o.Code = fault.CodeOf(o.Err)
		s.end(o)
	})
}

func (s *series) end(o screen.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.turn, s.outcome = nil, experiment.Turn{}, o
}

// errSeriesStopped is why a run that was stopped half-way does not count, or did not begin.
var errSeriesStopped = fault.Code(errors.New("stopped by the user"), fault.CodeInterrupted)

// perform does one run.
func (s *series) perform(ctx context.Context, t experiment.Turn) (*session.Concluded, error) {
	p, err := s.driver.Prepare(ctx, s.of.requests.request(t.Request))
	if err != nil {
		return nil, err
	}
	if t.Find != nil {
		o, err := experiment.PrepareSearch(*t.Find, p, 0)
		if err != nil {
			return nil, err
		}
		p = p.Steered(o.Patience())
	}
	run := newBenchRun(ctx, s.of.surroundings, s.of.kept, p)
	run.seeks = t.Find
	if !s.follows(run, t) {
		return nil, errSeriesStopped
	}
	run.carry()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = nil
	if run.ended == nil {
		return nil, run.outcome.Err
	}
	return run.ended, nil
}

// follows notes a run that is about to begin; false: it is not to.
func (s *series) follows(run *benchRun, t experiment.Turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.run, s.turn = run, t
	}
	return !s.stopped
}

// whole is perform where a run that is stopped half-way does not count.
func (s *series) whole(ctx context.Context, t experiment.Turn) (*session.Concluded, error) {
	o, err := s.perform(ctx, t)
	if s.isStopped() {
		return nil, errSeriesStopped
	}
	return o, err
}

func (s *series) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// underWay returns the run under way, nil between two, and which it is.
func (s *series) underWay() (t experiment.Turn, run screen.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != nil {
		run = shown{s.run}
	}
	return s.turn, run
}

// Stop ends the run under way in order, and does not begin another.
func (s *series) Stop() {
	s.mu.Lock()
	s.stopped = true
	run := s.run
	s.mu.Unlock()
	s.halt()
	if run != nil {
		run.Stop()
	}
}

// Kill ends all at once.
func (s *series) Kill() {
	s.Stop()
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	if run != nil {
		run.Kill()
	}
	s.cancel()
}

// Done is closed when all have ended.
func (s *series) Done() <-chan struct{} { return s.done }

// Outcome is how they ended.
func (s *series) Outcome() screen.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outcome
}
