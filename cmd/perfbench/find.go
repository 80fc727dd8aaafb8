package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
)

// findCmd is the command in one call.
type findCmd struct {
	*cli.Call
	flags cli.Flags
	crew  cli.Workers
	asked find.Asked
}

// findCommand looks for the highest rate or number of threads.
func findCommand(c *cli.Call) *cobra.Command { return (&findCmd{Call: c}).tree() }

func (a *findCmd) tree() *cobra.Command {
	recovers := false
	c := &cobra.Command{
		Use: "find PROFILE --under 'p99<10ms' | find PLAN.yaml", Short: "Find the highest rate, or number of threads, that meets a condition",
		Long: `find does one run and raises its rate while the conditions hold: by doubling first,
then by halving what is left between the highest rate that held and the lowest that
did not. A rate that is doubtful is tried again, and so are both at the end. With
--over threads it raises the number of threads, which go as fast as they can.

It ends with these two, what the limit is (the store, or perfbench, and which part), and the
curve of latency over load, on stdout and as find.json, find.txt, find.html and
find.svg in the folder of the run. It takes up to --duration (default 3m).

With PLAN.yaml it searches as the file says, whose keys are named like the flags; what is
sought is under find. Flags on the command line win.

Unless --threads is given, a search for the rate adds threads, up to 64, when all
are busy and the store is not.

With --against or --against-set it searches on both sides in turn, --repeat times on
each (default 5), and ends with by how much the rate of the second differs, in which
range that lies, and both curves in one picture. One search a side shows no range, since
nobody knows how much one differs from the next.

Exit codes: those of run, and 5 when not even the lowest rate holds, none was tried to
its end, or the rate of the second is worse by more than --tolerance.`,
		Example: `  perfbench find ingestion --target redis://localhost --under 'p99<10ms'
  perfbench find tx --under 'p99.9<50ms' --under 'errors<0.1%' --from 1000
  perfbench find tx --target lab:postgres --over threads --under 'p99<20ms'
  perfbench find mix --target redis://old --against redis://new --under 'p99<2ms' --tolerance 5%`,
		Args: headless.ProfileOrPlan,
		RunE: func(cmd *cobra.Command, args []string) error {
			d := experiment.NewDriver(a.Session, a.crew.Series())
			return headless.CarryOut(cmd, a.Call, &a.flags, d, args, a.crew.Check(), func(r request.Run) request.Run {
				if recovers {
					a.asked.Under = find.Recovering(a.asked.Under)
				}
				r = r.Searching(a.asked)
				r.Repeat = a.flags.Run.Repeat.Over(r.Repeat)
				return r
			}, makeFind(a.Call, &a.flags, d))
		},
		ValidArgsFunction: headless.Complete,
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&a.asked.Under, "under", nil, "`EXPR` must hold: p99<10ms, put.p99.9<=20ms, errors<1%; repeats; --threshold says the same where this is not given")
	fs.BoolVar(&recovers, "recovers", false, "find the highest base load from which the store comes back by itself after an overload: --under 'recovers<30s after 1s'; needs --client deadline=…")
	fs.StringVar(&a.asked.Over, "over", "", "`KNOB` what to raise: rate or threads (default rate)")
	fs.StringVar(&a.asked.From, "from", "", "`LEVEL` begin at this one (default: a quarter of what the store could do of the same mix without a rate, or one thread)")
	fs.StringVar(&a.asked.To, "to", "", fmt.Sprintf("`LEVEL` end at this one (default: none, or %d threads)", find.MostThreads))
	a.flags.Register(a.Call, c)
	a.flags.RegisterRepeat(a.Call, c)
	a.flags.RegisterJSON(c)
	a.crew.Register(c)
	for name, words := range map[string][]string{"over": {find.OverRate, find.OverThreads}, "under": {"p99<10ms", "p99.9<50ms", "errors<1%"}} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cli.NoFiles)) // the flag exists
	}
	return c
}

// findTask is one search.
type findTask struct {
	*cli.Call
	flags    *cli.Flags
	run      request.Run
	prepared *session.Prepared

	search headless.Search
}

// makeFind makes searches of the runs of plans that are some.
func makeFind(c *cli.Call, f *cli.Flags, d *experiment.Driver) headless.Make {
	return func(ctx context.Context, r request.Run) (headless.Task, error) {
		t := &findTask{Call: c, flags: f, run: r}
		if err := r.Check(); err != nil {
			return nil, err
		}
		t.run.Request = d.Searching(t.run.Request, *t.run.Find)
		if t.run.Repeat.Any() {
			task, err := headless.Repeats(ctx, c, f, d, t.run)
			return task, errors.Join(err, experiment.Ignored(t.run.Request.Values, r.Find.Over))
		}
		p, err := d.Prepare(ctx, t.run.Request)
		if err != nil {
			return nil, err
		}
		t.search.Options, err = experiment.PrepareSearch(*r.Find, p, 0)
		t.prepared = p.Steered(t.search.Options.Patience())
		return t, errors.Join(err, experiment.Ignored(p.Inputs.Values, r.Find.Over))
	}
}

// Do implements headless.Task.
func (t *findTask) Do(ctx context.Context) (w headless.Went) {
	w.Outcome, w.Err = headless.Run(ctx, t.Call, t.flags, t.prepared, t.search.Beside())
	w.Found = t.search.Result
	return w
}

// Print implements headless.Task.
func (t *findTask) Print(context.Context) error {
	headless.PrintPlan(t.Call, t.prepared)
	headless.PrintSearch(t.Call, &t.search.Options, t.run.Find.Under)
	return nil
}

// Asked implements headless.Task.
func (t *findTask) Asked() request.Run {
	return request.Run{Name: t.run.Name, Request: t.prepared.Asked(), Find: t.run.Find}
}
