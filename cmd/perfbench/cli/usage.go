package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
)

// NoFiles tells a shell that no file name is meant here.
const NoFiles = cobra.ShellCompDirectiveNoFileComp

// shielded begins an argument that looks like a flag and is none: -1, -2.
const shielded = "\x00"

var (
	backwards = regexp.MustCompile(`^-[0-9]+$`)
	takesRuns = []string{"report", "compare", "history"}
)

// Shield hides the runs -1, -2 … from the reader of flags, for commands that take runs.
// The value of a flag, as in --keep -1, is no run.
func Shield(root *cobra.Command, args []string) []string {
	if len(args) == 0 || !slices.Contains(takesRuns, args[0]) {
		return args
	}
	c, _, err := root.Find(args)
	if err != nil {
		c = root
	}
	out := slices.Clone(args)
	for i := 1; i < len(out); i++ {
		if backwards.MatchString(out[i]) && !wantsValue(c, args[i-1]) {
			out[i] = shielded + out[i]
		}
	}
	return out
}

// wantsValue reports whether an argument is a flag whose value is the next argument.
func wantsValue(c *cobra.Command, arg string) bool {
	var f *pflag.Flag
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		f = c.Flag(name)
	} else if len(arg) > 1 && arg[0] == '-' {
		f = c.Flags().ShorthandLookup(arg[len(arg)-1:])
	}
	return f != nil && f.NoOptDefVal == ""
}

// Unshield is an argument as it was typed.
func Unshield(arg string) string { return strings.TrimPrefix(arg, shielded) }

// NoSuchCommand refuses arguments of a command that only has subcommands.
func NoSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.Input(fmt.Errorf("unknown command %q", unknownPath(c, args[0])), fault.Suggest(args[0], subcommands(c), c.CommandPath()+" --help shows all"))
}

// subcommands are the names of those that users have.
func subcommands(c *cobra.Command) (names []string) {
	for _, s := range c.Commands() {
		if !s.Hidden {
			names = append(names, s.Name())
		}
	}
	return names
}

func unknownPath(c *cobra.Command, arg string) string {
	if c == c.Root() {
		return arg
	}
	return Name(c) + " " + arg
}

// Name is a command as the user typed it after perfbench.
func Name(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// SubcommandNeeded is the RunE of a command that only has subcommands.
func SubcommandNeeded(c *cobra.Command, args []string) error {
	if err := NoSuchCommand(c, args); err != nil {
		return err
	}
	return fault.Input(fmt.Errorf("%s needs a subcommand", Name(c)), "one of: "+strings.Join(subcommands(c), ", "))
}

// None refuses arguments, with a hint for the flag that was meant.
func None(hint func(arg string) string) cobra.PositionalArgs {
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
		return fault.Input(fmt.Errorf("%s: unexpected argument %q", Name(c), args[0]), h)
	}
}

// OneOf refuses arguments that are none of the given words.
func OneOf(what string, least, most int, words ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least {
			return fault.Input(fmt.Errorf("%s needs a %s", Name(c), what), "one of: "+strings.Join(words, ", "))
		}
		if len(args) > most {
			return fault.Input(fmt.Errorf("%s: unexpected argument %q", Name(c), args[most]), "")
		}
		for _, arg := range args {
			if !slices.Contains(words, arg) {
				return fault.Input(fmt.Errorf("unknown %s %q", what, arg), fault.Suggest(arg, words))
			}
		}
		return nil
	}
}

// kinds say what the value of a flag must be, by the type that pflag names, with an
// example.
var kinds = map[string][2]string{"int": {"a whole number", "20"}, "duration": {"a duration", "30s"}}

// BadFlag says what is wrong with a flag: of a wrong name the nearest right one, of a
// wrong value an example of a right one.
func BadFlag(c *cobra.Command, err error) error {
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := bad.GetFlag()
		if kind, ok := kinds[flag.Value.Type()]; ok {
			return fault.Input(fmt.Errorf("%s: --%s: %q is not %s", Name(c), flag.Name, bad.GetValue(), kind[0]), fmt.Sprintf("write it like --%s %s", flag.Name, kind[1]))
		}
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return fault.Input(fmt.Errorf("%s: %w", Name(c), err), "see "+c.CommandPath()+" --help")
	}
	var names, bare []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names, bare = append(names, "--"+f.Name), append(bare, f.Name)
		}
	})
	flag := "--" + unknown.GetSpecifiedName()
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		flag = "-" + short
	}
	hint := fault.Suggest(flag, names, c.CommandPath()+" --help shows all")
	if meant := request.Meant(unknown.GetSpecifiedName(), bare); meant != "" {
		hint = "did you mean --" + meant + "? " + c.CommandPath() + " --help shows all"
	}
	if word := unknown.GetSpecifiedName(); len(word) > 1 && strings.Contains(c.Use, strings.ToUpper(word)) {
		hint = "it is no flag here, but an argument:  perfbench " + c.Use
	}
	return fault.Input(fmt.Errorf("%s: unknown flag %s", Name(c), flag), hint)
}
