package workbench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// benchSweep is a sweep as the screens see it. It goes from run to run on a goroutine of
// its own, which ends with it.
type benchSweep struct {
	of     sweeper
	driver *experiment.Driver
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	now     screen.SweepNow
	run     *benchRun // the one under way; nil between two
	stopped bool
	outcome screen.Outcome
}

// sweeper makes sweeps, and reads them.
type sweeper struct {
	*surroundings
	requests *requests
	kept     *kept
	pinger   pinger
}

// driver drives runs that follow each other.
func (w sweeper) driver() *experiment.Driver {
	return experiment.NewDriver(func() session.Env { return w.env }, w.crew.Series())
}

func (w sweeper) prepareSweep(d *experiment.Driver, r request.Request, asked sweep.Asked) (*experiment.Sweep, error) {
	asked.Over = slices.Clone(asked.Over)
	for i, over := range asked.Over {
		if targets := targetsOf(over); targets != nil {
			for j, t := range targets {
				targets[j] = w.requests.keepSecret(t)
			}
			asked.Over[i] = sweep.Target + "=" + strings.Join(targets, ",")
		}
	}
	return d.Sweep(context.Background(), w.requests.request(r), asked)
}

// targetsOf are those that an axis goes over; nil where it goes over something else.
func targetsOf(over string) []string {
	if name, list, _ := strings.Cut(over, "="); strings.TrimSpace(name) == sweep.Target {
		return store.SplitTargets(list)
	}
	return nil
}

// CanSweep says why a sweep is not possible. Where it goes over several targets, each has
// to answer: a password that is missing is asked for before the first run, not after it.
func (w sweeper) CanSweep(r request.Request, asked sweep.Asked) error {
	if _, err := w.prepareSweep(w.driver(), r, asked); err != nil {
		return err
	}
	var problems workload.Problems
	for _, over := range asked.Over {
		for _, t := range targetsOf(over) {
			if clean, _ := widget.SplitSecret(t); !widget.Local(clean) {
				problems.Add(fault.Field("over", w.answers(clean)))
			}
		}
	}
	return problems.Err()
}

// answers says why a target does not let us in.
func (w sweeper) answers(target string) error {
	ctx, cancel := context.WithTimeout(w.hard, answerTime)
	defer cancel()
	_, err := w.pinger.Ping(ctx, target, w.requests.request(request.Request{Target: target}).Password)
	if session.WantsPassword(err) {
		scheme, host, _ := strings.Cut(target, "://")
		return fault.Input(fmt.Errorf("%s wants a password", target), "type it into the target, "+scheme+"://user:password@"+host[strings.LastIndexByte(host, '@')+1:])
	}
	return err
}

// answerTime is how long a target has to answer before a sweep over it.
const answerTime = 10 * time.Second

// Sweep begins one, or goes on with one that was asked for in the same words.
func (w sweeper) Sweep(r request.Request, asked sweep.Asked) (screen.SweepRun, error) {
	d := w.driver()
	s, err := w.prepareSweep(d, r, asked)
	if err != nil {
		return nil, err
	}
	s.Resume()
	if err := s.Result().Settle(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(w.hard)
	out := &benchSweep{of: w, driver: d, ctx: ctx, cancel: cancel, done: make(chan struct{})}
	out.now.Began, out.now.Before = time.Now(), len(s.Result().Runs)
	out.update(s, *s.Result())
	fault.Go(func() { out.do(s) })
	return out, nil
}

// LoadSweep reads one of them.
func (w sweeper) LoadSweep(id string) (*sweep.Kept, error) {
	r, err := sweep.Load(filepath.Join(w.out, id))
	if err != nil {
		return nil, err
	}
	return &sweep.Kept{ID: id, Result: r}, nil
}

func (s *benchSweep) do(sw *experiment.Sweep) {
	defer close(s.done)
	defer s.cancel()
	defer s.driver.Close(s.ctx)
	defer func() { // the screen owns the terminal, and must live to give it back
		if v := recover(); v != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.outcome = screen.Outcome{Dir: sw.Dir(), Err: s.of.bug(v), Code: fault.CodeOther}
		}
	}()
	err := sw.Do(s.ctx, s.perform, func(r sweep.Result) { s.update(sw, r) })
	s.update(sw, *sw.Result())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.What = ""
	s.outcome = screen.Outcome{Dir: sw.Dir(), Err: err}
	if s.stopped && s.of.soft.Err() == nil {
		s.outcome.Err = nil // as with a run that its user stops
	}
	s.outcome.Code = fault.CodeOf(s.outcome.Err)
	if sw.Dir() != "" {
		s.outcome.Summary = fmt.Sprintf("\n%s\nkept in %s\n", report.SweepText(sw.Result()), sw.Dir())
	}
}

// update notes what the runs that are done come to.
func (s *benchSweep) update(of *experiment.Sweep, r sweep.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Result = r
	if of.Dir() != "" {
		s.now.ID = filepath.Base(of.Dir())
	}
}

// errSweepStopped is why a run that was stopped half-way does not count.
var errSweepStopped = fault.Code(errors.New("stopped by the user"), fault.CodeInterrupted)

// perform does one run.
func (s *benchSweep) perform(ctx context.Context, t experiment.Turn) (*session.Concluded, error) {
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
	s.mu.Lock()
	s.run, s.now.Run, s.now.What = run, shown{run}, t.What
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return nil, errSweepStopped
	}
	run.carry()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.now.Run = nil, nil
	switch {
	case s.stopped:
		return nil, errSweepStopped
	case run.ended == nil:
		return nil, run.outcome.Err
	}
	return run.ended, nil
}

// Now is how far the sweep is.
func (s *benchSweep) Now() screen.SweepNow {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Stop ends the run under way in order, and does not begin another.
func (s *benchSweep) Stop() {
	s.mu.Lock()
	s.stopped = true
	run := s.run
	s.mu.Unlock()
	if run != nil {
		run.Stop()
	}
}

// Kill ends it at once.
func (s *benchSweep) Kill() {
	s.Stop()
	s.mu.Lock()
	run := s.run
	s.mu.Unlock()
	if run != nil {
		run.Kill()
	}
	s.cancel()
}

func (s *benchSweep) Done() <-chan struct{} { return s.done }

func (s *benchSweep) Outcome() screen.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outcome
}
