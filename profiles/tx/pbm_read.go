package tx

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/properties"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Read reads the files of --file: PadoGrid's tx.properties, or YAML of ours by
// the endings .yaml and .yml. Of values given by several files the last counts.
// The sentences returned name every key that has no effect. An unknown name in
// YAML is an error, since such a file was written for perfbench.
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
	return out, warnings, problems.Err()
}

func readOne(f workload.File) ([]workload.Value, []string, error) {
	if isYAML(f.Path) {
		vs, err := preset.Read(f.Path, f.Data)
		return vs, nil, errors.Join(err, unknownNames(vs))
	}
	file, err := properties.Read(f.Path, f.Data)
	if err != nil {
		return nil, nil, err
	}
	var vs []workload.Value
	warnings := file.Warnings()
	known := originalNames()
	for _, e := range file.Entries {
		v := workload.Value{Name: e.Key, Text: e.Value, Origin: workload.OriginFile, Where: fmt.Sprintf("%s:%d", f.Path, e.Line)}
		if slices.Contains(known, v.Name) {
			vs = append(vs, v)
			continue
		}
		warnings = append(warnings, ignored(v, known))
	}
	return vs, warnings, nil
}

func isYAML(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".yaml" || ext == ".yml"
}

// fromProperties says whether a value stood in a properties file, and so is
// written as Java reads it.
func fromProperties(v workload.Value) bool {
	at := strings.LastIndexByte(v.Where, ':')
	return v.Origin == workload.OriginFile && !isYAML(v.Where[:max(at, 0)])
}

// ignored says why a key of a properties file has no effect.
func ignored(v workload.Value, known []string) string {
	owner, _, _ := strings.Cut(v.Name, ".")
	switch {
	case strings.HasSuffix(v.Name, ".logging.type"), v.Name == "executable.name":
		return fmt.Sprintf("%s: %s has no effect here; PadoGrid's test does not read it either", v.Where, v.Name)
	case owner == mapSummary:
		return fmt.Sprintf("%s: %s has no effect: the map summary is written by transactions only", v.Where, v.Name)
	}
	s := fmt.Sprintf("%s: %s is unknown and has no effect", v.Where, v.Name)
	if near := suggest.Nearest(v.Name, known); near != "" {
		s += "; did you mean " + near + "?"
	}
	return s
}

// originalNames lists the keys that the original reads from a properties file.
func originalNames() []string {
	out := []string{"memberSetSize", "mapNames", "prefix", "testCount", "testIntervalInMsec", "printStatusIntervalInSec", "results.dir"}
	for _, m := range mapsKnown {
		for _, k := range []string{"totalEntryCount", "threadCount", "payloadSize", "batchSize", "testCase"} {
			out = append(out, m+"."+k)
		}
	}
	return out
}

func unknownNames(vs []workload.Value) error {
	known := []string{"threads", "rate", "batch", "duration", "count", "warmup", "seed", "namespace"}
	for _, p := range params() {
		known = append(known, p.Name)
		if p.Track {
			known = append(known, mapElig+"."+p.Name, mapProfile+"."+p.Name)
		}
	}
	for _, m := range mapsKnown {
		known = append(known, m+".threads", m+".rate", m+".batch")
	}
	var problems workload.Problems
	for _, v := range vs {
		if !slices.Contains(known, v.Name) {
			problems.Add(fault.Input(fmt.Errorf("%s: there is no knob or parameter %q", v.Where, v.Name), suggest.Hint(v.Name, known)))
		}
	}
	return problems.Err()
}
