package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// reportCmd is the command in one call.
type reportCmd struct{ *cli.Call }

// reportCommand writes any document of finished runs.
func reportCommand(c *cli.Call) *cobra.Command { return reportCmd{c}.tree() }

func (a reportCmd) tree() *cobra.Command {
	var o reportOptions
	var runs string
	c := &cobra.Command{
		Use: "report RUN...", Short: "Write any document of finished runs",
		Long: `report writes documents of finished runs, and of runs that were cut short. RUN is
a run folder, the id of a run, latest, -1 (the same), -2 (the one before), …

On a terminal it shows the summary and a chart of the run. With --format, or without
a terminal, it writes documents: without a list, those that a run writes by itself.
They go into the run's folder; with --out DIR elsewhere; with --out - a single one to
stdout. --open writes the page in HTML and shows it in the browser. With --against
text, Markdown and HTML say how the run compares to an earlier one. Some formats make one
document of several runs (padogrid-csv, oae-html, ab): it goes beside their folders.
For padogrid-csv RUN may also be a folder of PadoGrid's own result texts.

A file of --facts is kept in the run's folder, in place of the one before.`,
		Example: `  perfbench report latest
  perfbench report latest --open --against -2
  perfbench report latest --format markdown --out -
  perfbench report -2 --format html,hgrm
  perfbench report results/*-ingestion-* --format padogrid-csv --out -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			from := map[string]string{}
			if err := a.FromEnvironment(cmd, "format", from); err != nil {
				return err
			}
			if v, ok := a.Getenv(request.EnvPrefix + "OUT"); ok && v != "" && !cmd.Flags().Changed("runs") {
				runs = v
			}
			return a.writeReports(args, runs, o)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return cli.Runs(runs), cobra.ShellCompDirectiveDefault
		},
	}
	c.Flags().StringSliceVar(&o.formats, "format", nil, "`LIST` formats: see perfbench list formats")
	c.Flags().StringVarP(&o.out, "out", "o", "", "`DIR` where the documents go instead of the run's folder; - for stdout")
	c.Flags().StringVar(&runs, "runs", session.DefaultOut, "`DIR` where to look for runs")
	c.Flags().StringVar(&o.against, "against", "", "`RUN` an earlier one, with which text, markdown and html compare this one")
	c.Flags().BoolVar(&o.open, "open", false, "show the page in HTML in the browser")
	c.Flags().StringVar(&o.facts, "facts", "", "`FILE` facts that a client cannot know, kept with the run: machines, topology, arguments, remarks")
	_ = c.RegisterFlagCompletionFunc("against", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return cli.Runs(runs), cobra.ShellCompDirectiveDefault
	}) // the flag exists
	_ = c.RegisterFlagCompletionFunc("format", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return cli.FormatNames(), cli.NoFiles
	}) // the flag exists
	return c
}

// reportOptions are what was asked of report: formats, where to, a file of facts, the run
// to compare with, and whether to open the page.
type reportOptions struct {
	formats             []string
	out, facts, against string
	open                bool
	earlier             *rundir.Folder   // that of against
	kept                []*rundir.Folder // what shows how much such a run differs from the next
}

// writeReports writes the documents of all runs; what cannot be written of one
// does not stop the others.
func (a reportCmd) writeReports(refs []string, runs string, o reportOptions) error {
	out := o.out
	if len(refs) == 0 {
		return fault.Input(errors.New("no run was named"), "name one:  perfbench report latest,  or the folder of a run")
	}
	o, err := a.forPeople(refs, runs, o)
	if err != nil {
		return err
	}
	if len(refs) > 1 && (len(o.formats) > 0 || out == "-") || len(refs) == 1 && foundTexts(runs, refs[0], o.formats) != nil {
		return a.writeTogether(refs, runs, o)
	}
	var errs []error
	for _, ref := range refs {
		dir, err := rundir.Find(runs, cli.Unshield(ref))
		if err == nil {
			one := o
			if len(refs) > 1 && out != "" {
				one.out = filepath.Join(out, rundir.Base(dir))
			}
			err = a.writeReport(dir, one)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// writeTogether writes documents of several runs: one of all of them where a format
// joins runs, beside their folders or in out, else one a run.
func (a reportCmd) writeTogether(refs []string, runs string, o reportOptions) error {
	ids, out := o.formats, o.out
	if out == "-" && len(ids) != 1 {
		return fault.Input(fmt.Errorf("--out - takes one format, not %d", len(ids)), "name it with --format")
	}
	var folders []*rundir.Folder
	var errs []error
	for _, ref := range refs {
		if texts := foundTexts(runs, ref, ids); texts != nil {
			folders = append(folders, texts...)
			continue
		}
		f, err := a.loadRun(runs, ref)
		if err == nil {
			err = keepFacts(f, o)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		folders = append(folders, f)
	}
	parts, err := report.Plan(cli.Formats(), ids, folders)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	if out == "-" {
		return errors.Join(append(errs, report.PrintAll(a.Stdout, parts))...)
	}
	for _, p := range parts {
		f := p.Runs[0]
		dest, names := out, []string(nil)
		switch {
		case p.Joined():
			switch {
			case dest != "":
			case f.Found != nil:
				dest = f.Dir // as create_csv does
			default:
				dest = filepath.Dir(filepath.Clean(f.Dir))
			}
			names, err = report.WriteJoined(p, dest)
		case out == "":
			dest = f.Dir
			names, err = report.Write(f, []rundir.Format{p.Format}, "")
		default:
			dest = filepath.Join(out, rundir.Base(f.Dir))
			names, err = report.Write(f, []rundir.Format{p.Format}, dest)
		}
		errs = append(errs, err)
		for _, n := range names {
			fmt.Fprintln(a.Stdout, filepath.Join(dest, n))
		}
	}
	return errors.Join(errs...)
}

// foundTexts returns what PadoGrid's own results are in a folder that is no run's, for
// the format that makes a table of them; nil when it is something else.
func foundTexts(runs, ref string, ids []string) []*rundir.Folder {
	if !slices.Equal(ids, []string{padogrid.CSVFormatID}) {
		return nil
	}
	if _, err := rundir.Find(runs, cli.Unshield(ref)); err == nil {
		return nil
	}
	found, err := padogrid.Found(ref)
	if err != nil {
		return nil
	}
	return found
}

// loadRun finds and loads a run, and says when it is still going.
func (a reportCmd) loadRun(runs, ref string) (*rundir.Folder, error) {
	dir, err := rundir.Find(runs, cli.Unshield(ref))
	if err != nil {
		return nil, err
	}
	f, err := rundir.Load(dir)
	if err == nil && rundir.Alive(dir) {
		fmt.Fprintf(a.Stderr, "%s is still running: these are its figures so far\n", f.Run.ID)
	}
	return f, err
}

// nothingToSay refuses formats of which there is no document of this run, such as one
// of another mode of its profile.
func nothingToSay(f *rundir.Folder, formats []rundir.Format) error {
	for _, format := range formats {
		if format.Describes(f) {
			continue
		}
		what := "of this run"
		if f.Run.Mode != "" {
			what = "of a run with mode=" + f.Run.Mode
		}
		return fault.Input(fmt.Errorf("there is no document of format %s %s", format.ID, what), "perfbench list formats says what each one describes")
	}
	return nil
}

// writeReport writes the documents of one run.
func (a reportCmd) writeReport(dir string, o reportOptions) error {
	ids, out := o.formats, o.out
	f, err := rundir.Load(dir)
	if err != nil {
		return err
	}
	f.Against, f.Kept = o.earlier, o.kept
	if rundir.Alive(dir) {
		fmt.Fprintf(a.Stderr, "%s is still running: these are its figures so far\n", f.Run.ID)
	}
	if len(ids) == 0 {
		ids = cli.DefaultFormats(f.Run.Profile)
	}
	formats, err := rundir.Pick(cli.Formats(), ids, f.Run.Profile)
	if err != nil {
		return err
	}
	if err := keepFacts(f, o); err != nil {
		return err
	}
	if len(o.formats) > 0 {
		if err := nothingToSay(f, formats); err != nil {
			return err
		}
	}
	if out == "-" {
		return a.writeToStdout(f, formats)
	}
	if a.StdoutTerminal && len(o.formats) == 0 && out == "" {
		a.show(f)
		return nil
	}
	dest := out
	if dest == "" {
		dest = dir
	}
	names, err := report.Write(f, formats, out)
	for _, n := range names {
		fmt.Fprintln(a.Stdout, filepath.Join(dest, n))
	}
	if o.open && err == nil {
		err = File(filepath.Join(dest, report.PageFile), a.Stderr)
	}
	return err
}

// keepFacts gives a run the file of --facts, if there is one.
func keepFacts(f *rundir.Folder, o reportOptions) error {
	if o.facts == "" {
		return nil
	}
	if err := f.Writable(); err != nil {
		return err
	}
	ids := o.formats
	if len(ids) == 0 {
		ids = cli.DefaultFormats(f.Run.Profile)
	}
	formats, err := rundir.Pick(cli.Formats(), ids, f.Run.Profile)
	if err != nil {
		return err
	}
	if f.Given, err = request.ReadFacts(o.facts, formats, cli.Formats()); err != nil {
		return err
	}
	return rundir.KeepFacts(f.Dir, f.Given)
}

func (a reportCmd) writeToStdout(f *rundir.Folder, formats []rundir.Format) error {
	if len(formats) != 1 {
		return fault.Input(fmt.Errorf("--out - takes one format, not %d", len(formats)), "name it with --format")
	}
	return report.Print(a.Stdout, f, formats[0])
}
