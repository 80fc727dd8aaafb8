// Package authz is the profile of a multi-tenant site that asks for every page who may
// see it: the permission checks and user profiles of Apereo OAE. Tenants are loaded and
// checked in overlapping phases; every decision is compared with an oracle in memory.
// It reads what OAE's model loaders wrote, and writes OAE's JSON document and baseline
// table.
//
// Design works out a plan from values alone; a binding connects the plan to a store
// through a layer, the application's data layer.
package authz

import (
	"embed"
	"io/fs"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// Formats returns the profile's documents.
func Formats() []rundir.Format { return report.Formats() }

//go:embed presets/*.yaml
var presets embed.FS

// Profile returns the profile's description.
func Profile() workload.Profile {
	fsys, _ := fs.Sub(presets, "presets") // cannot fail: the name is valid
	return workload.Profile{
		Name:          report.Name,
		Title:         "Authorisation checks",
		Summary:       "A multi-tenant academic site that checks for every page who may see it.",
		Modes:         []string{report.ModeChecks, report.ModeProfiles},
		Unit:          "checks",
		Reads:         "OAE model-loader folders of both generations; YAML of names and values",
		Writes:        "OAE's JSON document and baseline HTML table",
		Thread:        "concurrent requests within one tenant; 1 in the original",
		Formats:       []string{report.FormatID, report.HTMLFormatID},
		Presets:       fsys,
		DefaultPreset: "small",
		Params:        params(),
		Stores:        bindings(),
		Read:          Read,
		Design:        Design,
	}
}

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded", Target: "sqlite:"},
		{Driver: "redis"},
		{Driver: "cassandra"},
		{Driver: "mysql"},
		{Driver: "postgres"},
		{Driver: "sqlite"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "coherence", Refuse: "its checks walk indexes of memberships, and its Go client has caches of single entries; use cassandra: or redis:"},
		{Driver: "memcached", Refuse: "its items cannot hold sets of members; use redis: or cassandra:"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no roles; use cassandra: or redis:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no roles; use cassandra: or redis:"},
	}
}
