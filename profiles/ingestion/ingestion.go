// Package ingestion is the profile of an application that loads its records in bulk:
// PadoGrid's data ingestion test. Several loaders write disjoint shares of the maps
// eligibility and profile, both at the same time, with single puts or in batches. It
// reads PadoGrid's own properties files and writes its result text.
//
// Design works out a plan from values alone; a binding connects the plan to a store.
// The engine drives the tasks; this package does not depend on it.
package ingestion

import (
	"embed"
	"io/fs"

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
		Lacks:         workload.NoUsers(Name, "because what loads data does not wait for anybody to think"),
		Stores:        bindings(),
		Read:          Read,
		Design:        Design,
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
		{Driver: "memcached"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no entries; use redis:// or embedded:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no entries; use redis:// or embedded:"},
	}
}

// Read reads the files of --file: PadoGrid's ingestion.properties, or YAML of ours, as
// [padogrid.ReadFile] does. If several files give a value, the last one counts.
func Read(files []workload.File) (workload.Values, workload.Found, error) {
	return values.Files(files, func(f workload.File) ([]workload.Value, workload.Found, error) {
		return padogrid.ReadFile(Name, f, params())
	})
}
