package tx

import (
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Read reads the files of --file: PadoGrid's tx.properties, or YAML of ours, as
// [padogrid.ReadFile] does. If several files give a value, the last one counts.
func Read(files []workload.File) (workload.Values, workload.Found, error) {
	return values.Files(files, func(f workload.File) ([]workload.Value, workload.Found, error) {
		return padogrid.ReadFile(Name, f, params())
	})
}
