package request

import (
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
)

// Keys of a plan file that are not keys of a run.
const (
	wordRuns = "runs"
	wordStop = "stop-on-failure"
	wordSet  = "set"
	wordName = "name"
)

// Keys lists the keys that describe a run, in the order in which they are written. They
// are named like the flags of the run command; those of kind List may have several
// values. The key "set", which holds any knob or parameter, is not among them.
func Keys() []workload.Param {
	out := []workload.Param{
		{Name: wordName, Kind: workload.Text, Help: "what the run is called in the summary of a suite"},
		{Name: "profile", Kind: workload.Text, Help: "the workload"},
		{Name: "target", Kind: workload.Target, Help: "URL of the store"},
		{Name: "password-file", Kind: workload.Text, Help: "file whose first line is the target's password, relative to the plan"},
		{Name: "preset", Kind: workload.Text, Help: "a built-in preset, or one of your own"},
		{Name: "file", Kind: workload.List, Help: "a system's own settings files, or YAML, relative to the plan"},
	}
	for _, k := range knobs() {
		kind := workload.Number
		if k.Unit == "bytes" {
			kind = workload.Size
		}
		out = append(out, workload.Param{Name: k.Name, Kind: kind, Help: k.Help})
	}
	for _, q := range RunParams() {
		if q.Name != "at" {
			out = append(out, q)
		}
	}
	return append(out,
		workload.Param{Name: "at", Kind: workload.List, Help: "live changes, counted from the start of measurement: 10s:threads=32,payload=4KiB"},
		workload.Param{Name: "threshold", Kind: workload.List, Help: "what must hold: p99<5ms, p95.5<2ms, throughput>10000; errors<5% abort ends the run when it is missed"},
		workload.Param{Name: "repeat", Kind: workload.Integer, Help: "how many times to do the run"},
		workload.Param{Name: "against", Kind: workload.Target, Help: "another store, on which the run is done in turn"},
		workload.Param{Name: "against-set", Kind: workload.List, Help: "NAME=VALUE of another run, which is done in turn"},
		workload.Param{Name: "tolerance", Kind: workload.Text, Help: "how much worse the other may be: 5%"},
		workload.Param{Name: "unsure", Kind: workload.Text, Help: "what a comparison that cannot tell is to a gate: pass, warn or fail"},
		workload.Param{Name: "out", Kind: workload.Text, Help: "folder that gets the run folders"},
		workload.Param{Name: "format", Kind: workload.List, Help: "documents to write"},
		workload.Param{Name: "tag", Kind: workload.List, Help: "NAME=VALUE that is kept with the run, to find it by"},
		workload.Param{Name: "facts", Kind: workload.Text, Help: "file of what a client cannot know, relative to the plan"},
	)
}

// knobs returns the knobs that have keys of their own.
func knobs() []workload.Knob {
	return []workload.Knob{workload.Threads(), workload.Rate(""), workload.Payload(), workload.Batch()}
}

// isValue reports whether a key is a value of a run, as a knob is.
func isValue(name string) bool {
	return slices.ContainsFunc(knobs(), func(k workload.Knob) bool { return k.Name == name }) ||
		slices.ContainsFunc(RunParams(), func(q workload.Param) bool { return q.Name == name && name != "at" })
}

func keyNamed(name string) (workload.Param, bool) {
	all := Keys()
	if i := slices.IndexFunc(all, func(q workload.Param) bool { return q.Name == name }); i >= 0 {
		return all[i], true
	}
	return workload.Param{}, false
}
