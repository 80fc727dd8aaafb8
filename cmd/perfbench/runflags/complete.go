package runflags

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/cmd/perfbench/list"
	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store/drivers"
)

// complete offers what is known for the flags of run and tui.
func complete(a *cli.Call, c *cobra.Command) {
	register := func(flag string, f cobra.CompletionFunc) { _ = c.RegisterFlagCompletionFunc(flag, f) } // the flag exists
	register("profile", cli.CompleteProfiles)
	register("preset", func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return cli.PresetNames(profileOf(c, args)), cli.NoFiles
	})
	register("format", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		names := cli.FormatNames()
		for i := range names {
			names[i] = before + names[i]
		}
		return names, cli.NoFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("target", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return Targets(a), cli.NoFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("set", CompleteSet)
	register("theme", cobra.FixedCompletions(Themes(), cli.NoFiles))
}

func completeRepeat(a *cli.Call, c *cobra.Command) {
	register := func(flag string, f cobra.CompletionFunc) { _ = c.RegisterFlagCompletionFunc(flag, f) } // the flag exists
	register("against", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return Targets(a), cli.NoFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("against-set", CompleteSet)
	register("unsure", cobra.FixedCompletions(compare.Policies, cli.NoFiles))
}

// CompleteSet offers the settings and parameters of the profile that was named.
func CompleteSet(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := list.KnobNames(profileOf(c, args))
	for i := range names {
		names[i] += "="
	}
	return names, cli.NoFiles | cobra.ShellCompDirectiveNoSpace
}

// profileOf is the profile that was named, by its flag or without.
func profileOf(c *cobra.Command, args []string) string {
	if name := c.Flag("profile").Value.String(); name != "" || len(args) == 0 {
		return name
	}
	return args[0]
}

// Targets offers recent targets and an example of each kind.
func Targets(a *cli.Call) []string {
	var out []string
	if dir, err := a.StateDir(); err == nil {
		out = request.Recent(dir)
	}
	for _, d := range drivers.All() {
		if !slices.Contains(out, d.Example) {
			out = append(out, d.Example)
		}
	}
	return out
}
