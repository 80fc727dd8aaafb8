package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/doctor"
	"github.com/perfbench/perfbench/cmd/perfbench/headless"
	"github.com/perfbench/perfbench/cmd/perfbench/workbench"
)

// tree is the tree of commands.
type tree struct{ *cobra.Command }

// groups are what the help lists commands under; each command has one.
var groups = []struct {
	title    string
	commands []string
}{
	{"Measure", []string{"tui", "run", "find", "sweep", "resume", "capture"}},
	{"Look at what was measured", []string{"report", "compare", "history"}},
	{"Servers and their data", []string{"doctor", "lab", "data"}},
	{"Several machines", []string{"join", "workers"}},
	{"About perfbench", []string{"list", "version", "completion", "man"}},
}

// root builds all commands of a call.
func root(a *cli.Call) tree {
	c := &cobra.Command{
		Use:   "perfbench",
		Short: "Load-test data stores with workloads shaped like real applications",
		Long: `perfbench load-tests data stores with workloads shaped like real applications,
measures them honestly, and writes reports that others can trust.

Without a command it opens the workbench when it has a terminal.`,
		Example: `  perfbench run ingestion
  perfbench run ingestion --target redis://localhost --set threads=32 --duration 60s
  perfbench report latest --format markdown --out -`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           versionLine(),
		Args:              cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.StdoutTerminal || !a.StdinTerminal {
				return cmd.Help()
			}
			return workbench.Open(cmd.Context(), a)
		},
	}
	c.SetOut(a.Stdout)
	c.SetErr(a.Stderr)
	c.SetIn(a.Stdin)
	c.SetFlagErrorFunc(cli.BadFlag)
	c.SetVersionTemplate("{{.Version}}\n")
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { cli.Brief(c.OutOrStdout(), c) })
	c.Flags().BoolP("version", "v", false, "print which build this is")
	dryRun := func(cmd *cobra.Command, f *cli.Flags, w *cli.Workers, args []string) error {
		return headless.DryRun(cmd, a, f, w, args)
	}
	c.AddCommand(
		workbench.Command(a, dryRun), headless.Command(a, headless.Makes{Find: makeFind, Sweep: makeSweep}), workerCommand(a),
		workersCommand(a), headless.Resume(a), findCommand(a), sweepCommand(a), listCommand(a), dataCommand(a), reportCommand(a),
		compareCommand(a), historyCommand(a), captureCommand(a), labCommand(a), doctor.Command(a), versionCommand(a), completionCommand(a), manCommand(a),
	)
	c.SetHelpCommand(helpCommand())
	for _, g := range groups {
		c.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, s := range c.Commands() {
			if slices.Contains(g.commands, s.Name()) {
				s.GroupID = g.title
			}
		}
	}
	c.SetHelpCommandGroupID(groups[len(groups)-1].title)
	cli.Once(c, a.Stderr)
	return tree{c}
}

func (t tree) execute(ctx context.Context, args []string) error {
	if args == nil {
		args = []string{} // nil would make cobra look at the process's own
	}
	if err := cli.Habit(args); err != nil {
		return err
	}
	t.SetArgs(cli.Shield(t.Command, args))
	return t.ExecuteContext(ctx)
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Say everything about a command: all flags, exit codes",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || c == nil || len(rest) > 0 {
				return cli.NoSuchCommand(cmd.Root(), args)
			}
			c.InitDefaultHelpFlag()
			cli.Help(c.OutOrStdout(), c)
			return nil
		},
	}
}
