// Package sweeping is the command that does a run at each of several values of a knob, or
// of two, and says what comes of them.
package sweeping

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/call"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/cmd/perfbench/runflags"
	"github.com/perfbench/perfbench/cmd/perfbench/usage"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/session/given"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
)

// What a run of a sweep is given that was not told how long to take.
const (
	usualDuration = "10s"
	usualWarmup   = "2s"
)

// command is the command in one call.
type command struct {
	*call.Call
	flags runflags.Flags

	over   []string
	repeat string
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
			s, err := a.prepare(cmd.Context())
			if err != nil {
				return err
			}
			if a.flags.DryRun {
				a.printPlan(s)
				return nil
			}
			return s.do(cmd.Context())
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringArrayVar(&a.over, "over", nil, "`NAME=LIST` of a knob or parameter, or of target: threads=1,2,4,…,64; once or twice")
	fs.StringVar(&a.repeat, "repeat", "3", "`N` runs at each point")
	a.flags.Register(a.Call, c)
	_ = c.RegisterFlagCompletionFunc("over", func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		names, how := runflags.CompleteSet(c, args, typed)
		return append(names, sweep.Target+"="), how
	}) // the flag exists
	return c
}

// point is one that runs are to be done at.
type point struct {
	request  session.Request
	prepared *session.Prepared
}

// prepare finds out whether all runs are possible. Errors are of input.
func (a *command) prepare(ctx context.Context) (*sweeping, error) {
	rounds, err := strconv.Atoi(a.repeat)
	if err != nil || rounds < 1 || rounds > sweep.MostRuns {
		err = fault.Field("repeat", fault.Input(fmt.Errorf("repeat: %q is not in 1..%d", a.repeat, sweep.MostRuns), "write it like --repeat 3"))
		return nil, err
	}
	axes, err := sweep.Parse(a.over)
	if err != nil {
		return nil, err
	}
	all, err := sweep.Points(axes, rounds)
	if err != nil {
		return nil, err
	}
	for _, x := range axes {
		if err := a.once(x.Name); err != nil {
			return nil, err
		}
	}
	a.usual(axes)
	s := &sweeping{command: a, result: sweep.Result{Schema: sweep.Schema, Axes: axes, Rounds: rounds, Runs: []sweep.Run{}}}
	var problems workload.Problems
	told := map[string]bool{}
	for _, values := range all {
		p := point{request: a.at(axes, values)}
		p.prepared, err = session.Prepare(ctx, a.Session(), p.request)
		for _, e := range fault.Parts(err) {
			if !told[e.Error()] {
				problems.Add(e)
			}
			told[e.Error()] = true
		}
		s.points = append(s.points, p)
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s.describe()
	return s, nil
}

// usual gives runs a length that were given none, be it by an axis.
func (a *command) usual(axes []sweep.Axis) {
	values := a.flags.Request.Values
	has := func(name string) bool {
		_, flag := values[name]
		_, env := a.Getenv(given.Variable(name))
		return flag || env || slices.ContainsFunc(axes, func(x sweep.Axis) bool { return x.Name == name })
	}
	set := func(name, text string) {
		values.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--" + name + ", its default"})
	}
	if !has("duration") && !has("count") {
		set("duration", usualDuration)
	}
	if !has("warmup") {
		set("warmup", usualWarmup)
	}
}

// once refuses a knob that has a value beside those that are swept over.
func (a *command) once(name string) error {
	_, twice := a.flags.Request.Values[name]
	if name == sweep.Target {
		twice = a.flags.Request.Target != ""
	}
	if !twice {
		return nil
	}
	return fault.Field("over", fault.Input(fmt.Errorf("over %s: is given a value of its own beside its list", name), "leave out one of the two"))
}

// at is what is asked for at one point.
func (a *command) at(axes []sweep.Axis, values []string) session.Request {
	r := a.flags.Request
	r.Values = maps.Clone(r.Values)
	for i, x := range axes {
		if x.Name == sweep.Target {
			r.Target = values[i]
			continue
		}
		r.Values[x.Name] = workload.Value{Name: x.Name, Text: values[i], Origin: workload.OriginFlag, Where: "--over"}
	}
	return r
}

func (a *command) printPlan(s *sweeping) {
	fmt.Fprintf(a.Stdout, "%d runs, %d at each of %d points. The first of them: ", s.result.All(), s.result.Rounds, len(s.points))
	headless.PrintPlan(a.Call, s.points[0].prepared)
}

// failed says whether what a run came to ends the sweep.
func failed(o *session.Outcome) bool {
	c := o.Code()
	return c != fault.CodeOK && c != fault.CodeThreshold
}

// worst joins the errors of runs, so that the code is that of one which ended the sweep,
// else that of a missed threshold.
func worst(errs []error) error {
	slices.SortStableFunc(errs, func(a, b error) int {
		last := map[bool]int{true: 1}
		return last[fault.CodeOf(a) == fault.CodeThreshold] - last[fault.CodeOf(b) == fault.CodeThreshold]
	})
	for i, err := range errs {
		errs[i] = fault.Code(err, fault.CodeOther)
	}
	return errors.Join(errs...)
}
