package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

func (a *historyCmd) noteTree() *cobra.Command {
	c := &cobra.Command{
		Use: "note RUN [TEXT]", Short: "Write a note on a run, which reports and lists show",
		Long: `note keeps one line with a run, in note.txt in its folder, in place of the note before.
Without TEXT it prints the note; an empty TEXT removes it.

RUN is a run folder, the id of a run, latest, -1, -2 …`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.fromEnvironment(cmd)
			return a.note(args)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cli.NoFiles
			}
			return cli.Runs(a.runs), cobra.ShellCompDirectiveDefault
		},
	}
	a.folder(c)
	return c
}

// note writes or prints the note of a run.
func (a *historyCmd) note(args []string) error {
	if len(args) == 0 {
		return fault.Input(errors.New("no run was named"), `name one:  perfbench history note latest "with the new index"`)
	}
	dir, err := rundir.Find(a.runs, cli.Unshield(args[0]))
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return rundir.Note(dir, strings.Join(args[1:], " "))
	}
	f, err := rundir.Load(dir)
	if err == nil && f.Run.Note != "" {
		fmt.Fprintln(a.Stdout, f.Run.Note)
	}
	return err
}
