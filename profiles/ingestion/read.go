package ingestion

import (
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Read reads the files of --file: PadoGrid's ingestion.properties, or YAML of ours, as
// [padogrid.ReadFile] does. Of values given by several files the last counts.
func Read(files []workload.File) (workload.Values, []string, error) {
	return values.Files(files, func(f workload.File) ([]workload.Value, []string, error) {
		return padogrid.ReadFile(Name, f, params())
	})
}
