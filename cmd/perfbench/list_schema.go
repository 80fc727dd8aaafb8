package main

import (
	"strings"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

// planSchema is the JSON Schema of plan files of this version.
func planSchema() ([]byte, error) {
	presets := func(p workload.Profile) []string {
		names := cli.PresetNames(p.Name)
		for i := range names {
			names[i], _, _ = strings.Cut(names[i], "\t")
		}
		return names
	}
	data, err := request.Schema(cli.Profiles(), presets, cli.FormatNames())
	return append(data, '\n'), err
}
