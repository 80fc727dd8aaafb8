package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// benchSweep is a sweep as the screens see it.
type benchSweep struct {
	*series
	now screen.SweepNow
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

// CheckSweep returns what was asked before any run of it, or says why it makes no sweep.
func (w sweeper) CheckSweep(r request.Request, asked sweep.Asked) (*sweep.Result, error) {
	s, err := w.prepareSweep(w.driver(), r, asked)
	if err != nil {
		return nil, err
	}
	return s.Result(), nil
}

// CanSweep says why a sweep is not possible. Where it goes over several targets, each has
// to answer: a password that is missing is asked for before the first run, not after it.
func (w sweeper) CanSweep(r request.Request, asked sweep.Asked) error {
	if _, err := w.CheckSweep(r, asked); err != nil {
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
	out := &benchSweep{series: newSeries(w, d)}
	out.now.Began, out.now.Before = time.Now(), len(s.Result().Runs)
	out.update(s, *s.Result())
	out.begin(func() screen.Outcome { return out.do(s) }, s.Dir)
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

// SweepPlan returns the plan file that asks for one of them again, and what it asks for: a nil run
// without an error where the sweep was made before perfbench kept one.
func (w sweeper) SweepPlan(id string) (path string, run *request.Run, err error) {
	path = filepath.Join(w.out, id, sweep.PlanFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	plan, _, err := w.requests.Plan(path)
	if plan == nil || len(plan.Runs) != 1 || plan.Runs[0].Sweep == nil {
		return path, nil, cmp.Or(err, fault.Input(fmt.Errorf("%s: this is no plan of one sweep", path), "w on one of its runs sweeps, too"))
	}
	return path, &plan.Runs[0], nil // what may be wrong with it today, the form says
}

func (s *benchSweep) do(sw *experiment.Sweep) screen.Outcome {
	err := sw.Do(s.ctx, s.whole, func(r sweep.Result) { s.update(sw, r) })
	s.update(sw, *sw.Result())
	o := screen.Outcome{Dir: sw.Dir(), Err: err}
	if sw.Dir() != "" {
		o.Summary = fmt.Sprintf("\n%s\nkept in %s\n", report.SweepText(sw.Result()), sw.Dir())
	}
	return o
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

// Now is how far the sweep is.
func (s *benchSweep) Now() screen.SweepNow {
	t, run := s.underWay()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	now.What, now.Run, now.Point = t.What, run, t.Member
	if t.Find != nil {
		now.Point = -1
	}
	return now
}
