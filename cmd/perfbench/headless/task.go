package headless

import (
	"context"
	"fmt"
	"math"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/runflags"
	"github.com/perfbench/perfbench/cmd/perfbench/summary"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Task is something to carry out that was found to be possible: a run, or what a plan has
// in place of one.
type Task interface {
	// Do carries it out, and says on stdout what it came to.
	Do(ctx context.Context) Went
	// Print says on stdout what it would do.
	Print(ctx context.Context) error
	// Asked is what a plan file says of it.
	Asked() request.Run
}

// Make makes the task of a run of a plan, or of the command line. Errors are of input.
type Make func(ctx context.Context, r request.Run) (Task, error)

// Makes are how the commands beside run make the tasks of plans.
type Makes struct {
	Find  func(c *cli.Call, f *runflags.Flags, crew *runflags.Series) Make
	Sweep func(c *cli.Call, f *runflags.Flags, crew *runflags.Series) Make
}

// Went says how a task went.
type Went struct {
	// Outcome is that of a single run; nil when it did not start, or there were several.
	Outcome *session.Concluded
	// Kept is the folder of what several runs came to.
	Kept string
	// Done says the throughput in a few words, empty where that of the run does. P99 does
	// the same.
	Done, P99 string
	Err       error
}

// single is a run, or several of the same.
type single struct {
	command
	flags    *runflags.Flags
	crew     *runflags.Series
	run      request.Run
	prepared *session.Prepared
	repeat   *repeat
}

// make makes the task of a plain run, with those that it is to be compared with, or of the
// search or sweep that it is instead.
func (a command) make(f *runflags.Flags, crew *runflags.Series, others Makes) Make {
	return func(ctx context.Context, r request.Run) (Task, error) {
		if r.Find != nil || r.Sweep != nil {
			r.Repeat = f.Run.Repeat.Over(r.Repeat)
		}
		switch err := r.Check(); {
		case err != nil:
			return nil, err
		case r.Find != nil:
			return others.Find(a.Call, f, crew)(ctx, r)
		case r.Sweep != nil:
			s := request.Sweep{Repeat: r.Repeat.Times}.Above(r.Sweep)
			r.Sweep = &s
			return others.Sweep(a.Call, f, crew)(ctx, r)
		}
		t := &single{command: a, flags: f, crew: crew, run: r}
		var problems workload.Problems
		var err error
		t.repeat, err = repeatOf(f.Run.Repeat, r.Repeat)
		problems.Add(err)
		for i, s := range t.repeat.sides(r.Request) {
			p, err := session.Prepare(ctx, a.Session(), s.request)
			if err == nil {
				p, err = crew.Of(p)
			}
			problems.Add(err)
			if i == 0 {
				t.prepared = p
			}
		}
		return t, problems.Err()
	}
}

// Do implements Task.
func (t *single) Do(ctx context.Context) (w Went) {
	if t.repeat.asked() {
		w.Kept, w.Err = t.runRepeats(ctx)
	} else {
		t.crew.Expect(1)
		w.Outcome, w.Err = t.command.run(ctx, t.flags, t.prepared, Beside{})
	}
	return w
}

// Print implements Task.
func (t *single) Print(ctx context.Context) error {
	if !t.repeat.asked() {
		t.printPlan(t.prepared)
		return nil
	}
	all, _, err := t.sides(ctx)
	for _, s := range all {
		fmt.Fprintf(t.Stdout, "%s, %d times: ", s.name, t.repeat.n)
		t.printPlan(s.prepared)
		fmt.Fprintln(t.Stdout)
	}
	return err
}

// Asked implements Task.
func (t *single) Asked() request.Run {
	return request.Run{Name: t.run.Name, Request: t.prepared.Asked(), Repeat: t.repeat.Repeat}
}

// figures is what a run that has a report came to: throughput, p99, errors and verdict.
func (w *Went) figures() []string {
	r := &w.Outcome.Run
	h := r.Headline()
	rate, p99 := w.Done, w.P99
	if rate == "" {
		rate = "–"
		if !math.IsNaN(h.Rate) {
			rate = r.Sign() + units.Number(h.Rate) + " " + r.Unit + "/s"
		}
	}
	if p99 == "" {
		p99 = "–"
		if len(h.Timed) > 0 {
			if p99 = summary.Latency(h.Response.P99); h.Response.P99 != measure.Hidden {
				p99 = r.Sign() + p99
			}
		}
	}
	var errs int64
	for _, o := range r.Operations {
		errs += o.Errors
	}
	return []string{rate, p99, fmt.Sprint(errs), r.Verdict.State}
}
