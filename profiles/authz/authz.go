// Package authz is the profile of a multi-tenant site that asks for every page who
// may see it: the permission checks and user profiles of Apereo OAE. Tenants are
// loaded and checked in overlapping phases; every decision is compared with an
// oracle in memory. It reads what OAE's model loaders wrote, and writes OAE's JSON
// document and baseline table.
//
// Design works out a plan from values alone; a binding connects the plan to a
// store through a layer, the application's data layer in its own words.
package authz

import (
	"embed"
	"io/fs"
	"slices"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/check"
	"github.com/perfbench/perfbench/profiles/authz/model"
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
		Summary:       "A multi-tenant academic site that asks for every page who may see it.",
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

func params() []workload.Param {
	return []workload.Param{
		{Name: "mode", Kind: workload.Choice, Choices: []string{report.ModeChecks, report.ModeProfiles}, Default: report.ModeChecks, Help: "checks of permissions, or the profiles of users"},
		{Name: "folder", Kind: workload.Text, Help: "what a model loader wrote, its folder scripts; --file FOLDER sets it"},
		{Name: "batches", Kind: workload.Text, Default: "all", Help: "which batches of the folder: all, or numbers such as 0,2; the original read 0 only"},
		{Name: "shape", Kind: workload.Choice, Choices: []string{"classic", "hilary"}, Default: "classic", Help: "which generation of the model loader to generate like, without a folder"},
		{Name: "users", Kind: workload.Integer, Default: "500", Unit: "users", Min: 1, Max: 10_000_000, Help: "users to generate for each tenant"},
		{Name: "groups", Kind: workload.Integer, Default: "250", Unit: "groups", Min: 1, Max: 10_000_000, Help: "top-level groups to generate for each tenant"},
		{Name: "runs", Kind: workload.Integer, Default: "1", Unit: "tenants", Min: 1, Max: 256, Help: "tenants asked for in all (-n); rounded up to whole phases"},
		{Name: "concurrent", Kind: workload.Integer, Default: "1", Unit: "tenants", Min: 1, Max: 64, Help: "tenants at the same time in each phase (-c)"},
		seriesParam,
		{
			Name: "membership", Kind: workload.Choice, Choices: []string{model.Roles, model.Nested, model.Flat, model.Committed}, Default: model.Roles,
			Help: "how groups become memberships; oae-committed is what the original's code really loaded",
		},
		{Name: "variant", Kind: workload.Choice, Choices: []string{"v1", "v2"}, Default: "v1", Help: "v1 loads users, groups and memberships with the original's checks; v2 memberships alone, each in one batch"},
		{Name: "strategy", Kind: workload.Choice, Choices: check.Strategies, Default: check.Ancestry, Help: "how a check is decided"},
		{Name: "tests", Kind: workload.List, Default: "valid,sweep", Help: "what is run on each tenant: valid, sweep, mix, staleness"},
		{Name: "sweepLimit", Kind: workload.Integer, Default: "0", Unit: "checks", Min: 0, Max: 1_000_000_000, Help: "checks of the sweep per tenant; 0: every group with every user"},
		{Name: "sweepOrder", Kind: workload.Choice, Choices: []string{"reverse", "forward", "shuffle"}, Default: "reverse", Help: "order of the sweep"},
		{Name: "sweepPermission", Kind: workload.Text, Default: "member", Help: "the role that the sweep asks for"},
		{Name: "mixOps", Kind: workload.Integer, Default: "10000", Unit: "operations", Min: 1, Max: 1_000_000_000, Help: "operations of the mix per tenant"},
		{Name: "mix", Kind: workload.Text, Default: "check=94,list=2,expand=1,grant=1.5,revoke=1.5", Help: "weights of the mix; update=5 stores principals anew beside, as large as the knob payload says"},
		{Name: "updateRate", Kind: workload.Number, Default: "0", Min: 0, Max: 1, Help: "share of the profiles of which a section is stored anew, as large as the knob payload says, instead of being read"},
		{Name: "zipf", Kind: workload.Number, Default: "0.99", Min: 0, Max: 5, Help: "skew of users and groups in the mix; 0 is even"},
		{Name: "probes", Kind: workload.Integer, Default: "20", Unit: "probes", Min: 1, Max: 1_000_000, Help: "revocations that the staleness probe watches, per tenant"},
		{Name: "invalidate", Kind: workload.Switch, Default: "on", Help: "off leaves what is cached when a role is revoked, to see how long it is still granted"},
		{Name: "staleLimit", Kind: workload.Duration, Default: "1s", Help: "how long the probe waits for a revoked permission to be denied"},
		{Name: "cacheTTL", Kind: workload.Duration, Default: "0s", Help: "how long each worker keeps decisions in memory, as the processes of a site may do; 0: not at all"},
		{Name: "viewer", Kind: workload.Choice, Choices: append(slices.Clone(readers), mixedReaders), Default: ownerReads, Help: "who reads the profiles: mixed is each of the others in turn"},
		{Name: "passwordHash", Kind: workload.Choice, Choices: []string{"none", "bcrypt"}, Default: "none", Help: "bcrypt hashes the passwords of users as they are loaded, as the original did: some 10 users a second"},
		{Name: "load", Kind: workload.Choice, Choices: []string{"auto", "only", "never"}, Default: "auto", Help: "auto continues an interrupted load of the same data or loads anew; only loads and stops; never checks what is there"},
		{Name: "loadBatch", Kind: workload.Integer, Default: "100", Unit: "items", Min: 1, Max: 1_000_000, Help: "items of a load between two marks of how far it is"},
		{Name: "json", Kind: workload.Choice, Choices: []string{"superset", "seed", "code"}, Default: "superset", Help: "keys of the JSON document: all, or strictly the original's README's or code's"},
		{Name: "compat", Kind: workload.Switch, Default: "off", Help: "on sweeps one check more than the limit and keeps no empty closures, as the original"},
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
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no roles; use cassandra: or redis:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no roles; use cassandra: or redis:"},
	}
}
