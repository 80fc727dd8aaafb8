package tx

import (
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Read reads the files of --file: PadoGrid's tx.properties, or YAML of ours by
// the endings .yaml and .yml. Of values given by several files the last counts.
// The sentences returned name every key that has no effect. An unknown name in
// YAML is an error, since such a file was written for perfbench.
func Read(files []workload.File) (workload.Values, []string, error) {
	return values.Files(files, readOne)
}

func readOne(f workload.File) ([]workload.Value, []string, error) {
	if values.IsYAML(f.Path) {
		vs, err := values.YAML(f, padogrid.Names(params()))
		return vs, nil, err
	}
	known := padogrid.Keys()
	return values.Properties(f, func(v workload.Value) string { return values.Ignored(v, known) })
}
