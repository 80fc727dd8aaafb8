package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/session/recall"
	"github.com/perfbench/perfbench/internal/store/drivers"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Write the completion script of a shell",
		Long: `completion writes the completion script of a shell to stdout, for example:

  source <(perfbench completion bash)
  perfbench completion zsh > "${fpath[1]}/_perfbench"
  perfbench completion fish > ~/.config/fish/completions/perfbench.fish
  perfbench completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells, Args: oneOf("shell", 1, 1, shells...),
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.Stdout)
			}
		},
	}
}

const noFiles = cobra.ShellCompDirectiveNoFileComp

// completeRunFlags offers what is known for the flags of run and tui.
func (a *app) completeRunFlags(c *cobra.Command) {
	register := func(flag string, f cobra.CompletionFunc) { _ = c.RegisterFlagCompletionFunc(flag, f) } // the flag exists
	register("profile", completeProfiles)
	register("preset", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return presetNames(c.Flag("profile").Value.String()), noFiles
	})
	register("format", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		names := formatNames()
		for i := range names {
			names[i] = before + names[i]
		}
		return names, noFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("target", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.targets(), noFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("set", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		l, err := listKnobs([]string{c.Flag("profile").Value.String()})
		if err != nil {
			return nil, noFiles
		}
		var out []string
		for _, r := range l.rows {
			out = append(out, r[0]+"=")
		}
		return out, noFiles | cobra.ShellCompDirectiveNoSpace
	})
	register("theme", cobra.FixedCompletions(themes, noFiles))
}

// targets offers recent targets and an example of each kind.
func (a *app) targets() []string {
	var out []string
	if dir, err := a.stateDir(); err == nil {
		out = recall.Recent(dir)
	}
	for _, d := range drivers.All() {
		if !slices.Contains(out, d.Example) {
			out = append(out, d.Example)
		}
	}
	return out
}

func completeProfiles(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if len(args) == 0 {
		for _, p := range allProfiles() {
			if p.Design != nil {
				out = append(out, p.Name+"\t"+p.Summary)
			}
		}
	}
	return out, noFiles
}

func completeProfilePresets(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return presetNames(args[0]), noFiles
	}
	return completeProfiles(c, args, typed)
}

func completeFormats(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	return formatNames(), noFiles
}

func formatNames() []string {
	var out []string
	for _, f := range allFormats() {
		out = append(out, f.ID)
	}
	return out
}

func presetNames(profile string) []string {
	p, err := profileNamed([]string{profile})
	if err != nil || p.Presets == nil {
		return nil
	}
	all, err := preset.List(p.Presets)
	if err != nil {
		return nil
	}
	var out []string
	for _, i := range all {
		out = append(out, i.Name+"\t"+i.Description)
	}
	return out
}
