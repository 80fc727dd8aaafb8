package padogrid

import (
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// Names returns every name that a YAML file may set for a profile with these
// parameters: what every run has, and knobs and parameters, both plain and, if they
// exist per track, with a map.
func Names(params []workload.Param) []string {
	plain := []string{"threads", "rate", "payload", "batch"}
	aimed := slices.Clone(plain)
	for _, p := range params {
		plain = append(plain, p.Name)
		if p.Track {
			aimed = append(aimed, p.Name)
		}
	}
	for _, m := range Maps {
		for _, k := range aimed {
			plain = append(plain, m+"."+k)
		}
	}
	return append(plain, "duration", "count", "warmup", "seed", "namespace")
}

// ReadFile reads a file of a test of maps for a profile: PadoGrid's properties, or YAML
// of ours if it ends in .yaml or .yml. It tells of every key that has no effect. An unknown name in YAML is an error, because such a file was written for
// perfbench; so is a file of PadoGrid's group test.
func ReadFile(profile string, f workload.File, params []workload.Param) ([]workload.Value, workload.Found, error) {
	if values.IsYAML(f.Path) {
		vs, err := values.YAML(f, Names(params))
		return vs, workload.Found{}, err
	}
	known := Keys()
	vs, found, err := values.Properties(f, func(name string) string { return values.Ignored(name, known) })
	if i := slices.IndexFunc(found.Keys, func(k workload.FileKey) bool { return k.Key == "groupNames" }); i >= 0 {
		return nil, workload.Found{}, fault.Input(fmt.Errorf("%s: groupNames: this is a file of PadoGrid's group test", found.Keys[i].Where),
			profile+" reads files with mapNames, eligibility.* and profile.*; --profile group reads this one")
	}
	return vs, found, err
}

// Keys returns the keys that PadoGrid's tests of maps read from a properties file.
func Keys() []string {
	out := []string{"mapNames", "memberSetSize", "prefix", "testCount", "testIntervalInMsec", "printStatusIntervalInSec", "results.dir"}
	for _, m := range Maps {
		for _, k := range []string{"testCase", "totalEntryCount", "threadCount", "payloadSize", "batchSize"} {
			out = append(out, m+"."+k)
		}
	}
	return out
}
