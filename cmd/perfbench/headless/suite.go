package headless

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/console"
	"github.com/perfbench/perfbench/cmd/perfbench/runflags"
	"github.com/perfbench/perfbench/cmd/perfbench/summary"
	"github.com/perfbench/perfbench/cmd/perfbench/usage"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/planfile"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// planOnly refuses arguments other than one plan file.
func planOnly(c *cobra.Command, args []string) error {
	if len(args) > 0 && isPlan(args[0]) {
		if len(args) > 1 {
			return fault.Input(fmt.Errorf("%s: unexpected argument %q", usage.Name(c), args[1]), "put several runs in one plan, under runs:")
		}
		return nil
	}
	return usage.None(runflags.ProfileHint)(c, args)
}

// isPlan says that an argument is the name of a plan file.
func isPlan(arg string) bool {
	ending := strings.ToLower(filepath.Ext(arg))
	return arg == "-" || ending == ".yaml" || ending == ".yml"
}

// carryOut does the run of the flags, or those of a plan file, when all of them are found
// to be possible.
func (a command) carryOut(cmd *cobra.Command, f *runflags.Flags, r *repeat, args []string) error {
	var problems workload.Problems
	problems.Add(f.Resolve(a.Call, cmd))
	problems.Add(r.resolve(a.Call, cmd))
	file := f.Run()
	if len(args) > 0 {
		var err error
		file, err = f.Plan(a.Call, args[0])
		problems.Add(err)
	}
	var all []*task
	if file != nil {
		var err error
		all, err = a.prepare(cmd.Context(), file, r)
		problems.Add(err)
	}
	if err := problems.Err(); err != nil {
		return err
	}
	switch {
	case f.DryRun && f.AsPlan:
		return a.writePlan(file, all)
	case file.Suite && !f.DryRun:
		return a.suite(cmd.Context(), f, file, all)
	}
	for i, t := range all {
		if file.Suite {
			fmt.Fprintf(a.Stdout, "%s%s, %d of %d\n\n", strings.Repeat("\n", min(i, 1)), t.name, i+1, len(all))
		}
		if err := a.do(cmd.Context(), f, t).err; err != nil {
			return err
		}
	}
	return nil
}

// task is a run that was found to be possible.
type task struct {
	name     string
	request  session.Request
	prepared *session.Prepared
	repeat   *repeat
}

// do carries a task out, or says what it would do.
func (a command) do(ctx context.Context, f *runflags.Flags, t *task) went {
	w := went{name: t.name, started: true}
	switch {
	case t.repeat.asked():
		w.kept, w.err = a.runRepeats(ctx, f, t.repeat, t.request)
	case f.DryRun:
		a.printPlan(t.prepared)
	default:
		w.outcome, w.err = a.run(ctx, f, t.prepared, Beside{})
	}
	return w
}

// prepare finds out whether all runs of a file are possible, with those that they are to
// be compared with. What is wrong with some of them only says with which.
func (a command) prepare(ctx context.Context, file *planfile.File, flags *repeat) ([]*task, error) {
	var wrong faults
	var out []*task
	env := a.Session()
	for _, r := range file.Runs {
		t := &task{name: r.Name, request: r.Request}
		var err error
		t.repeat, err = flags.of(r.Repeat)
		wrong.add(r.Name, err)
		for i, s := range t.repeat.sides(r.Request) {
			p, err := session.Prepare(ctx, env, s.request)
			wrong.add(r.Name, err)
			if i == 0 {
				t.prepared = p
			}
		}
		out = append(out, t)
	}
	return out, wrong.err(len(file.Runs))
}

// faults are what is wrong with the runs of a file, each with the names of its runs.
type faults []struct {
	err  error
	runs []string
}

func (f *faults) add(run string, err error) {
parts:
	for _, e := range fault.Parts(err) {
		for i := range *f {
			old := &(*f)[i]
			if old.err.Error() != e.Error() {
				continue
			}
			if !slices.Contains(old.runs, run) {
				old.runs = append(old.runs, run)
			}
			continue parts
		}
		*f = append(*f, struct {
			err  error
			runs []string
		}{e, []string{run}})
	}
}

// err joins them; runs is how many there are.
func (f faults) err(runs int) error {
	var problems workload.Problems
	for _, w := range f {
		if len(w.runs) < runs {
			w.err = fmt.Errorf("%s: %w", strings.Join(w.runs, ", "), w.err)
		}
		problems.Add(w.err)
	}
	return problems.Err()
}

// went says how a run of a suite went.
type went struct {
	name    string
	started bool
	outcome *session.Outcome
	// kept is the folder of what repeats came to.
	kept string
	err  error
}

// suite does the runs of a file in order and sums them up. A run that failed is told of
// at once; the error has the code of the worst.
func (a command) suite(ctx context.Context, f *runflags.Flags, file *planfile.File, all []*task) error {
	status := newStatus(a.Stderr, f)
	list := make([]went, len(all))
	failed, left := 0, 0
	for i, t := range all {
		w := &list[i]
		w.name = t.name
		if ctx.Err() != nil || failed > 0 && file.StopOnFailure {
			left++
			continue
		}
		status.say("%srun %d of %d: %s", strings.Repeat("\n", min(i, 1)), i+1, len(all), w.name)
		if *w = a.do(ctx, f, t); w.err != nil {
			failed++
			a.Report(fmt.Errorf("%s: %w", w.name, w.err))
		}
		a.Told = ""
	}
	if !f.Quiet {
		a.printSuite(list, f)
	}
	if failed == 0 && left == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %d runs failed", failed, len(all))
	if left > 0 {
		text += fmt.Sprintf(", and %d did not start", left)
	}
	return fault.Code(errors.New(text), worst(list))
}

// worst is the code of a suite: interrupted, else the smallest of those that failed. A run
// that could not be made is worse than one whose data was wrong, and that worse than one
// that missed a threshold.
func worst(list []went) int {
	out := fault.CodeOK
	for _, w := range list {
		code := fault.CodeOf(w.err)
		switch {
		case code == fault.CodeOK:
		case code == fault.CodeInterrupted:
			return code
		case out == fault.CodeOK || code < out:
			out = code
		}
	}
	return out
}

// printSuite writes one line for each run to stdout.
func (a command) printSuite(list []went, f *runflags.Flags) {
	rows := [][]string{{"RUN", "THROUGHPUT", "P99", "ERRORS", "VERDICT", "EXIT", "REPORT"}}
	for _, w := range list {
		switch {
		case !w.started:
			rows = append(rows, []string{w.name, "–", "–", "–", "–", "–", "did not start"})
		case w.kept != "":
			rows = append(rows, []string{w.name, "–", "–", "–", "–", fmt.Sprint(fault.CodeOf(w.err)), w.kept})
		case w.outcome == nil && w.err == nil:
			rows = append(rows, []string{w.name, "–", "–", "–", "–", "0", ""})
		case w.outcome == nil:
			reason, _, _ := strings.Cut(w.err.Error(), "\n")
			rows = append(rows, []string{w.name, "–", "–", "–", "–", fmt.Sprint(fault.CodeOf(w.err)), reason})
		default:
			rows = append(rows, w.figures())
		}
	}
	for _, row := range rows {
		for i := range row {
			row[i] = console.Plain(row[i], f.Plain || f.ASCII)
		}
	}
	fmt.Fprintln(a.Stdout)
	console.Columns(a.Stdout, a.StdoutWidth, rows)
}

// figures is the line of a run that has a report.
func (w *went) figures() []string {
	r := &w.outcome.Run
	h := r.Headline()
	rate, p99 := "–", "–"
	if !math.IsNaN(h.Rate) {
		rate = units.Number(h.Rate) + " " + r.Unit + "/s"
	}
	if len(h.Timed) > 0 {
		p99 = summary.Latency(h.Response.P99)
	}
	var errs int64
	for _, o := range r.Operations {
		errs += o.Errors
	}
	return []string{w.name, rate, p99, fmt.Sprint(errs), r.Verdict.State, fmt.Sprint(fault.CodeOf(w.err)), w.outcome.Dir}
}
