package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

func (a *historyCmd) pruneTree() *cobra.Command {
	c := &cobra.Command{
		Use: "prune --older-than TIME | --keep N", Short: "Delete old runs for good",
		Long: `prune deletes the runs that began before --older-than, except the newest --keep;
with --keep alone, all but those. With filters it looks at those runs only: --keep 5 --profile tx
keeps five of tx, and all of other profiles.

It lists what would go and asks, unless --yes. It deletes folders and archives of runs only,
and leaves alone a run that is still going, and a folder that is not named after its
run or holds what no run writes.`,
		Args: cli.None(nil),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.FromEnvironment(cmd, "yes", map[string]string{}); err != nil {
				return err
			}
			return a.withRuns(cmd, func(list []rundir.Entry) error { return a.prune(list, cmd.Flags().Changed("keep")) })
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVar(&a.olderThan, "older-than", "", "`TIME` delete runs that began before it: 30d, 4w, 2026-11-01")
	fs.IntVar(&a.keep, "keep", 0, "`N` keep so many of the newest in any case")
	fs.BoolVar(&a.dryRun, "dry-run", false, "list what would be deleted; delete nothing")
	fs.BoolVar(&a.yes, "yes", false, "do not ask")
	a.filters(c)
	return c
}

// prune deletes runs.
func (a *historyCmd) prune(list []rundir.Entry, keeps bool) error {
	p := rundir.Prune{Keep: a.keep}
	switch {
	case a.olderThan == "" && !keeps:
		return fault.Input(errors.New("prune: nothing says which runs to delete"), "give --older-than 30d, --keep 20, or both")
	case a.keep < 0:
		return fault.Input(fmt.Errorf("keep: %d is below 0", a.keep), "write it like --keep 20")
	case a.olderThan != "":
		var err error
		if p.Before, err = rundir.ParseAgo("older-than", a.olderThan, time.Now()); err != nil {
			return err
		}
	}
	var gone []rundir.Entry
	var size int64
	for _, e := range p.Of(list) {
		if err := rundir.Deletable(e, cli.Formats()); err != nil {
			fmt.Fprintln(a.Stderr, "warning: "+err.Error())
			continue
		}
		gone = append(gone, e)
		size += rundir.Size(e)
	}
	switch {
	case a.json:
		if err := a.writeJSON(itemsOf(gone)); err != nil {
			return err
		}
	case len(gone) == 0:
		fmt.Fprintln(a.Stdout, "there is no run to delete")
	default:
		a.table(itemsOf(gone))
	}
	if len(gone) == 0 || a.dryRun {
		return nil
	}
	if ok, err := a.sure(len(gone), size); !ok {
		return err
	}
	var errs []error
	for _, e := range gone {
		errs = append(errs, rundir.Delete(e, cli.Formats()))
	}
	return errors.Join(errs...)
}

// sure asks whether runs are to go for good.
func (a *historyCmd) sure(n int, size int64) (bool, error) {
	if a.yes {
		return true, nil
	}
	if !a.StdinTerminal {
		return false, fault.Input(errors.New("prune: nothing was deleted: there is no terminal to ask on"), "pass --yes to delete without being asked")
	}
	what := fmt.Sprintf("these %d runs", n)
	if n == 1 {
		what = "this run"
	}
	fmt.Fprintf(a.Stderr, "Delete %s, %s, for good? [y/N] ", what, units.Size(size))
	answer, _ := bufio.NewReader(a.Stdin).ReadString('\n') // an end of input is no
	if slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))) {
		return true, nil
	}
	fmt.Fprintln(a.Stderr, "nothing was deleted")
	return false, nil
}

func (a *historyCmd) archiveTree() *cobra.Command {
	c := &cobra.Command{
		Use: "archive RUN...", Short: "Put runs into one file each, which all commands read",
		Long: `archive puts the folder of each run into a zip archive of the same name beside it, and
reads that back. report, compare, history and the workbench take an archive where they take
a run; nothing is written into one, so report wants --out there.

RUN is a run folder, the id of a run, latest, -1, -2 …`,
		RunE: func(cmd *cobra.Command, refs []string) error {
			a.fromEnvironment(cmd)
			return a.archive(refs)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return cli.Runs(a.runs), cobra.ShellCompDirectiveDefault
		},
	}
	c.Flags().StringVarP(&a.out, "out", "o", "", "`DIR` where the archives go, instead of beside the folders")
	c.Flags().BoolVar(&a.remove, "remove", false, "delete each folder once its archive has been read back")
	c.Flags().BoolVar(&a.json, "json", false, "write JSON")
	a.folder(c)
	return c
}

func (a *historyCmd) unpackTree() *cobra.Command {
	c := &cobra.Command{
		Use: "unpack RUN...", Short: "Make folders of archived runs again",
		Long: `unpack writes the run of each archive as the folder that it was, beside the archive, so
that report can write into it again. The archive is deleted once the folder is there.

RUN is an archive, the id of a run, latest, -1, -2 …`,
		RunE: func(cmd *cobra.Command, refs []string) error {
			a.fromEnvironment(cmd)
			return a.unpack(refs)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return cli.Runs(a.runs), cobra.ShellCompDirectiveDefault
		},
	}
	a.folder(c)
	return c
}

// unpack makes folders of archives; what cannot be done of one does not stop the others.
func (a *historyCmd) unpack(refs []string) error {
	if len(refs) == 0 {
		return fault.Input(errors.New("no run was named"), "name one:  perfbench history unpack latest")
	}
	var names []string
	for _, ref := range refs {
		name, err := rundir.Find(a.runs, cli.Unshield(ref))
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	var errs []error
	for _, name := range names {
		dir, err := rundir.Unpack(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintln(a.Stdout, dir)
		errs = append(errs, os.Remove(name))
	}
	return errors.Join(errs...)
}

// archive archives runs; what cannot be done of one does not stop the others.
func (a *historyCmd) archive(refs []string) error {
	if len(refs) == 0 {
		return fault.Input(errors.New("no run was named"), "name one:  perfbench history archive latest")
	}
	var dirs []string
	for _, ref := range refs { // -2 is another run once the latest is gone
		dir, err := rundir.Find(a.runs, cli.Unshield(ref))
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	var errs []error
	var made []rundir.Entry
	for _, dir := range dirs {
		name, run, err := rundir.Archive(dir, a.out)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		made = append(made, rundir.Entry{Dir: name, Run: run})
		if !a.json {
			fmt.Fprintln(a.Stdout, name)
		}
		if a.remove {
			errs = append(errs, rundir.Delete(rundir.Entry{Dir: dir, Run: run}, cli.Formats()))
		}
	}
	if a.json {
		errs = append(errs, a.writeJSON(itemsOf(made)))
	}
	return errors.Join(errs...)
}
