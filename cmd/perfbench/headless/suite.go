package headless

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

// ProfileOrPlan refuses arguments other than the name of a profile, one plan file, or a file
// that --file takes and that tells for which profile it is.
func ProfileOrPlan(c *cobra.Command, args []string) error {
	switch {
	case len(args) > 1:
		return fault.Input(fmt.Errorf("%s: unexpected argument %q", cli.Name(c), args[1]), "it takes one profile or one plan; several runs go into one plan, under runs:")
	case len(args) == 0 || cli.IsPlan(args[0]):
		return nil
	case isFile(args[0]):
		names := request.Readers(cli.Profiles(), args)
		if cli.ReaderOf(args[0], names) != "" || len(names) > 0 && c.Flags().Changed("profile") {
			return nil
		}
		hint := "a plan ends in .yaml or .yml"
		if len(names) > 0 {
			hint = "several profiles read it: add  --profile " + strings.Join(names, "|")
		}
		return fault.Input(fmt.Errorf("%s: %q is neither a profile nor a plan", cli.Name(c), args[0]), hint)
	case c.Flags().Changed("profile"):
		return fault.Input(fmt.Errorf("%s: the profile is named twice, as %s and by --profile %s", cli.Name(c), args[0], c.Flag("profile").Value), "leave one out")
	}
	_, err := cli.Profile(args)
	return err
}

// isFile reports whether an argument cannot be the name of a profile.
func isFile(arg string) bool { return filepath.Base(arg) != arg || filepath.Ext(arg) != "" }

// Complete has a shell offer profiles, and files where none begins with what is typed.
func Complete(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cli.NoFiles
	}
	names, _ := cli.CompleteProfiles(c, nil, typed)
	return names, cobra.ShellCompDirectiveDefault
}

// CarryOut does what the flags ask for, or the runs of a plan file, when all of them are
// found to be possible; args are what ProfileOrPlan has let through. It resolves the flags;
// wrong is what is known to be wrong besides, d what drives all. lay lays flags of the command's own
// over each run of the file; it may be nil.
func CarryOut(cmd *cobra.Command, c *cli.Call, f *cli.Flags, d *experiment.Driver, args []string, wrong error, lay func(request.Run) request.Run, make Make) error {
	a, ctx := command{c}, cmd.Context()
	var problems workload.Problems
	plan := len(args) > 0 && cli.IsPlan(args[0])
	filed := len(args) > 0 && !plan && isFile(args[0])
	named := len(args) > 0 && !plan && !filed
	chosen := cmd.Flags().Changed("profile")
	if filed {
		problems.Add(cmd.Flags().Set("file", args[0]))
		if !chosen {
			problems.Add(cmd.Flags().Set("profile", cli.ReaderOf(args[0], request.Readers(cli.Profiles(), args))))
		}
	}
	if named {
		problems.Add(cmd.Flags().Set("profile", args[0]))
	}
	problems.Add(f.Resolve(a.Call, cmd))
	if named {
		f.Run.Request.From["profile"] = "argument"
	}
	if filed && !chosen {
		f.Run.Request.From["profile"] = "argument " + args[0]
	}
	problems.Add(wrong)
	file := f.File()
	if plan {
		var err error
		file, err = infile.While(ctx, func() (*request.File, error) { return f.Plan(a.Call, args[0]) })
		problems.Add(err)
	}
	var all []Task
	if file != nil {
		var err error
		all, err = prepare(ctx, file, lay, make)
		problems.Add(err)
	}
	if err := problems.Err(); err != nil {
		return err
	}
	defer d.Close(a.Hard)
	switch {
	case f.DryRun && f.AsPlan:
		return a.writePlan(file, all)
	case file.Suite && !f.DryRun:
		return a.suite(ctx, f, d, file, all)
	case !f.DryRun:
		return all[0].Do(ctx).Err
	}
	for i, t := range all {
		if file.Suite {
			fmt.Fprintf(a.Stdout, "%s%s, %d of %d\n\n", strings.Repeat("\n", min(i, 1)), file.Runs[i].Name, i+1, len(all))
		}
		if err := t.Print(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare finds out whether all runs of a file are possible. What is wrong with some of
// them only says with which.
func prepare(ctx context.Context, file *request.File, lay func(request.Run) request.Run, make Make) ([]Task, error) {
	var wrong faults
	var out []Task
	for _, r := range file.Runs {
		if lay != nil {
			r = lay(r)
		}
		t, err := make(ctx, r)
		wrong.add(r.Name, r.Placed(err))
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
			w.err = request.Named(strings.Join(w.runs, ", "), w.err)
		}
		problems.Add(w.err)
	}
	return problems.Err()
}

// suite does the runs of a file in order and sums them up. A run that failed is told of
// at once; the error has the code of the worst.
func (a command) suite(ctx context.Context, f *cli.Flags, d *experiment.Driver, file *request.File, all []Task) error {
	status := newStatus(a.Stderr, f)
	rows := [][]string{{"RUN", "THROUGHPUT", "P99", "ERRORS", "VERDICT", "EXIT", "REPORT"}}
	var errs []error
	begun := d.Each(ctx, len(all), func(i int) (goOn bool) {
		name := file.Runs[i].Name
		status.say("%srun %d of %d: %s", strings.Repeat("\n", min(i, 1)), i+1, len(all), name)
		w := all[i].Do(ctx)
		if w.Err != nil {
			errs = append(errs, w.Err)
			a.Report(fmt.Errorf("%s: %w", name, w.Err))
		}
		a.Told = ""
		rows = append(rows, append([]string{name}, w.row()...))
		return w.Err == nil || !file.StopOnFailure
	})
	left := len(all) - begun
	for _, r := range file.Runs[begun:] {
		rows = append(rows, []string{r.Name, "–", "–", "–", "–", "–", "did not start"})
	}
	if !f.Quiet && !f.JSON {
		a.printSuite(rows, f)
	}
	if len(errs) == 0 && left == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %d runs failed", len(errs), len(all))
	if left > 0 {
		text += fmt.Sprintf(", and %d did not start", left)
	}
	return fault.Code(errors.New(text), fault.Worst(errs))
}

// row is the line of a task that was begun, without its name.
func (w *Went) row() []string {
	code := fmt.Sprint(fault.CodeOf(w.Err))
	switch {
	case w.Outcome != nil:
		return append(w.figures(), code, w.Outcome.Dir)
	case w.Kept == "" && w.Err != nil:
		reason, _, _ := strings.Cut(w.Err.Error(), "\n")
		return []string{"–", "–", "–", "–", code, reason}
	}
	return []string{cmp.Or(w.Done, "–"), cmp.Or(w.P99, "–"), "–", "–", code, w.Kept}
}

// printSuite writes one line for each run to stdout.
func (a command) printSuite(rows [][]string, f *cli.Flags) {
	for _, row := range rows {
		for i := range row {
			row[i] = cli.Plain(row[i], f.Plain || f.ASCII)
		}
	}
	fmt.Fprintln(a.Stdout)
	cli.Columns(a.Stdout, a.StdoutWidth, rows)
}
