package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

func versionCommand(a *cli.Call) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print which build this is",
		Args: cli.None(nil),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return cli.JSON(a.Stdout, cli.Of())
			}
			_, err := fmt.Fprintln(a.Stdout, versionLine())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

// versionLine says in one line which build this is.
func versionLine() string {
	b := cli.Of()
	line := "perfbench " + b.Version
	if b.Commit != "" {
		line += " (" + b.Commit[:min(12, len(b.Commit))]
		if b.Date != "" {
			line += ", " + b.Date
		}
		line += ")"
	}
	return fmt.Sprintf("%s %s %s/%s", line, b.Go, b.OS, b.Arch)
}
