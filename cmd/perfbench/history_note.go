package main

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
)

func (a *historyCmd) noteTree() *cobra.Command {
	return a.ofRun(a.note, "note RUN [TEXT]", "Write a note on a run, which reports and lists show",
		`note keeps one line with a run, in note.txt in its folder, in place of the note before.
Without TEXT it prints the note; an empty TEXT removes it.`)
}

func (a *historyCmd) tagTree() *cobra.Command {
	return a.ofRun(a.tag, "tag RUN [NAME=VALUE]...", "Set tags of a run, which reports and lists show",
		`tag sets tags of a run that has ended, in tags.txt in its folder: each NAME=VALUE is added,
or takes the place of the value before; NAME= removes the tag. Without any it prints the tags.`)
}

// ofRun makes a command whose first argument is a run.
func (a *historyCmd) ofRun(do func(args []string) error, use, short, long string) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long + "\n\nRUN is a run folder, the id of a run, latest, -1, -2 …",
		RunE: func(cmd *cobra.Command, args []string) error {
			a.fromEnvironment(cmd)
			return do(args)
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

// tag sets or prints the tags of a run.
func (a *historyCmd) tag(args []string) error {
	if len(args) == 0 {
		return fault.Input(errors.New("no run was named"), "name one:  perfbench history tag latest build=1.4.2")
	}
	dir, err := rundir.Find(a.runs, cli.Unshield(args[0]))
	if err != nil {
		return err
	}
	f, err := rundir.Load(dir)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		for _, word := range f.Run.TagWords() {
			fmt.Fprintln(a.Stdout, word)
		}
		if len(f.Run.Tags) == 0 {
			fmt.Fprintf(a.Stderr, "run %s has no tags; perfbench history tag %s build=1.4.2 sets one\n", f.Run.ID, args[0])
		}
		return nil
	}
	tags := maps.Clone(f.Run.Tags)
	var set []string
	for _, word := range args[1:] {
		if name, none := strings.CutSuffix(word, "="); none && !strings.Contains(name, "=") {
			delete(tags, name)
			continue
		}
		set = append(set, word)
	}
	given, err := request.Tags(set)
	if err != nil {
		return err
	}
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, given)
	return rundir.Retag(dir, tags)
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
