package main

import (
	"bytes"
	_ "embed" // for what bash lacks
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

// bashWords is the function by which the script of bash reads the words typed, in place of that of
// the package bash-completion.
//
//go:embed completion.bash
var bashWords string

// readsWords is the call of the script that needs the package.
const readsWords = `_get_comp_words_by_ref "$@" cur prev words cword`

// bashCompletion returns the script of bash. It needs no other package.
func bashCompletion(root *cobra.Command) (string, error) {
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return "", err
	}
	own := "if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then\n        " + readsWords + "\n    else\n        __perfbench_words\n    fi"
	return strings.Replace(b.String(), readsWords, own, 1) + "\n" + bashWords, nil
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand(a *cli.Call) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Write the completion script of a shell",
		Long: `completion writes the completion script of a shell to stdout, for example:

  source <(perfbench completion bash)
  perfbench completion zsh > "${fpath[1]}/_perfbench"
  perfbench completion fish > ~/.config/fish/completions/perfbench.fish
  perfbench completion powershell | Out-String | Invoke-Expression

That of bash works with the package bash-completion and without it. To have it in every
shell, put the first line into ~/.bashrc.`,
		ValidArgs: shells, Args: cli.OneOf("shell", 1, 1, shells...),
		RunE: func(c *cobra.Command, args []string) error {
			switch root := c.Root(); args[0] {
			case "bash":
				script, err := bashCompletion(root)
				if err == nil {
					_, err = a.Stdout.Write([]byte(script))
				}
				return err
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
