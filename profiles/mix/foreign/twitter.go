package foreign

import (
	_ "embed" // for the figures
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/infile"
)

// twitterSource names the authors, which the licence asks for.
const twitterSource = "Figures: Juncheng Yang, Yao Yue, Rashmi Vinayak, OSDI 2020, CC BY 4.0."

// twitterFigures are those that Twitter has published of its cache clusters: 2020Mar.csv,
// from the trace statistics that Juncheng Yang, Yao Yue and Rashmi Vinayak collected for "A
// large scale analysis of hundreds of in-memory cache clusters at Twitter" (OSDI 2020) and
// published at github.com/twitter/cache-trace under the licence Creative Commons
// Attribution 4.0.
//
//go:embed 2020Mar.csv
var twitterFigures string

// The columns of the figures.
const (
	colName = iota
	colMisses
	colCategory
	colKeySize
	colValueSize
	colRate // thousands of requests a second
	colFrequency
	colOnce
	colCompulsory
	colTTL
	colWorkingSet // MB, whatever the time to live
	_
	colOperations
	colExponent
	columns
)

var twitterCategories = map[string]string{"1": "storage", "2": "computation", "3": "transient data"}

// mostRecords is how many records a preset has at most: the largest clusters have more than a
// machine has room for.
const mostRecords = 1_000_000

// week is the length of the traces in seconds.
const week = 7 * 24 * 3600

// TwitterPresets returns a preset for each cluster of which operations, sizes and exponent are
// known, as twitter/N, and of every other one why there is none.
func TwitterPresets() fs.FS {
	rows, err := csv.NewReader(strings.NewReader(twitterFigures)).ReadAll()
	out := infile.Memory{}
	if err != nil || len(rows) == 0 || len(rows[0]) != columns {
		return out // a test reads the figures
	}
	for _, r := range rows[1:] {
		n := strings.TrimPrefix(r[colName], "cluster")
		text, why := twitterPreset(n, r)
		if why != "" {
			out["twitter/"+n+".absent"] = "# Twitter has published no " + why + " of this cluster.\n"
			continue
		}
		out["twitter/"+n+".yaml"] = text
	}
	return out
}

// twitterOperation is what an operation of the caches is here.
type twitterOperation struct{ verb, more string }

var twitterOperations = map[string]twitterOperation{
	"get": {"get: object", ", fill: on"}, "gets": {"get: object", ", fill: on"}, "set": {"put: object", ""}, "add": {"put: object", ""}, "cas": {"put: object", ""},
	"prepend": {"put: object", ""}, "delete": {"delete: object", ""}, "incr": {"add: counter", ", by: 1"},
}

// twitterPreset returns the preset of a cluster, or which figure of it is missing.
func twitterPreset(n string, r []string) (text, missing string) {
	number := func(col int, what string) float64 {
		v, err := strconv.ParseFloat(r[col], 64)
		if err != nil && missing == "" {
			missing = what
		}
		return v
	}
	key, value := number(colKeySize, "size of keys"), number(colValueSize, "size of values")
	exponent, rate := number(colExponent, "exponent"), number(colRate, "rate")
	frequency, set := number(colFrequency, "frequency of objects"), number(colWorkingSet, "working set")
	if missing != "" {
		return "", missing
	}
	keys := "uniform"
	if exponent > 0 {
		keys = "zipf " + r[colExponent]
	}
	var ops, mix []string
	counters := false
	for part := range strings.FieldsSeq(r[colOperations]) {
		name, share, _ := strings.Cut(part, ":")
		o := twitterOperations[name]
		v, err := strconv.ParseFloat(share, 64)
		if o.verb == "" || err != nil {
			return "", "operation that is known here"
		}
		ops = append(ops, fmt.Sprintf("    %s: {%s, keys: %s%s}\n", name, o.verb, keys, o.more))
		mix = append(mix, fmt.Sprintf("%s: %g", name, math.Round(v*100)))
		counters = counters || name == "incr"
	}
	records := rate * 1000 * week / frequency
	if set > 0 {
		records = set * 1e6 / (key + value)
	}
	records = math.Round(min(max(records, 1), mostRecords))
	data := fmt.Sprintf("    object: {records: %.0f, size: %.0f, ttl: %s, key: {prefix: k, length: %.0f}, cached: on}\n", records, value, lifetimes(r[colTTL]), key)
	if counters {
		data += fmt.Sprintf("    counter: {type: counter, records: %.0f, ttl: %s, key: {prefix: c, length: %.0f}, cached: on}\n", records, lifetimes(r[colTTL]), key)
	}
	misses := "unknown"
	if v, err := strconv.ParseFloat(r[colMisses], 64); err == nil {
		misses = fmt.Sprintf("%.4g %%", v*100)
	}
	return fmt.Sprintf(`# A cache of Twitter for %s, at its rate of %.0f/s: %s of %.0f bytes under keys of
# %.0f, by Zipf's law with an exponent of %s; misses in production: %s. %s
rate: %.0f
threads: 64
duration: 10s
workload: |
  workload: twitter/%s
  data:
%s  operations:
%s  mix: {%s}
`, twitterCategories[r[colCategory]], rate*1000, r[colOperations], value, key, r[colExponent], misses, twitterSource, rate*1000, n, data, strings.Join(ops, ""), strings.Join(mix, ", ")), ""
}

// lifetimes returns a table of times to live with their shares, as a workload has it.
func lifetimes(list string) string {
	var out []string
	for part := range strings.SplitSeq(list, ",") {
		ttl, share, _ := strings.Cut(strings.TrimSpace(part), ":")
		v, _ := strconv.ParseFloat(share, 64) // a test reads the workloads
		out = append(out, fmt.Sprintf("%s: %g", ttl, math.Round(v*100)))
	}
	return "{" + strings.Join(out, ", ") + "}"
}
