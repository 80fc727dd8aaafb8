package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/suggest"
)

// tree is the tree of commands.
type tree struct{ *cobra.Command }

// root builds all commands.
func (a *app) root() tree {
	c := &cobra.Command{
		Use:   "perfbench",
		Short: "Load-test data stores with workloads shaped like real applications",
		Long: `perfbench load-tests data stores with workloads shaped like real applications,
measures them honestly, and writes reports that others can trust.

Without a command it opens the workbench when it has a terminal.`,
		Example: `  perfbench run --profile ingestion
  perfbench run --profile ingestion --target redis://localhost --set threads=32 --duration 60s
  perfbench report latest --format markdown --out -`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.StdoutTerminal || !a.StdinTerminal {
				return cmd.Help()
			}
			f := &runFlags{theme: themes[0]}
			return a.startWorkbench(cmd.Context(), f)
		},
	}
	c.SetOut(a.Stdout)
	c.SetErr(a.Stderr)
	c.SetIn(a.Stdin)
	c.SetFlagErrorFunc(badFlag)
	c.AddCommand(a.tuiCommand(), a.runCommand(), a.listCommand(), a.dataCommand(), a.reportCommand(),
		a.labCommand(), a.versionCommand(), a.completionCommand(), a.manCommand())
	c.SetHelpCommand(helpCommand())
	return tree{c}
}

func (t tree) execute(ctx context.Context, args []string) error {
	if args == nil {
		args = []string{} // nil would make cobra look at the process's own
	}
	t.SetArgs(shield(args))
	return t.ExecuteContext(ctx)
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || c == nil || len(rest) > 0 {
				return noSuchCommand(cmd.Root(), args)
			}
			return c.Help()
		},
	}
}

// noSuchCommand refuses arguments of a command that only has subcommands.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, s := range c.Commands() {
		if !s.Hidden {
			names = append(names, s.Name())
		}
	}
	return fault.Input(fmt.Errorf("unknown command %q", unknownPath(c, args[0])), suggest.Hint(args[0], names))
}

func unknownPath(c *cobra.Command, arg string) string {
	if c == c.Root() {
		return arg
	}
	return name(c) + " " + arg
}

// name is a command as the user typed it after perfbench.
func name(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// subcommandNeeded is the RunE of a command that only has subcommands.
func subcommandNeeded(c *cobra.Command, args []string) error {
	if err := noSuchCommand(c, args); err != nil {
		return err
	}
	var names []string
	for _, s := range c.Commands() {
		names = append(names, s.Name())
	}
	return fault.Input(fmt.Errorf("%s needs a subcommand", name(c)), "one of: "+strings.Join(names, ", "))
}

// noArgs refuses arguments, with a hint for the flag that was meant.
func noArgs(hint func(arg string) string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		h := "it takes only flags; see " + c.CommandPath() + " --help"
		if hint != nil {
			if s := hint(args[0]); s != "" {
				h = s
			}
		}
		return fault.Input(fmt.Errorf("%s: unexpected argument %q", name(c), args[0]), h)
	}
}

// oneOf refuses arguments that are none of the given words.
func oneOf(what string, least, most int, words ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least {
			return fault.Input(fmt.Errorf("%s needs a %s", name(c), what), "one of: "+strings.Join(words, ", "))
		}
		if len(args) > most {
			return fault.Input(fmt.Errorf("%s: unexpected argument %q", name(c), args[most]), "")
		}
		for _, arg := range args {
			if !slices.Contains(words, arg) {
				return fault.Input(fmt.Errorf("unknown %s %q", what, arg), suggest.Hint(arg, words))
			}
		}
		return nil
	}
}

// badFlag gives the nearest right flag for a wrong one.
func badFlag(c *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return fault.Input(fmt.Errorf("%s: %w", name(c), err), "see "+c.CommandPath()+" --help")
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	flag := "--" + unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		flag = "-" + short
	}
	hint := "see " + c.CommandPath() + " --help"
	if near := suggest.Nearest(flag, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return fault.Input(fmt.Errorf("%s: unknown flag %s", name(c), flag), hint)
}

func (a *app) tuiCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use: "tui", Short: "Open the workbench: pick, run, tune and compare on one screen",
		Args: noArgs(a.profileHint),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.resolve(a, cmd); err != nil {
				return err
			}
			return a.startWorkbench(cmd.Context(), f)
		},
	}
	f.register(a, c)
	c.Flags().BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal, for selecting text")
	c.Flags().BoolVar(&f.noAnimation, "no-animation", false, "words instead of decorative motion")
	return c
}
