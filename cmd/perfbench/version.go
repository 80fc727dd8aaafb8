package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker in releases.
var (
	version = ""
	commit  = ""
	date    = ""
)

// buildInfo says which perfbench this is.
type buildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// build reads the linker's variables, else what the Go tool has recorded.
func build() buildInfo {
	b := buildInfo{version, commit, date, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if b.Version == "" {
			b.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && b.Commit == "":
				b.Commit = s.Value
			case s.Key == "vcs.time" && b.Date == "":
				b.Date = s.Value
			}
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
	}
	return b
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print which build this is",
		Args: noArgs(nil),
		RunE: func(*cobra.Command, []string) error {
			b := build()
			if asJSON {
				return writeJSON(a.Stdout, b)
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
