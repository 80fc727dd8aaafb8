package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
)

// forPeople settles what --open and --against ask for: the format to open, and the run to
// compare with.
func (a reportCmd) forPeople(refs []string, runs string, o reportOptions) (reportOptions, error) {
	if o.open {
		switch {
		case len(refs) > 1:
			return o, fault.Input(fmt.Errorf("--open takes one run, not %d", len(refs)), "open them one after the other")
		case o.out == "-":
			return o, fault.Input(errors.New("--open shows a file, and --out - writes none"), "leave one of the two out")
		case !slices.Contains(o.formats, "html"):
			o.formats = append(o.formats, "html")
		}
	}
	if o.against == "" {
		return o, nil
	}
	if len(o.formats) == 0 && (!a.StdoutTerminal || o.out != "") {
		return o, fault.Input(errors.New("--against shows only in text, markdown and html, and none of these was asked for"), "add --format with text, markdown or html, or --open")
	}
	var err error
	if o.earlier, err = a.loadRun(runs, o.against); err == nil {
		o.kept = compare.Kept(runs, o.earlier)
	}
	return o, err
}

// show writes the summary of a run for who looks at a terminal, and how it compares to an
// earlier one.
func (a reportCmd) show(f *rundir.Folder) {
	fmt.Fprint(a.Stdout, cli.Plain(cli.Summary(&f.Run, ""), a.PoorLetters()))
	cli.DrawCharts(a.Call, f, false)
	if text := report.Against(f); text != "" {
		fmt.Fprint(a.Stdout, "\n"+cli.Plain(text, a.PoorLetters()))
	}
	fmt.Fprintf(a.Stdout, "\nkept in %s; --open shows it in the browser, --format writes documents\n", f.Dir)
}
