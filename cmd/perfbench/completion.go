package main

import (
	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(a *cli.Call) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Write the completion script of a shell",
		Long: `completion writes the completion script of a shell to stdout, for example:

  source <(perfbench completion bash)
  perfbench completion zsh > "${fpath[1]}/_perfbench"
  perfbench completion fish > ~/.config/fish/completions/perfbench.fish
  perfbench completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells, Args: cli.OneOf("shell", 1, 1, shells...),
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
