package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
)

// compareCmd is the command in one call.
type compareCmd struct{ *cli.Call }

// compareOptions are what was asked of a comparison beside its sides.
type compareOptions struct {
	formats   []string
	out, runs string
	tolerance string
	unsure    string
	noLetter  bool
	aa        bool
}

// compareCommand compares finished runs.
func compareCommand(c *cli.Call) *cobra.Command { return compareCmd{c}.tree() }

func (a compareCmd) tree() *cobra.Command {
	o := &compareOptions{}
	c := &cobra.Command{
		Use: "compare A B | --aa A", Short: "Say whether B is better or worse than A, and how sure that is",
		Long: `compare puts two sides of finished runs next to each other, figure by figure: each
with its margin of error, the change with its least and greatest likely value, and
better, worse, same within N %, or unsure.

A side is a run (its folder, its id, latest, -1, -2 …), repeats of a run (a folder
of them, or a pattern in quotes), or a baseline file that report --format baseline
has made. Several runs a side show how much runs vary. One run a side cannot, unless
three earlier runs of the same plan are in the folder of --runs; of less than 5 s, its
figures are then unsure.

With --aa there is one side, A, of three runs or more: its runs are compared with each
other, which tells the noise of this machine and store, and what one, three, five and
ten runs a side could show. It is kept in the folder of --runs, for comparisons of
single runs of the same plan on this machine.

What the sides differ in is listed. Where like is not compared with like (other
profiles, units, kinds of store, arrivals or data sizes; repeats that differ; runs that
failed verification), the answer begins with that, and stderr has a warning.

Exit codes: 0 the comparison was made; 2 bad input; 4 a run failed verification; 5 a
figure of all counted operations together is worse by more than --tolerance, or unsure
with --unsure fail.`,
		Example: `  perfbench compare -2 -1
  perfbench compare 'results/before-*' 'results/after-*'
  perfbench compare baseline.json latest --tolerance 10% --format markdown
  perfbench compare --aa 'results/before-*'
  perfbench compare before after --format text,junit,html --out comparison`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.aa {
				return oneSide(cmd, args)
			}
			return twoSides(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			from := map[string]string{}
			if err := errors.Join(a.FromEnvironment(cmd, "tolerance", from), a.FromEnvironment(cmd, "unsure", from)); err != nil {
				return err
			}
			if v, ok := a.Getenv(request.EnvPrefix + "OUT"); ok && v != "" && !cmd.Flags().Changed("runs") {
				o.runs = v
			}
			if o.aa {
				return a.compareAA(cli.Unshield(args[0]), o)
			}
			return a.compare(cli.Unshield(args[0]), cli.Unshield(args[1]), o)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= 2 {
				return nil, cli.NoFiles
			}
			return cli.Runs(o.runs), cobra.ShellCompDirectiveDefault
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.tolerance, "tolerance", "5%", "`SHARE` how much worse B may be")
	fs.StringVar(&o.unsure, "unsure", string(compare.Pass), "`POLICY` what to do where it cannot be told: "+strings.Join(compare.Policies, ", "))
	fs.BoolVar(&o.aa, "aa", false, "compare the runs of one side with each other: how much do runs differ here?")
	fs.StringSliceVar(&o.formats, "format", []string{"text"}, "`LIST` documents: "+strings.Join(report.ComparisonFormats(), ", "))
	fs.StringVarP(&o.out, "out", "o", "-", "`DIR` where the documents go; - for stdout")
	fs.StringVar(&o.runs, "runs", session.DefaultOut, "`DIR` where to look for runs")
	fs.BoolVar(&o.noLetter, "plain", false, "no symbols, for screen readers")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(report.ComparisonFormats(), cli.NoFiles)) // the flag exists
	_ = c.RegisterFlagCompletionFunc("tolerance", cobra.FixedCompletions([]string{"5%", "10%"}, cli.NoFiles))
	_ = c.RegisterFlagCompletionFunc("unsure", cobra.FixedCompletions(compare.Policies, cli.NoFiles))
	return c
}

// twoSides wants exactly two arguments.
func twoSides(_ *cobra.Command, args []string) error {
	switch n := len(args); {
	case n < 2:
		return fault.Input(errors.New("compare needs two sides, A and B"), "for example:  perfbench compare -2 -1")
	case n > 2:
		return fault.Input(fmt.Errorf("compare takes two sides, not %d", n), "put a pattern in quotes:  perfbench compare 'before-*' 'after-*'")
	}
	return nil
}

// oneSide wants exactly one argument.
func oneSide(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fault.Input(fmt.Errorf("compare --aa takes one side, not %d", len(args)), "for example:  perfbench compare --aa 'results/before-*'")
	}
	return nil
}

// compareAA compares the runs of one side with each other, writes what they come to, and
// keeps it.
func (a compareCmd) compareAA(ref string, o *compareOptions) error {
	tolerance, err := compare.ParseTolerance(o.tolerance)
	if err != nil {
		return err
	}
	if o.out == "-" && len(o.formats) != 1 {
		return fault.Input(fmt.Errorf("--out - takes one format, not %d", len(o.formats)), "name a folder with --out")
	}
	side, err := a.side(o.runs, ref)
	if err != nil {
		return err
	}
	n, err := compare.AA(side, tolerance)
	if err != nil {
		return err
	}
	var files []rundir.File
	for _, id := range o.formats {
		f, err := report.Noise(n, strings.TrimSpace(id))
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if err := a.write(files, o); err != nil {
		return err
	}
	file, err := compare.KeepNoise(o.runs, side)
	if err == nil {
		fmt.Fprintln(a.Stderr, "kept in "+cli.Printable(file))
	}
	return err
}

// compare compares two sides and writes what it comes to.
func (a compareCmd) compare(refA, refB string, o *compareOptions) error {
	tolerance, err := compare.ParseTolerance(o.tolerance)
	if err != nil {
		return err
	}
	unsure, err := compare.ParsePolicy(o.unsure)
	if err != nil {
		return err
	}
	if o.out == "-" && len(o.formats) != 1 {
		return fault.Input(fmt.Errorf("--out - takes one format, not %d", len(o.formats)), "name a folder with --out")
	}
	sideA, err := a.side(o.runs, refA)
	if err != nil {
		return err
	}
	sideB, err := a.side(o.runs, refB)
	if err != nil {
		return err
	}
	if id, same := shared(sideA, sideB); same {
		return fault.Input(fmt.Errorf("run %s is on both sides", id), "name other runs: perfbench history lists them, and -2 is the one before the latest")
	}
	c := compare.Sets(sideA, sideB, compare.Options{Tolerance: tolerance, Unsure: unsure, Earlier: compare.Earlier(o.runs, sideA, sideB)})
	found, err := report.SearchesOf(c)
	if err != nil {
		return err
	}
	var files []rundir.File
	for _, id := range o.formats {
		f, err := report.Comparison(c, found, strings.TrimSpace(id))
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if err := a.write(files, o); err != nil {
		return err
	}
	for _, w := range slices.Concat(c.Refusals, c.Warnings()) {
		fmt.Fprintln(a.Stderr, "warning: "+cli.Printable(w))
	}
	return c.Err()
}

// side gathers the runs of a side and names what was left out.
func (a compareCmd) side(runs, ref string) (compare.Set, error) {
	set, warnings, err := compare.FindSet(runs, ref)
	for _, w := range warnings {
		fmt.Fprintln(a.Stderr, "warning: "+cli.Printable(w))
	}
	if swept := isSweep(runs, ref); err != nil && swept != nil {
		err = swept
	}
	return set, err
}

// isSweep returns an error that says which runs to name if what was named is a sweep; nil if it is not.
func isSweep(runs, ref string) error {
	for _, dir := range []string{ref, filepath.Join(runs, ref)} {
		r, err := sweep.Load(dir)
		if err != nil || len(r.Runs) == 0 {
			continue
		}
		one := r.Runs[0]
		return fault.Input(fmt.Errorf("%s is a sweep, and a side is a run or repeats of one", ref),
			fmt.Sprintf("name a run of one of its points, such as %s (%s); its sweep.csv lists them", one.ID, r.Place(one.Point)))
	}
	return nil
}

// write writes the documents.
func (a compareCmd) write(files []rundir.File, o *compareOptions) error {
	if o.out == "-" {
		text := string(files[0].Data)
		if o.formats[0] == "text" {
			text = cli.Plain(text, o.noLetter || a.StdoutTerminal && a.PoorLetters())
		}
		_, err := a.Stdout.Write([]byte(text))
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return fault.Input(fmt.Errorf("write documents to %s: %w", o.out, err), "name a folder with --out")
	}
	if err := rundir.WriteFiles(o.out, files); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(a.Stdout, filepath.Join(o.out, f.Name))
	}
	return nil
}

// shared is a run that both sides have.
func shared(a, b compare.Set) (string, bool) {
	for _, x := range a.Runs {
		for _, y := range b.Runs {
			if p, q := &x.Conditions, &y.Conditions; p.ID == q.ID && p.Started.Equal(q.Started) {
				return p.ID, true
			}
		}
	}
	return "", false
}
