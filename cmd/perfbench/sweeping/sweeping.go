// Package sweeping is the command that does a run at each of several values of a knob, or
// of two, and says what comes of them.
package sweeping

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/call"
	"github.com/perfbench/perfbench/cmd/perfbench/console"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/cmd/perfbench/runflags"
	"github.com/perfbench/perfbench/cmd/perfbench/usage"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/sweep/rounds"
	"github.com/perfbench/perfbench/internal/workload"
)

// command is the command in one call.
type command struct {
	*call.Call
	flags runflags.Flags
	asked sweep.Asked
}

// Command does a run at each point.
func Command(c *call.Call) *cobra.Command { return (&command{Call: c}).tree() }

func (a *command) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "sweep --profile P --over threads=1,2,4,…,64", Short: "Do a run at each of several values of a knob, and say where the knee is",
		Long: `sweep does a run at each value of a knob or parameter, or at each pair of the values
of two, several times in rounds, each in an order of its own. Dots go on as the values
before them do. --over target=URL,URL sets stores side by side.

Each run takes --duration (default 10s) after --warmup (default 2s) and has a folder as
usual. What they come to stands on stdout, and as sweep.json, sweep.csv, sweep.txt,
sweep.html and sweep.svg in the folder of the sweep. Over threads that is the knee, and
the Universal Scalability Law as it fits what was measured.

After an interruption the same command goes on where it was.

Exit codes: those of run, of the worst of the runs. One that fails otherwise than by a
threshold ends the sweep.`,
		Example: `  perfbench sweep --profile ingestion --target redis://localhost --over threads=1,2,4,…,64
  perfbench sweep --profile tx --target lab:postgres --over threads=1,2,4,8 --over payload=1KiB,16KiB
  perfbench sweep --profile ingestion --over threads=4,8,…,32 --over target=redis://old,redis://new`,
		Args: usage.None(runflags.ProfileHint),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var problems workload.Problems
			problems.Add(a.flags.Resolve(a.Call, cmd))
			problems.Add(a.FromEnvironment(cmd, "repeat", map[string]string{}))
			if err := problems.Err(); err != nil {
				return err
			}
			s, err := rounds.Prepare(cmd.Context(), a.Session(), a.flags.Request, a.asked)
			if err != nil {
				return err
			}
			if a.flags.DryRun {
				a.printPlan(s)
				return nil
			}
			return a.do(cmd.Context(), s)
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&a.asked.Over, "over", nil, "`NAME=LIST` of a knob or parameter, or of target: threads=1,2,4,…,64; once or twice")
	fs.StringVar(&a.asked.Repeat, "repeat", sweep.UsualRepeat, "`N` runs at each point")
	a.flags.Register(a.Call, c)
	_ = c.RegisterFlagCompletionFunc("over", func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		names, how := runflags.CompleteSet(c, args, typed)
		return append(names, sweep.Target+"="), how
	}) // the flag exists
	return c
}

// do does the runs that are not done yet, and says what all come to.
func (a *command) do(ctx context.Context, s *rounds.Sweep) error {
	if dir := s.Resume(); dir != "" && !a.flags.Quiet {
		fmt.Fprintf(a.Stderr, "%s goes on: %d of %d runs are done\n", dir, len(s.Result().Runs), s.Result().All())
	}
	err := s.Do(ctx, func(ctx context.Context, r session.Request, what string) (*session.Outcome, error) {
		return headless.Turn(ctx, a.Call, &a.flags, r, what)
	}, func(sweep.Result) {})
	if s.Dir() == "" {
		return err
	}
	if !a.flags.Quiet {
		fmt.Fprint(a.Stdout, "\n"+console.Plain(report.SweepText(s.Result()), a.flags.Plain || a.flags.ASCII)+"\nkept in ")
	}
	fmt.Fprintln(a.Stdout, s.Dir())
	return err
}

func (a *command) printPlan(s *rounds.Sweep) {
	r := s.Result()
	fmt.Fprintf(a.Stdout, "%d runs, %d at each of %d points. The first of them: ", r.All(), r.Rounds, r.All()/r.Rounds)
	headless.PrintPlan(a.Call, s.First())
}
