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
			b := version.Of()
			if asJSON {
				return console.JSON(a.Stdout, b)
			}
			line := "perfbench " + b.Version
			if b.Commit != "" {
				line += " (" + b.Commit[:min(12, len(b.Commit))]
				if b.Date != "" {
					line += ", " + b.Date
				}
				line += ")"
			}
			_, err := fmt.Fprintf(a.Stdout, "%s %s %s/%s\n", line, b.Go, b.OS, b.Arch)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}
