// Package ingestion is the profile of an application that loads its records in
// bulk: PadoGrid's data ingestion test. Several loaders write disjoint shares of
// the maps eligibility and profile, both at the same time, with single puts or in
// batches. It reads PadoGrid's own properties files and writes its result text.
//
// Design works out a plan from values alone; a binding connects the plan to a
// store. The engine drives the tasks; this package has never heard of it.
package ingestion

import (
	"embed"
	"io/fs"
	"math"
	"runtime"
	"strconv"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Name is the profile's name.
const Name = "ingestion"

// FormatID is the id of the profile's document.
const FormatID = "padogrid"

//go:embed presets/*.yaml
var presets embed.FS

// Profile returns the profile's description.
func Profile() workload.Profile {
	fsys, _ := fs.Sub(presets, "presets") // cannot fail: the name is valid
	return workload.Profile{
		Name:          Name,
		Title:         "Bulk ingestion",
		Summary:       "An insurer's nightly load: eligibility records in groups of members, and one profile a group.",
		Unit:          "entries",
		Reads:         "PadoGrid ingestion.properties; YAML of names and values",
		Writes:        "PadoGrid ingestion text, one file a map",
		Thread:        "a loader; the total is split evenly over the maps",
		Formats:       []string{FormatID},
		Presets:       fsys,
		DefaultPreset: "small",
		Params:        params(),
		Stores:        bindings(),
		Read:          Read,
		Design:        Design,
	}
}

// Limits of the parameters.
const (
	maxEntries  = 1_000_000_000_000 // above what any store holds, and keys stay in range
	maxRuns     = math.MaxInt32
	maxMembers  = 1_000_000
	maxInterval = math.MaxInt32
	maxStatus   = math.MaxInt32
)

func defaultThreads() int { return max(runtime.NumCPU()*3/2, 1) }

func params() []workload.Param {
	return []workload.Param{
		{Name: "mapNames", Kind: workload.List, Default: padogrid.Eligibility, Help: "maps to load at the same time: eligibility, profile or both; summary too where flavour=coherence"},
		{
			Name: "testCase", Kind: workload.Choice, Choices: []string{casePutAll, casePut}, Default: casePutAll, Track: true,
			Help: "put one entry a call and get the old value back, or putall a batch a call",
		},
		{
			Name: "totalEntryCount", Kind: workload.Integer, Default: "100000", Unit: "entries", Min: 1, Max: maxEntries, Track: true,
			Help: "entries to write into each map per run, divided among its threads; what is left over is not written",
		},
		{
			Name: "threadCount", Kind: workload.Integer, Default: strconv.Itoa(defaultThreads()), Unit: "threads", Min: 1, Max: workload.MaxThreads, Track: true,
			Help: "loaders of each map; the live knob threads is the total over the maps",
		},
		{
			Name: "payloadSize", Kind: workload.Size, Default: "1024", Unit: "bytes", Min: 0, Max: workload.MaxPayload, Track: true,
			Help: "size of each value; another name of the live knob payload",
		},
		{
			Name: "batchSize", Kind: workload.Integer, Default: "1000", Unit: "entries", Min: 1, Max: workload.MaxBatch, Track: true,
			Help: "entries of one putall; another name of the live knob batch",
		},
		{
			Name: "memberSetSize", Kind: workload.Integer, Default: "10", Unit: "members", Min: 1, Max: maxMembers,
			Help: "eligibility entries that share a group number",
		},
		{Name: "prefix", Kind: workload.Text, Default: "x", Help: "put in front of group numbers, and at the end of the document's file name"},
		{
			Name: "testCount", Kind: workload.Integer, Default: "1", Unit: "runs", Min: 1, Max: maxRuns,
			Help: "how often each loader repeats its whole share",
		},
		{
			Name: "testIntervalInMsec", Kind: workload.Integer, Default: "0", Unit: "ms", Min: 0, Max: maxInterval,
			Help: "pause of each loader after every run, the last one too; not part of the thread times",
		},
		{
			Name: "layout", Kind: workload.Choice, Choices: []string{layoutMap, layoutGroup}, Default: layoutMap,
			Help: "map keeps each map in one structure, as the original; group one structure a client group, co-located by hash tag",
		},
		{
			Name: "compat", Kind: workload.Switch, Default: "off",
			Help: "on takes values that are no integers for not set, does not trim, and prints the test case as the original would",
		},
		values.FlavourParam(),
		{
			Name: "printStatusIntervalInSec", Kind: workload.Integer, Default: "1000", Unit: "s", Min: 0, Max: maxStatus,
			Help: "read and kept for the record; a headless run prints a line a second",
		},
		{Name: "results.dir", Kind: workload.Text, Help: "read and kept for the record; --out says where documents go"},
	}
}

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded"},
		{Driver: "redis"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "cassandra"},
		{Driver: "mysql"},
		{Driver: "postgres"},
		{Driver: "sqlite"},
		{Driver: "coherence"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no entries; use redis:// or embedded:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no entries; use redis:// or embedded:"},
	}
}
