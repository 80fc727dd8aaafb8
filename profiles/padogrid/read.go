package padogrid

import (
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
)

// Names lists every name that a YAML file of a profile with these parameters may set:
// what every run has, and knobs and parameters, bare and, where they are of tracks,
// aimed at a map.
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

// Keys lists the keys that PadoGrid's tests of maps read from a properties file.
func Keys() []string {
	out := []string{"mapNames", "memberSetSize", "prefix", "testCount", "testIntervalInMsec", "printStatusIntervalInSec", "results.dir"}
	for _, m := range Maps {
		for _, k := range []string{"testCase", "totalEntryCount", "threadCount", "payloadSize", "batchSize"} {
			out = append(out, m+"."+k)
		}
	}
	return out
}
