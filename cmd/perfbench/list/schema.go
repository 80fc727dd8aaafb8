package list

import (
	"strings"

	"github.com/perfbench/perfbench/cmd/perfbench/catalogue"
	"github.com/perfbench/perfbench/internal/planfile"
	"github.com/perfbench/perfbench/internal/workload"
)

// planSchema is the JSON Schema of plan files of this version.
func planSchema() ([]byte, error) {
	presets := func(p workload.Profile) []string {
		names := catalogue.PresetNames(p.Name)
		for i := range names {
			names[i], _, _ = strings.Cut(names[i], "\t")
		}
		return names
	}
	data, err := planfile.Schema(catalogue.Profiles(), presets, catalogue.FormatNames())
	return append(data, '\n'), err
}
