package group

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/properties"
	"github.com/perfbench/perfbench/internal/workload"
)

// Read reads the files of --file: PadoGrid's properties, or YAML of ours by the
// endings .yaml and .yml. Of values given by several files the last counts. What
// the names mean is found out by Design, which knows all of them.
func Read(files []workload.File) (workload.Values, []string, error) {
	out := workload.Values{}
	var warnings []string
	var problems workload.Problems
	for _, f := range files {
		if f.Data == nil {
			problems.Add(fault.Input(fmt.Errorf("file %s: is a folder", f.Path), "name the properties file in it"))
			continue
		}
		vs, ws, err := readOne(f)
		problems.Add(err)
		warnings = append(warnings, ws...)
		for _, v := range vs {
			if old, ok := out[v.Name]; ok {
				warnings = append(warnings, fmt.Sprintf("%s: %s is set again in %s, which counts", old.Where, v.Name, v.Where))
			}
			out[v.Name] = v
		}
	}
	if _, ok := out["groupNames"]; !ok && len(files) > 0 && problems.Err() == nil {
		problems.Add(fault.Input(fmt.Errorf("file %s: groupNames is missing, so that there is no group to run", files[0].Path), "add a line such as  groupNames=g1"))
	}
	return out, warnings, problems.Err()
}

func readOne(f workload.File) ([]workload.Value, []string, error) {
	if isYAML(f.Path) {
		vs, err := preset.Read(f.Path, f.Data)
		return vs, nil, err
	}
	file, err := properties.Read(f.Path, f.Data)
	if err != nil {
		return nil, nil, errors.Join(err)
	}
	vs := make([]workload.Value, 0, len(file.Entries))
	warnings := file.Warnings()
	for _, e := range file.Entries {
		where := fmt.Sprintf("%s:%d", f.Path, e.Line)
		if strings.HasSuffix(e.Key, ".logging.type") || e.Key == "executable.name" {
			warnings = append(warnings, fmt.Sprintf("%s: %s has no effect here; PadoGrid's test does not read it either", where, e.Key))
			continue
		}
		vs = append(vs, workload.Value{Name: e.Key, Text: e.Value, Origin: workload.OriginFile, Where: where})
	}
	return vs, warnings, nil
}

// Reads says whether one of these files names groups, so that it was written for
// this profile.
func Reads(paths []string) bool {
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			continue // whoever reads it in earnest says so
		}
		if vs, _, err := readOne(workload.File{Path: p, Data: data}); err == nil && slices.ContainsFunc(vs, func(v workload.Value) bool { return v.Name == "groupNames" }) {
			return true
		}
	}
	return false
}
