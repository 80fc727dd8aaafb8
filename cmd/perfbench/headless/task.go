package headless

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"

	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
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
	Find  func(c *cli.Call, f *cli.Flags, d *experiment.Driver) Make
	Sweep func(c *cli.Call, f *cli.Flags, d *experiment.Driver) Make
}

// Went says how a task went.
type Went struct {
	// Outcome is that of a single run; nil when it did not start, or there were several.
	Outcome *session.Concluded
	// Kept is the folder of what several runs came to.
	Kept string
	// Found is what the run searched for; nil without a search. Most says the highest throughput of
	// several runs in a few words; empty without.
	Found *find.Result
	Most  string
	Err   error
}

// single is a run, or several of the same.
type single struct {
	command
	flags   *cli.Flags
	driver  *experiment.Driver
	name    string
	repeats *experiment.Repeats
}

// make makes the task of a plain run, with those that it is to be compared with, or of the
// search or sweep that it is instead.
func (a command) make(f *cli.Flags, d *experiment.Driver, others Makes) Make {
	return func(ctx context.Context, r request.Run) (Task, error) {
		if r.Find != nil || r.Sweep != nil {
			r.Repeat = f.Run.Repeat.Over(r.Repeat)
		}
		switch err := r.Check(); {
		case err != nil:
			return nil, err
		case r.Find != nil:
			return others.Find(a.Call, f, d)(ctx, r)
		case r.Sweep != nil:
			s := request.Sweep{Repeat: r.Repeat.Times}.Above(r.Sweep)
			r.Sweep = &s
			return others.Sweep(a.Call, f, d)(ctx, r)
		}
		return Repeats(ctx, a.Call, f, d, r)
	}
}

// Repeats makes the task of a run that may be done several times, and in turn with another; with
// Find, each of them is a search.
func Repeats(ctx context.Context, c *cli.Call, f *cli.Flags, d *experiment.Driver, r request.Run) (Task, error) {
	repeats, err := d.Repeats(ctx, r.Request, f.Run.Repeat.Over(r.Repeat), r.Find)
	return &single{command{c}, f, d, r.Name, repeats}, err
}

// Do implements Task.
func (t *single) Do(ctx context.Context) (w Went) {
	if t.repeats.Times > 0 {
		w.Kept, w.Err = t.repeated(ctx)
	} else {
		w.Outcome, w.Err = t.command.run(ctx, t.flags, t.repeats.Sides[0].Prepared, Beside{})
	}
	return w
}

// Print implements Task.
func (t *single) Print(context.Context) error {
	if t.repeats.Times == 0 {
		t.printPlan(t.repeats.Sides[0].Prepared)
		return nil
	}
	for _, s := range t.repeats.Sides {
		fmt.Fprintf(t.Stdout, "%s, %d times: ", s.Name, t.repeats.Times)
		t.printPlan(s.Prepared)
		if t.repeats.Find != nil {
			PrintSearch(t.Call, &s.Search, t.repeats.Find.Under)
		}
		fmt.Fprintln(t.Stdout)
	}
	return nil
}

// Asked implements Task.
func (t *single) Asked() request.Run {
	return request.Run{Name: t.name, Request: t.repeats.Sides[0].Prepared.Asked(), Repeat: t.repeats.Asked, Find: t.repeats.Find}
}
