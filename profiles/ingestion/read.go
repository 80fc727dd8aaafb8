package ingestion

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Read reads the files of --file: PadoGrid's properties, or YAML of ours by the
// endings .yaml and .yml. Of values given by several files the last counts. The
// sentences returned name every key that has no effect. An unknown name in YAML
// is an error, since such a file was written for perfbench.
func Read(files []workload.File) (workload.Values, []string, error) {
	return values.Files(files, readOne)
}

func readOne(f workload.File) ([]workload.Value, []string, error) {
	if values.IsYAML(f.Path) {
		vs, err := values.YAML(f, append(names(), runNames...))
		return vs, nil, err
	}
	known := originalNames()
	var group workload.Value
	vs, warnings, err := values.Properties(f, func(v workload.Value) string {
		if v.Name == "groupNames" {
			group = v
		}
		return values.Ignored(v, known)
	})
	if group.Name != "" {
		return nil, nil, fault.Input(fmt.Errorf("%s: groupNames: this is a file of PadoGrid's group test", group.Where),
			"ingestion reads files with mapNames, eligibility.* and profile.*")
	}
	return vs, warnings, err
}

// names lists every name that a YAML file may set: knobs and parameters, bare and
// aimed at a map.
func names() []string {
	plain := []string{"threads", "rate", "payload", "batch"}
	aimed := slices.Clone(plain)
	for _, p := range params() {
		plain = append(plain, p.Name)
		if p.Track {
			aimed = append(aimed, p.Name)
		}
	}
	for _, m := range padogrid.Maps {
		for _, k := range aimed {
			plain = append(plain, m+"."+k)
		}
	}
	return plain
}

// runNames are values that every run has; files of ours may give them.
var runNames = []string{"duration", "count", "warmup", "seed", "namespace"}

// originalNames lists the keys that the original reads from a properties file.
func originalNames() []string {
	var out []string
	for _, p := range params() {
		switch {
		case p.Name == "layout" || p.Name == "compat" || p.Name == "flavour":
		case p.Track:
			for _, m := range padogrid.Maps {
				out = append(out, m+"."+p.Name)
			}
		default:
			out = append(out, p.Name)
		}
	}
	return out
}
