package request

import (
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// meant are words that others have for ours, each with our key; those that differ from it by a
// letter or two are found without this table.
var meant = map[string][]string{
	"at":            {"timetable", "schedule", "changes", "timeline", "events", "steps", "stages"},
	"threshold":     {"thresholds", "slo", "slos", "assert", "assertions", "conditions", "expect", "limits", "gate"},
	"profile":       {"workload", "workloads", "scenario", "benchmark", "bench", "application"},
	"target":        {"store", "url", "uri", "server", "host", "hosts", "address", "addr", "endpoint", "database", "backend", "driver", "dsn"},
	"threads":       {"clients", "users", "vus", "concurrency", "concurrent", "connections", "parallel", "workers"},
	"rate":          {"qps", "rps", "tps", "ops", "throughput", "speed"},
	"payload":       {"size", "valuesize", "datasize", "bytes", "value"},
	"batch":         {"bulk", "pipeline", "batchsize"},
	"duration":      {"time", "length", "runtime", "seconds", "for", "runfor"},
	"count":         {"iterations", "requests", "operations", "total"},
	"warmup":        {"rampup", "warm", "preheat"},
	"tag":           {"tags", "labels", "label"},
	"format":        {"formats", "documents", "report", "reports", "exporter"},
	"out":           {"output", "folder", "dir", "directory", "results"},
	"file":          {"files", "properties", "config"},
	"set":           {"settings", "params", "parameters", "knobs", "options", "vars", "variables", "values", "with"},
	"repeat":        {"times", "repetitions", "rounds"},
	"against":       {"compare", "versus", "baseline", "other"},
	"password-file": {"password", "secret", "credentials", "auth"},
	"namespace":     {"prefix", "keyspace", "schema"},
	"find":          {"search", "under"},
	"sweep":         {"grid", "matrix", "over"},
	"runs":          {"suite", "experiments", "tests", "jobs", "cases"},
	"name":          {"title", "id"},
}

// examples are how a key is written where its name alone would not do.
var examples = map[string]string{
	"at":    `at: ["10s:threads=32", "20s..30s:fault=delay:5ms"]`,
	"set":   "set: with the knobs and parameters below it, indented",
	"find":  "find: {under: p99<10ms}",
	"sweep": "sweep: {over: {threads: [1, 2, 4]}}",
}

// faults are words for what a timetable does.
var faults = []string{"fault", "faults", "chaos", "failures", "inject"}

// Meant returns which of the names is meant by a word that others have for it, or "".
func Meant(word string, names []string) string {
	word = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(word))
	for key, words := range meant {
		if slices.Contains(words, word) && slices.Contains(names, key) {
			return key
		}
	}
	return ""
}

// wrongKey advises about a key that no plan has.
func wrongKey(word string, names []string) string {
	if slices.Contains(faults, strings.ToLower(word)) && slices.Contains(names, "at") {
		return "faults stand in the timetable, at: write  " + examples["at"]
	}
	if key := Meant(word, names); key != "" {
		if how := examples[key]; how != "" {
			return "did you mean " + key + "? write  " + how
		}
		return "did you mean " + key + "?"
	}
	if fault.Nearest(word, names) == "" {
		return "knobs and parameters of a profile go under set: " + fault.SeePlanKeys
	}
	return ""
}
