// Package doctor is the command that looks at this machine and a store before anything is
// measured.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// command is the command in one call, with its flags.
type command struct {
	*cli.Call
	json, write, try        bool
	namespace, passwordFile string
	target                  string
}

// Command says what is wrong with this machine or a target, and what to do.
func Command(c *cli.Call) *cobra.Command { return (&command{Call: c}).tree() }

func (a *command) tree() *cobra.Command {
	c := &cobra.Command{
		Use: "doctor [TARGET]", Short: "Say what would spoil a run on this machine or at a target, and what to do",
		Long: `doctor looks at the terminal and at this machine: open files, ports, the quota of
its control group, the clock and how late timers fire. With TARGET it also looks at that
store: whether it can be reached, its version and settings, how long a small question
takes, what it lets us do, the kernel settings that matter if it runs on this machine, and
what each profile would do there.

It takes about two seconds. It changes nothing, except that --write tries whether a run
may write; what it wrote is removed. --try carries out everything that a run asks of a
store, in a namespace of its own that is removed again, within ten seconds: the table that
it prints says what of perfbench works on a store.

Exit codes: 0 nothing stands in the way of a run, though there may be warnings; 2 bad
input; 3 the store cannot be reached or refuses.`,
		Example: `  perfbench doctor
  perfbench doctor redis://localhost:6379
  perfbench doctor redis://localhost:6379 --try
  perfbench doctor lab:postgres --write --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Input(fmt.Errorf("doctor: unexpected argument %q", args[1]), "it takes one target")
			}
			if a.target != "" && len(args) == 1 {
				return fault.Input(fmt.Errorf("doctor: the target is named twice, as %s and by --target", args[0]), "leave one out")
			}
			if a.try && len(args) == 0 && a.target == "" {
				return fault.Input(errors.New("doctor: --try needs a target"), "for example  perfbench doctor redis://localhost:6379 --try")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range []string{"namespace", "password-file"} {
				if err := a.FromEnvironment(c, name, map[string]string{}); err != nil {
					return err
				}
			}
			return a.examine(c.Context(), cmp.Or(a.target, strings.Join(args, "")))
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cli.NoFiles
			}
			return cli.Targets(a.Call, typed), cli.NoFiles | cobra.ShellCompDirectiveNoSpace
		},
	}
	fs := c.Flags()
	fs.SortFlags = false
	fs.StringVarP(&a.target, "target", "t", "", "`URL` the store to look at, as for run; the same as TARGET")
	_ = c.RegisterFlagCompletionFunc("target", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return cli.Targets(a.Call, typed), cli.NoFiles | cobra.ShellCompDirectiveNoSpace
	}) // the flag exists
	fs.BoolVar(&a.write, "write", false, "test whether a run is allowed to write; the test data is removed")
	fs.BoolVar(&a.try, "try", false, "carry out all that a run asks of a store, in a namespace of its own that is removed again")
	fs.StringVar(&a.namespace, "namespace", "perfbench", "`NAME` prefix of what a run makes")
	fs.StringVar(&a.passwordFile, "password-file", "", "`FILE` its first line is the target's password")
	fs.BoolVar(&a.json, "json", false, "write JSON")
	return c
}

// examine looks at everything and says what it found.
func (a *command) examine(ctx context.Context, target string) error {
	var s Store
	if target != "" {
		var err error
		if s, err = a.store(target); err != nil {
			return err
		}
	}
	a.Begin()
	machine := LookAround(ctx, os.DirFS("/"))
	all := []Section{a.terminal().Section(), machine.Section()}
	var failed error
	if target != "" {
		sec, info, err := s.Examine(ctx, machine)
		failed = err
		env := a.Session()
		env.Environ = nil // what a profile does by default
		all = append(all, sec)
		if a.try && failed == nil {
			var done Section
			if done, failed = s.Try(ctx); fault.CodeOf(failed) == fault.CodeInput {
				return failed
			}
			all = append(all, done)
		}
		all = append(all, Profiles(ctx, env, target, s, info))
	}
	if err := a.print(all); err != nil {
		return err
	}
	if failed != nil {
		a.Log.Debug("The store was not looked at in full", "error", failed)
		return fault.Code(fmt.Errorf("%s is not ready for a run", s.Target.Redacted()), fault.CodeStore)
	}
	return nil
}

// store reads a target, with its password.
func (a *command) store(target string) (Store, error) {
	url, err := a.Resolve(target)
	if err != nil {
		return Store{}, err
	}
	s, err := Open(drivers.All(), url)
	if err != nil {
		return s, err
	}
	switch {
	case a.passwordFile != "":
		s.Target.Password, err = session.ReadPassword(a.passwordFile)
	case s.Target.Password == "" && (len(s.Target.Hosts) > 0 || s.Target.Scheme == "unix"):
		s.Target.Password = session.Password(a.Environ)
	}
	s.Namespace, s.Write, s.Options = a.namespace, a.write, store.OpenOptions{Threads: 2, Log: a.Log}
	return s, err
}

// terminal is what stdout is.
func (a *command) terminal() Terminal {
	t := Terminal{Is: a.StdoutTerminal, Width: a.StdoutWidth, Poor: a.PoorLetters()}
	t.Kind, _ = a.Getenv("TERM")
	t.Claims, _ = a.Getenv("COLORTERM")
	t.Colours = widget.Colours(a.Environ)
	refused, _ := a.Getenv("NO_COLOR")
	t.Refused = refused != ""
	for _, name := range []string{"LANG", "LC_CTYPE", "LC_ALL"} {
		if v, _ := a.Getenv(name); v != "" {
			t.Locale = v
		}
	}
	return t
}

// print writes what was found to stdout.
func (a *command) print(all []Section) error {
	if a.json {
		return cli.JSON(a.Stdout, struct {
			State    string    `json:"state"`
			Sections []Section `json:"sections"`
		}{Worst(all), all})
	}
	for _, s := range all {
		var rows [][]string
		for _, f := range s.Findings {
			found := f.Found
			if f.Do != "" {
				found += " → " + f.Do
			}
			rows = append(rows, []string{"  " + f.About, f.State, found})
		}
		fmt.Fprintln(a.Stdout, cli.Printable(s.Subject))
		cli.Columns(a.Stdout, a.StdoutWidth, rows)
		fmt.Fprintln(a.Stdout)
	}
	problems, warnings := Count(all, Wrong), Count(all, Doubt)
	if problems+warnings == 0 {
		fmt.Fprintln(a.Stdout, "No problems found.")
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s, %s.\n", units.Plural(problems, "problem"), units.Plural(warnings, "warning"))
	return nil
}
