package design

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// Read reads the files of --file: PadoGrid's properties, or YAML of ours if they end in
// .yaml or .yml. If several files give a value, the last one counts. Design, which
// knows all names, finds out what they mean.
func Read(files []workload.File) (workload.Values, workload.Found, error) {
	out, warnings, err := values.Files(files, readOne)
	if _, ok := out["groupNames"]; !ok && len(files) > 0 && err == nil {
		err = fault.Input(fmt.Errorf("file %s: groupNames is missing, so there is no group to run", files[0].Path), "add a line such as  groupNames=g1")
	}
	return out, warnings, err
}

func readOne(f workload.File) ([]workload.Value, workload.Found, error) {
	if values.IsYAML(f.Path) {
		vs, err := values.YAML(f, nil)
		return vs, workload.Found{}, err
	}
	return values.Properties(f, values.Unread)
}

// Reads reports whether one of these files names groups, and so was written for this
// profile.
func Reads(paths []string) bool {
	for _, p := range paths {
		data, err := infile.Read(infile.Settings, p)
		if err != nil {
			continue // whoever reads it for the run reports that
		}
		if vs, _, err := readOne(workload.File{Path: p, Data: data}); err == nil && slices.ContainsFunc(vs, func(v workload.Value) bool { return v.Name == "groupNames" }) {
			return true
		}
	}
	return false
}
