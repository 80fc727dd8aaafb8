package workbench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/screen"
)

// benchSuite are the runs of a plan as the screens see them.
type benchSuite struct {
	*series
	file  *request.File
	tasks []suiteTask
	turns []screen.SuiteTurn // guarded by mu of series
}

// suiteTask does one run of a plan, or what the plan has in its place, and says what it came to.
type suiteTask func(s *series) screen.SuiteTurn

// suiteTasks finds out whether all runs of a plan are possible; request completes each. Errors have
// the code of bad input, all of them joined.
func suiteTasks(ctx context.Context, d *experiment.Driver, file *request.File, complete func(request.Request) request.Request) ([]suiteTask, error) {
	var wrong request.Faults
	var out []suiteTask
	for _, r := range file.Runs {
		r.Request = complete(r.Request)
		r.Request.Name = file.NameOf(&r)
		task, err := suiteTaskOf(ctx, d, r)
		wrong.Add(r.Name, r.Placed(err))
		out = append(out, task)
	}
	return out, wrong.Err(len(file.Runs))
}

func suiteTaskOf(ctx context.Context, d *experiment.Driver, r request.Run) (suiteTask, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Sweep != nil {
		asked := r.Sweep.Asked()
		asked.Repeat = cmp.Or(r.Repeat.Times, asked.Repeat, sweep.UsualRepeat)
		sw, err := d.Sweep(ctx, r.Request, asked)
		return func(s *series) screen.SuiteTurn { return sweepTurn(s, sw) }, err
	}
	if r.Find != nil {
		r.Request = d.Searching(r.Request, *r.Find)
		if err := experiment.Ignored(r.Request.Values, r.Find.Over); err != nil {
			return nil, err
		}
	}
	repeats, err := d.Repeats(ctx, r.Request, r.Repeat, r.Find)
	if err != nil {
		return nil, err
	}
	if repeats.Times > 0 {
		return func(s *series) screen.SuiteTurn { return repeatsTurn(s, repeats) }, nil
	}
	return func(s *series) screen.SuiteTurn {
		return runTurn(s, experiment.Turn{Request: r.Request, Find: r.Find})
	}, nil
}

// runTurn does a single run, with the search if it has one.
func runTurn(s *series, t experiment.Turn) (out screen.SuiteTurn) {
	o, err := s.perform(s.ctx, t)
	if o == nil {
		if out.Err = err; s.isStopped() { // while it was being prepared
			out.Err = errSeriesStopped
		}
		return out
	}
	var found *find.Result
	if t.Find != nil {
		found, _ = find.Load(o.Dir) // nothing, where it was ended before it knew anything
	}
	out.Figures, out.Err, out.To = cli.Figures(&o.Run, found), o.Err, screen.Results{ID: o.Run.ID}
	h := o.Run.Headline()
	if out.Unit, out.Why = o.Run.Unit, o.Run.Verdict.Why(); found != nil {
		out.Rate = found.Done
	} else {
		out.Rate, out.P99 = max(h.Rate, 0), max(h.Response.P99, 0)
	}
	if !(out.Rate > 0) {
		out.Rate = 0
	} else if f, err := rundir.Load(o.Dir); err == nil {
		c := rundir.OfCalls(f)
		warm := min(max(-c.First, 0), len(c.Rates))
		out.Rates, out.P99s = c.Rates[warm:], c.P99[warm:]
	}
	if o.Run.Cut() != "" {
		out.State = screen.Cut
	} else if v := o.Run.Verdict; v.Because() != v.State {
		out.Doubt = v.Because()
	}
	return out
}

// sweepTurn does the runs of a sweep that are not done yet.
func sweepTurn(s *series, sw *experiment.Sweep) (out screen.SuiteTurn) {
	sw.Resume()
	out.Err = sw.Do(s.ctx, s.whole, func(sweep.Result) {})
	if dir := sw.Dir(); dir != "" {
		out.Figures = []string{cmp.Or(cli.Most(sw.Result()), "–"), "–", "–", "–"}
		out.To = screen.Sweep{ID: filepath.Base(dir)}
	}
	return out
}

// repeatsTurn does a run several times, in turn with another if there is one.
func repeatsTurn(s *series, r *experiment.Repeats) (out screen.SuiteTurn) {
	sides := make([][]string, len(r.Sides))
	failed := r.Do(s.ctx, func(ctx context.Context, t experiment.Turn) (*session.Concluded, error) {
		o, err := s.whole(ctx, t)
		if o != nil {
			sides[t.Member] = append(sides[t.Member], o.Run.ID)
		}
		return o, err
	})
	came, err := r.Conclude()
	out.Err = errors.Join(failed, err)
	switch {
	case came == nil || came.Dir == "":
		return out
	case len(sides) > 1:
		out.To = screen.Compare{A: sides[0], B: sides[1]}
	default:
		out.To = screen.Noise{Runs: sides[0]}
	}
	out.Figures = []string{"–", "–", "–", "–"}
	return out
}

// Foresee computes what a run of a plan would do.
func (w sweeper) Foresee(r request.Request) (*request.Preview, error) { return w.requests.Foresee(r) }

// Suite begins the runs of a plan.
func (w sweeper) Suite(of screen.Suite) (screen.SuiteRun, error) {
	d, file := w.driver(), of.File
	tasks, err := suiteTasks(context.Background(), d, file, w.requests.request)
	if err != nil {
		return nil, err
	}
	if err := request.RememberPlan(w.state, w.path(of.Path)); err != nil {
		w.env.Log.Debug("The plan was not remembered", "error", err)
	}
	s := &benchSuite{series: newSeries(w, d), file: file, tasks: tasks, turns: make([]screen.SuiteTurn, len(tasks))}
	s.begin(s.do, func() string { return "" })
	return s, nil
}

// do does one run after the other.
func (s *benchSuite) do() screen.Outcome {
	begun, err := s.driver.Suite(s.follow, len(s.tasks), s.file.StopOnFailure, func(i int) error {
		s.set(i, screen.SuiteTurn{State: screen.UnderWay})
		turn := s.tasks[i](s.series)
		switch {
		case turn.Err != nil:
			turn.State = screen.Failed
		case turn.State != screen.Cut:
			turn.State = screen.Done
		}
		s.set(i, turn)
		return turn.Err
	})
	for i := begun; i < len(s.tasks); i++ {
		s.set(i, screen.SuiteTurn{State: screen.NotBegun})
	}
	return screen.Outcome{Err: err, Summary: s.summary()}
}

func (s *benchSuite) set(i int, t screen.SuiteTurn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns[i] = t
	if t.State != screen.UnderWay {
		s.turn = experiment.Turn{}
	}
}

// Now is how far the runs are.
func (s *benchSuite) Now() screen.SuiteNow {
	t, run := s.underWay()
	s.mu.Lock()
	defer s.mu.Unlock()
	return screen.SuiteNow{Turns: slices.Clone(s.turns), What: t.What, Run: run}
}

// summary has a line for each run.
func (s *benchSuite) summary() string {
	rows := [][]string{append([]string{"RUN"}, cli.FigureHeads()...)}
	rows[0] = append(rows[0], "EXIT")
	for i, t := range s.Now().Turns {
		row := append([]string{s.file.Runs[i].Name}, t.Figures...)
		if t.Figures == nil {
			row = append(row, "–", "–", "–", "–")
		}
		code := "did not start"
		if t.State != screen.NotBegun {
			code = fmt.Sprint(fault.CodeOf(t.Err))
		}
		rows = append(rows, append(row, code))
	}
	var b bytes.Buffer
	cli.Columns(&b, 0, rows)
	return "\n" + strings.TrimLeft(b.String(), "\n")
}
