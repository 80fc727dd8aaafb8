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
		vs, err := values.YAML(f, ownNames())
		return vs, nil, err
	}
	known := originalNames()
	return values.Properties(f, func(v workload.Value) string { return values.Ignored(v, known) })
}

// originalNames lists the keys that the original reads from a properties file.
func originalNames() []string {
	out := []string{"memberSetSize", "mapNames", "prefix", "testCount", "testIntervalInMsec", "printStatusIntervalInSec", "results.dir"}
	for _, m := range padogrid.Maps {
		for _, k := range []string{"totalEntryCount", "threadCount", "payloadSize", "batchSize", "testCase"} {
			out = append(out, m+"."+k)
		}
	}
	return out
}

// ownNames lists every name that a YAML file may set.
func ownNames() []string {
	known := []string{"threads", "rate", "payload", "batch", "duration", "count", "warmup", "seed", "namespace"}
	for _, p := range params() {
		known = append(known, p.Name)
		if p.Track {
			for _, m := range padogrid.Maps {
				known = append(known, m+"."+p.Name)
			}
		}
	}
	for _, m := range padogrid.Maps {
		known = append(known, m+".threads", m+".rate", m+".payload", m+".batch")
	}
	return known
}
