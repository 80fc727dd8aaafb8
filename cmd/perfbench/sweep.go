package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/sweep"
)

// sweepCmd is the command in one call.
type sweepCmd struct {
	*cli.Call
	flags cli.Flags
	crew  cli.Workers
	asked request.Sweep
}

// sweepCommand does a run at each point.
func sweepCommand(c *cli.Call) *cobra.Command { return (&sweepCmd{Call: c}).tree() }

func (a *sweepCmd) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "sweep PROFILE --over threads=1,2,4,…,64 | sweep PLAN.yaml", Short: "Do a run at each of several values of a knob, and say where the knee is",
		Long: `sweep does a run at each value of a knob or parameter, or at each pair of the values
of two, several times in rounds, each in an order of its own. Dots go on as the values
before them do. --over target=URL,URL sets stores side by side. --over rate=auto searches for
the knee first, and takes ten rates from 20 to 125 % of it.

Settings of servers of the lab that decide what they keep can be swept over, too, such
as appendfsync, synchronous_commit and sync_binlog. The lab starts its servers anew for
each run, without their data. With --fault power-cut or kill, the results set what a
setting costs against what it loses.

Each run takes --duration (default 10s) after --warmup (default 2s) and has a folder as
usual. What they come to stands on stdout, and as sweep.json, sweep.csv, sweep.txt,
sweep.html and sweep.svg in the folder of the sweep. Over threads that is the knee, and
the Universal Scalability Law as it fits what was measured.

With PLAN.yaml the runs are as the file says, in the words of the flags; what is swept
over stands there under sweep. Flags given beside it win.

After an interruption the same command goes on where it was.

Exit codes: those of run, of the worst of the runs. One that fails otherwise than by a
threshold ends the sweep.`,
		Example: `  perfbench sweep ingestion --target redis://localhost --over threads=1,2,4,…,64
  perfbench sweep tx --target lab:postgres --over threads=1,2,4,8 --over payload=1KiB,16KiB
  perfbench sweep ingestion --over threads=4,8,…,32 --over target=redis://old,redis://new
  perfbench sweep ingestion --target redis://localhost --over rate=auto --threshold 'p99<10ms'
  perfbench sweep ingestion --target lab:redis --over appendfsync=always,everysec,no --fault power-cut`,
		Args: headless.ProfileOrPlan,
		RunE: func(cmd *cobra.Command, args []string) error {
			wrong := a.FromEnvironment(cmd, "repeat", map[string]string{})
			d := experiment.NewDriver(a.Session, a.crew.Series())
			return headless.CarryOut(cmd, a.Call, &a.flags, d, args, errors.Join(wrong, a.crew.Check()), func(r request.Run) request.Run {
				r = r.Sweeping(a.asked)
				r.Sweep.Repeat = cmp.Or(r.Sweep.Repeat, r.Repeat.Times)
				return r
			}, makeSweep(a.Call, &a.flags, d))
		},
		ValidArgsFunction: headless.Complete,
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&a.asked.Over, "over", nil, "`NAME=LIST` values of a knob or parameter, or of target: threads=1,2,4,…,64; rate=auto: around the knee; once or twice")
	fs.StringVar(&a.asked.Repeat, "repeat", "", "`N` how many runs at each point (default "+sweep.UsualRepeat+")")
	fs.StringVar(&a.asked.Fault, "fault", "", "`KIND` a fault at the middle of each run, for a tenth of it: power-cut, power-cut:torn, kill, delay:5ms; as in --at")
	a.flags.Register(a.Call, c)
	a.flags.RegisterJSON(c)
	a.crew.Register(c)
	_ = c.RegisterFlagCompletionFunc("over", func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		names, how := cli.CompleteSet(c, args, typed)
		return append(names, sweep.Target+"="), how
	}) // the flag exists
	return c
}

// sweepTask is one sweep.
type sweepTask struct {
	*cli.Call
	flags  *cli.Flags
	driver *experiment.Driver
	run    request.Run
	sweep  *experiment.Sweep
}

// makeSweep makes sweeps of the runs of plans that are some.
func makeSweep(c *cli.Call, f *cli.Flags, d *experiment.Driver) headless.Make {
	return func(ctx context.Context, r request.Run) (headless.Task, error) {
		if err := r.Check(); err != nil {
			return nil, err
		}
		asked := r.Sweep.Asked()
		asked.Repeat = cmp.Or(asked.Repeat, sweep.UsualRepeat)
		s, err := d.Sweep(ctx, r.Request, asked)
		return &sweepTask{c, f, d, r, s}, err
	}
}

// Do implements headless.Task: it does the runs that are not done yet, and says what all
// come to.
func (t *sweepTask) Do(ctx context.Context) (w headless.Went) {
	if dir := t.sweep.Resume(); dir != "" && !t.flags.Quiet {
		fmt.Fprintf(t.Stderr, "%s goes on: %d of %d runs are done\n", dir, len(t.sweep.Result().Runs), t.sweep.Result().All())
	}
	if !t.flags.Quiet {
		for _, l := range t.sweep.Result().LeftOut {
			fmt.Fprintln(t.Stderr, l)
		}
	}
	w.Err = t.sweep.Do(ctx, headless.Perform(t.Call, t.flags, t.driver), func(sweep.Result) {})
	r := t.sweep.Result()
	if w.Kept = t.sweep.Dir(); w.Kept == "" {
		return w
	}
	w.Most = cli.Most(r)
	if t.flags.JSON {
		return w // of the runs there is a line each
	}
	if !t.flags.Quiet {
		fmt.Fprint(t.Stdout, "\n"+cli.Plain(report.SweepText(r), t.flags.Plain || t.flags.ASCII)+"\nkept in ")
	}
	fmt.Fprintln(t.Stdout, w.Kept)
	return w
}

// Print implements headless.Task.
func (t *sweepTask) Print(context.Context) error {
	r := t.sweep.Result()
	fmt.Fprintf(t.Stdout, "%d runs, %d at each of %d points%s. The first of them: ", r.All(), r.Rounds, r.All()/r.Rounds, sweep.Series(r.Axes))
	headless.PrintPlan(t.Call, t.sweep.First())
	if list := r.LeftOut; list != nil {
		headless.PrintList(t.Call, "left out", list)
	}
	if s := t.sweep.Settings(); s != "" {
		headless.PrintList(t.Call, "before each run, the lab starts the servers of the target anew", []string{"without their data, the first time with " + s})
	}
	if list := t.sweep.Searches(); list != nil {
		headless.PrintList(t.Call, "before the runs, whose rates lie at 20 to 125 % of the knee", list)
	}
	return nil
}

// Asked implements headless.Task.
func (t *sweepTask) Asked() request.Run {
	r := t.sweep.Asked()
	r.Name, r.Sweep = t.run.Name, t.run.Sweep // which knows how its file spells secrets
	return r
}
