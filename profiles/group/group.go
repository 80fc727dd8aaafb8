// Package group is the profile of an application whose functions are sequences of
// operations on several structures: PadoGrid's group test. Groups run one after the
// other or side by side; each invocation of a group carries out its operations in
// order. It reads PadoGrid's own properties files and writes its result texts.
//
// Design works out a plan from values alone; a binding connects the plan to a store.
// The engine drives the tasks; this package does not depend on it.
package group

import (
	"embed"
	"io/fs"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// Name is the profile's name.
const Name = "group"

// FormatID is the id of the profile's document.
const FormatID = "padogrid"

//go:embed presets/*.yaml
var presets embed.FS

// Profile returns the profile's description.
func Profile() workload.Profile {
	fsys, _ := fs.Sub(presets, "presets") // cannot fail: the name is valid
	return workload.Profile{
		Name:          Name,
		Title:         "Groups of operations",
		Summary:       "An application whose functions are sequences of operations on maps, caches, queues, lists, topics and related entities.",
		Unit:          "invocations",
		Reads:         "PadoGrid group*.properties, of Redis and of Coherence; YAML of names and values, with objects of your own",
		Writes:        "PadoGrid group text, one file a group; padogrid-csv",
		Thread:        "a caller of the group; per group as the file says, --threads sets every group",
		Formats:       []string{FormatID},
		Presets:       fsys,
		DefaultPreset: "group",
		Params:        design.Params(),
		Stores:        bindings(),
		Read:          design.Read,
		Design:        plan,
	}
}

// Format returns the profile's document: PadoGrid's group text, one file per group.
func Format() rundir.Format {
	return rundir.Format{ID: FormatID, Title: "PadoGrid group text, one file a group", Profile: Name, Doc: report.FormatDoc, Encode: report.Encode, Names: []string{"group-*.txt"}}
}
