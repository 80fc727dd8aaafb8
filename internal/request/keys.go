package request

import "github.com/perfbench/perfbench/internal/workload"

// Keys of a plan file that are not keys of a run.
const (
	wordRuns = "runs"
	wordStop = "stop-on-failure"
	wordSet  = "set"
)

// Keys lists the keys that describe a run, in the order in which they are written. They
// are named like the flags of the run command; those of kind List may have several
// values. The key "set", which holds any knob or parameter, is not among them.
func Keys() []workload.Param {
	var out []workload.Param
	for _, f := range Fields() {
		if !f.terminal {
			out = append(out, f.Param)
		}
	}
	return out
}
