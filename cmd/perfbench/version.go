package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perfbench/perfbench/cmd/perfbench/call"
	"github.com/perfbench/perfbench/cmd/perfbench/console"
	"github.com/perfbench/perfbench/cmd/perfbench/usage"
	"github.com/perfbench/perfbench/cmd/perfbench/version"
)

func versionCommand(a *call.Call) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print which build this is",
		Args: usage.None(nil),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return console.JSON(a.Stdout, version.Of())
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
	b := version.Of()
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
