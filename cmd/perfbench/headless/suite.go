package headless

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
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
		return request.ByLine(err)
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
	var wrong request.Faults
	var out []Task
	for _, r := range file.Runs {
		if lay != nil {
			r = lay(r)
		}
		r.Request.Name = file.NameOf(&r)
		t, err := make(ctx, r)
		wrong.Add(r.Name, r.Placed(err))
		out = append(out, t)
	}
	return out, wrong.Err(len(file.Runs))
}

// suite does the runs of a file in order and sums them up. A run that failed is told of
// at once.
func (a command) suite(ctx context.Context, f *cli.Flags, d *experiment.Driver, file *request.File, all []Task) error {
	status := newStatus(a.Stderr, f)
	rows := [][]string{append(append([]string{"RUN"}, cli.FigureHeads()...), "EXIT", "REPORT")}
	begun, err := d.Suite(ctx, len(all), file.StopOnFailure, func(i int) error {
		name := file.Runs[i].Name
		status.say("%srun %d of %d: %s", strings.Repeat("\n", min(i, 1)), i+1, len(all), name)
		w := all[i].Do(ctx)
		if w.Err != nil {
			a.Report(fmt.Errorf("%s: %w", name, w.Err))
		}
		a.Told = ""
		rows = append(rows, append([]string{name}, w.row()...))
		return w.Err
	})
	for _, r := range file.Runs[begun:] {
		rows = append(rows, []string{r.Name, "–", "–", "–", "–", "–", "did not start"})
	}
	if !f.Quiet && !f.JSON {
		a.printSuite(rows, f)
	}
	return err
}

// row is the line of a task that was begun, without its name.
func (w *Went) row() []string {
	code := fmt.Sprint(fault.CodeOf(w.Err))
	switch {
	case w.Outcome != nil:
		return append(cli.Figures(&w.Outcome.Run, w.Found), code, w.Outcome.Dir)
	case w.Kept == "" && w.Err != nil:
		reason, _, _ := strings.Cut(w.Err.Error(), "\n")
		return []string{"–", "–", "–", "–", code, reason}
	}
	return []string{cmp.Or(w.Most, "–"), "–", "–", "–", code, w.Kept}
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
